package judge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func TestBeforeAFirstTickAPassDoesNothing(t *testing.T) {
	w := newWorld(t, "a").start()
	w.grant("L", "/s", "a", 10)
	w.write("a", "junk")
	before := len(w.lines("ledger"))
	for range 100 {
		r := w.pass()
		if r.Outcome != judge.Idle || r.Now != nil || r.Dropped > 0 || r.NextDue != nil || len(r.Granted) > 0 {
			t.Fatalf("%+v", r)
		}
	}
	if n := judge.Carried(w.judge); n > 1 {
		t.Fatalf("idle passes have left %d changes to be journaled", n)
	}
	if n := len(w.lines("ledger")); n != before {
		t.Fatalf("%d lines were written", n-before)
	}
	w.okAt(1)
	w.wantLive("L")
}

func TestNowIsTheNewestTickDrainedOrTheNewestKnown(t *testing.T) {
	w := newWorld(t, "a").start()
	w.tick(3)
	w.tick(7)
	if r := w.pass(); *r.Now != ms(7) {
		t.Fatal(r.Now)
	}
	if r := w.pass(); *r.Now != ms(7) || r.Outcome != judge.OK {
		t.Fatal(r.Now)
	}
	w.media["ticks"].Lose()
	r := w.okAt(9) // late, not wrong
	wantList(t, "gaps", r.Gaps, "ticks")
	if *r.Now != ms(9) || len(r.Unknown) > 0 {
		t.Fatalf("%+v", r)
	}
}

func TestTheGrantorsStreamComesFirst(t *testing.T) {
	w := newWorld(t, "a").start()
	w.grant("L", "/s", "a", 1000)
	w.renew("a", "L")
	w.release("a", "L")
	wantList(t, "lapsed", ended(w.okAt(1)), "L by release")
}

func TestACutGrantorsDrainEndsThePass(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBudget = 2
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.release("a", "L")
	w.flood(grantor, 5)
	for range 2 {
		r := w.passAt(3)
		if r.Outcome != judge.Cut || len(r.Released)+len(r.Pending) > 0 {
			t.Fatalf("%+v", r)
		}
		wantList(t, "truncated", r.Truncated, grantor)
	}
	wantList(t, "lapsed", ended(w.okAt(3)), "L by release")
}

func TestTheJudgesOwnLinesCostNoBudget(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBudget = 3
	w.start()
	w.okAt(1)
	for i := range 3 {
		w.grant(fmt.Sprint("L", i), "/s", "a", 1000)
	}
	w.okAt(2)
	for i := range 3 {
		w.release("a", fmt.Sprint("L", i))
	}
	w.hooks.do = func(judge.Task) (judge.Progress, error) {
		w.write(grantor, "{}") // foreign lines, so that its own are read again
		return judge.Done, nil
	}
	w.okAt(3)
	if r := w.okAt(4); r.Dropped > 0 || len(r.Truncated) > 0 {
		t.Fatalf("%+v", r)
	}
}

func TestFactsAboutUnknownLeasesAreKeptUntilTheGrantorsStreamWasDrainedOnceMore(t *testing.T) {
	w := newWorld(t, "a", "b").start()
	w.okAt(1)
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name != "b" {
			return m
		}
		return &onRead{m, func() { w.grant("L", "/s", "a", 1000) }}
	}
	w.start()
	w.release("a", "L")
	w.release("a", "never")
	r := w.okAt(2)
	wantList(t, "lapsed", ended(r), "L by release")
	w.grant("never", "/s", "a", 1000)
	w.okAt(3)
	w.wantLive("never") // given up
}

func TestKeptFactsAreBoundedAndAFurtherOneCutsTheDrainShort(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.start()
	w.okAt(1)
	for i := range 4200 {
		w.release("a", fmt.Sprint("unknown", i))
	}
	for range 5000 {
		w.renew("b", "one and the same")
	}
	r := w.okAt(2)
	wantList(t, "truncated", r.Truncated, "a")
	if n := judge.Kept(w.judge); n != 0 {
		t.Fatalf("%d are kept after the pass", n)
	}
	wantList(t, "truncated", w.okAt(3).Truncated)
}

// The second drain of the grantor's stream failed: what was kept waits for the next pass, and its medium's
// cursor is not on disk before it was applied.
func TestKeptFactsSurviveAKill(t *testing.T) {
	for _, killed := range []bool{false, true} {
		w := newWorld(t, "a").start()
		w.okAt(1)
		w.release("a", "L")
		w.scripts[grantor].Read(stream.ReadFault{After: -1}, stream.ReadFault{State: stream.Transport})
		if r := w.passAt(2); r.Outcome != judge.Aborted || judge.Kept(w.judge) != 1 {
			t.Fatalf("%s, %d kept", r.Outcome, judge.Kept(w.judge))
		}
		w.grant("L", "/s", "a", 1000)
		if killed {
			w.start()
		}
		wantList(t, "lapsed", ended(w.okAt(3)), "L by release")
		(&schedule{world: w}).wantReplayed()
	}
}

func TestAllAreClassifiedBeforeAnyIsActedOn(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	for _, id := range []string{"A", "B", "C"} {
		w.grant(id, "/"+id, "a", 1000)
		w.release("a", id)
	}
	w.hooks.do = func(task judge.Task) (judge.Progress, error) {
		for _, id := range []string{"A", "B", "C"} {
			if on, _ := judge.OnDisk(t.Context(), w.media["ledger"], lease.DefaultUnits(), id); !on.Pending() {
				t.Errorf("%s is not pending on disk while %s is taken back", id, task.Lease)
			}
		}
		return judge.Done, nil
	}
	wantList(t, "lapsed", ended(w.okAt(2)), "A by release", "B by release", "C by release")
}

func TestAFoundLapsedEndsNothingAndIsNotWrittenTwice(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 15)
	w.okAt(2)
	w.lapsed("L")
	w.okAt(10)
	w.wantLive("L")
	if len(w.hooks.asked) > 0 {
		t.Fatal("taken back before it was due")
	}
	w.start() // recorded is not forgotten
	w.okAt(18)
	wantList(t, "procedures", w.hooks.leases(), "L")
	w.wantLive()
	if n := len(w.of(lease.Lapsed)); n != 1 {
		t.Fatalf("%d records", n)
	}
}

func TestAFailureKeepsItPendingAndUnrecorded(t *testing.T) {
	w := newWorld(t, "a").start()
	w.hooks.do = failing
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.release("a", "L")
	for at := range int64(3) {
		r := w.okAt(2 + at)
		if len(r.Pending) != 1 || r.Pending[0].Reclaimed || len(r.Lapsed) > 0 {
			t.Fatalf("%+v", r)
		}
		w.start()
	}
	w.renew("a", "L") // pending keeps its cause, whatever comes
	w.hooks.do = nil
	wantList(t, "lapsed", ended(w.okAt(9)), "L by release")
}

func TestNextDueIsTheFirstReadingAtWhichAnythingCanBeDue(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(t, "a")
		w.cfg.Cadence, w.cfg.Tolerance = ms(1<<20), ms(3)
		w.start()
		w.okAt(1)
		for i := range 1 + r.IntN(5) {
			w.grant(fmt.Sprint("L", i), "/s", "a", 10+r.Int64N(90), fmt.Sprintf(`"dao.lease/max":{"ms":%d}`, 5+r.Int64N(200)))
		}
		next := *w.okAt(2).NextDue
		if r.IntN(2) == 0 {
			w.renew("a", "L0")
			next = *w.okAt(next.N - 1).NextDue
		}
		if report := w.okAt(next.N - 1); len(report.Lapsed) > 0 {
			t.Fatalf("seed %d: at %d already %v", seed, next.N-1, ended(report))
		}
		if report := w.okAt(next.N); len(report.Lapsed) == 0 {
			t.Fatalf("seed %d: nothing at %d", seed, next.N)
		}
	}
}

func TestEndRetiresACursorUntilAnotherIdentity(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.write("a", `{"dao.stream/closed":true}`)
	if r := w.okAt(9); len(r.Gaps)+len(r.Truncated)+len(r.Failed) > 0 {
		t.Fatalf("%+v", r)
	}
	for at := int64(18); at < 59; at += 9 {
		w.okAt(at)
	}
	w.media["a"].Lose()
	w.renew("a", "L")
	r := w.okAt(59)
	wantList(t, "gaps", r.Gaps, "a")
	w.wantRenewed(r, "L")
}

func TestEveryGapOfADrainMarks(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.okAt(2)
	for range 4 {
		w.scripts["a"].Read(stream.ReadFault{State: stream.Gap})
	}
	w.scripts["a"].Read(stream.ReadFault{After: 1, State: stream.Gap, Recover: stream.Newest})
	w.renew("a", "L")
	r := w.okAt(3)
	if row := w.row("L"); row.Evidence != "unknown" {
		t.Fatalf("renewed before the last of five gaps, and yet %s: %+v", row.Evidence, r)
	}
}
