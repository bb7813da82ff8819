package judge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// stamped is a world whose second ticks come from the test.
func stamped(t *testing.T) (w *world, second *int64) {
	w = newWorld(t, "a", "b")
	second = new(int64)
	w.cfg.Cadence = ms(100)
	w.cfg.Stamp = func(context.Context) error {
		if *second == 0 {
			t.Error("a second tick although nothing was observed")
		}
		w.tick(*second)
		return nil
	}
	return w.start(), second
}

func TestWhatAPassObservedCarriesTheSecondTick(t *testing.T) {
	w, second := stamped(t)
	w.cfg.Rules = freely()
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.grant("G", "/s", "b", 500)
	w.propose("a", "p", "/t", `"dao.lease/duration":{"ms":500}`)
	*second = 9
	r := w.okAt(5)
	if *r.Now != ms(5) {
		t.Fatalf("now is %v", r.Now)
	}
	for _, id := range w.live() {
		if row := w.row(id); row.TenureStart != ms(9) || row.LastObservation != ms(9) {
			t.Fatalf("%s: %+v", id, row)
		}
	}
	w.renew("a", "L")
	w.media["b"].AppendRaw([]byte(`{}`))
	w.scripts["b"].Read(stream.ReadFault{State: stream.Gap})
	*second = 30
	w.okAt(20)
	if row := w.row("L"); row.LastObservation != ms(30) || row.TenureStart != ms(9) {
		t.Fatalf("%+v", row)
	}
	if row := w.row("G"); *row.Resumed != ms(30) {
		t.Fatalf("%+v", row)
	}
	(&schedule{world: w}).wantReplayed()
	*second = 0
	w.okAt(31) // nothing observed, no second tick
}

func TestClassificationKeepsTheFirstTick(t *testing.T) {
	w, second := stamped(t)
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	*second = 2
	w.okAt(2)
	w.renew("b", "other") // kept and given up: observes nothing
	w.grant("M", "/s", "b", 50)
	*second = 1000
	if r := w.okAt(52); len(r.Lapsed) > 0 {
		t.Fatalf("judged by the second tick: %v", r.Lapsed)
	}
	w.wantLive("L", "M")
}

// The machine gives no second tick: what was observed is stamped by the next pass, and until then read again
// by whoever comes after a kill.
func TestASecondTickThatFails(t *testing.T) {
	w, second := stamped(t)
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	*second = 2
	w.okAt(2)
	stamp, sound := w.cfg.Stamp, false
	w.cfg.Stamp = func(ctx context.Context) error {
		if !sound {
			return errors.New("no room")
		}
		return stamp(ctx)
	}
	w.start()
	w.renew("a", "L")
	if r := w.passAt(40); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	if err := w.judge.Flush(t.Context()); err == nil {
		t.Fatal("what is not journaled could be evicted")
	}
	sound, *second = true, 95
	wantList(t, "renewed", w.okAt(92).Renewed)
	if row := w.row("L"); row.LastObservation != ms(95) {
		t.Fatalf("%+v", row)
	}
	(&schedule{world: w}).wantReplayed()
}

func TestKilledBeforeTheSecondTick(t *testing.T) {
	w, second := stamped(t)
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	*second = 2
	w.okAt(2)
	w.renew("a", "L")
	w.scripts["ticks"].Read(stream.ReadFault{After: -1}, stream.ReadFault{State: stream.Transport})
	*second = 41
	if r := w.passAt(40); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	w.start()
	*second = 91
	wantList(t, "renewed", w.okAt(90).Renewed, "L")
	w.wantLive("L")
}

func TestWhatACutOrAbortedPassObservedIsStampedToo(t *testing.T) {
	for name, r := range map[string]stream.ReadFault{"cut": {After: 1}, "aborted": {After: 1, State: stream.Transport}} {
		w, second := stamped(t)
		w.okAt(1)
		w.grant("L", "/s", "a", 50)
		w.grant("M", "/s", "a", 50)
		w.scripts[grantor].Read(r)
		*second = 9
		if r := w.passAt(5); r.Outcome == judge.OK {
			t.Fatalf("%s: %s", name, r.Outcome)
		}
		if row := w.row("L"); row.TenureStart != ms(9) {
			t.Fatalf("%s: %+v", name, row)
		}
	}
}

// The ticks were not drained to their end: what was observed may be younger than what now says.
func TestTicksCutShortHastenNothing(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Cadence, w.cfg.DrainBudget = ms(1000), 3
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.okAt(2)
	for _, at := range []int64{10, 20, 30, 200, 200} {
		w.tick(at)
	}
	w.renew("a", "L")
	r := w.pass()
	if *r.Now != ms(30) || len(r.Truncated) != 1 {
		t.Fatalf("%v, truncated %v", r.Now, r.Truncated)
	}
	if r := w.okAt(201); len(r.Lapsed) > 0 {
		t.Fatalf("renewed after the tick that was not drained, and yet %v", r.Lapsed)
	}
	if row := w.row("L"); row.LastObservation != ms(201) {
		t.Fatalf("%+v", row)
	}
}

func TestGrantBetweenPassesIsStampedByTheNextOne(t *testing.T) {
	w, second := stamped(t)
	w.okAt(1)
	f, err := w.judge.Grant(t.Context(), judge.Terms{Subject: subject("/g"), Holder: "a", Duration: ms(50)})
	if err != nil {
		t.Fatal(err)
	}
	*second = 80
	r := w.okAt(70)
	wantList(t, "granted", r.Granted, f.Lease)
	if row := w.row(f.Lease); row.TenureStart != ms(80) {
		t.Fatalf("%+v", row)
	}
	(&schedule{world: w}).wantReplayed()
}
