package judge_test

import (
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func TestAnIntervalCountsAtMostTheLargerOfCadenceAndHalfTheDuration(t *testing.T) {
	for name, c := range map[string]struct{ duration, interval, unwatched int64 }{
		"within the cadence":            {30, 10, 0},
		"within half the duration":      {30, 15, 0},
		"half an odd one is rounded up": {31, 17, 1},
		"beyond":                        {30, 40, 25},
		"a short lease has a cadence":   {4, 12, 2},
	} {
		w := newWorld(t, "a").start()
		w.okAt(100)
		w.grant("L", "/s", "a", c.duration)
		w.okAt(101)
		r := w.okAt(101 + c.interval)
		if row, live := w.judge.Row("L"); live && row.Unwatched != ms(c.unwatched) {
			t.Errorf("%s: %v unwatched, want %d", name, row.Unwatched, c.unwatched)
		} else if !live && c.unwatched != 2 {
			t.Errorf("%s: it lapsed", name)
		}
		if stalled := c.interval > 10; stalled != (r.Unwatched != nil) || stalled && *r.Unwatched != ms(c.interval-10) {
			t.Errorf("%s: the report says %v", name, r.Unwatched)
		}
		(&schedule{world: w}).wantReplayed()
	}
}

func TestAStallIsSaidOnce(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	if r := w.okAt(100); r.Unwatched == nil {
		t.Fatal("not said")
	}
	if r := w.okAt(101); r.Unwatched != nil {
		t.Fatal("said again")
	}
}

func TestOnlyCompletedPassesWatch(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 30)
	w.okAt(2)
	for _, at := range []int64{10, 20, 30} {
		w.scripts[grantor].Read(stream.ReadFault{State: stream.Transport})
		if r := w.passAt(at); r.Outcome != judge.Aborted {
			t.Fatal(r.Outcome)
		}
	}
	w.okAt(35) // 33 since the last completed one
	if row := w.row("L"); row.Unwatched != ms(18) {
		t.Fatalf("%v", row.Unwatched)
	}
	w.scripts["ledger"].Append(stream.Lost)
	if r := w.passAt(40); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	w.okAt(46)
	if r := w.okAt(47); r.Unwatched != nil {
		t.Fatalf("%v", r.Unwatched)
	}
	(&schedule{world: w}).wantReplayed()
}

// The end of a pass may be on disk although nobody answered. The pass was aborted, and what is flushed afterwards
// says so.
func TestAFlushSaysWhichPassWasCompleted(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.scripts["ledger"].Append(stream.Unanswered)
	if r := w.passAt(9); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	if err := w.judge.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	(&schedule{world: w}).wantReplayed()
}

// A judge that could complete no pass yet has not watched either: what its aborted passes entered is owed the
// time until the first that is completed.
func TestNothingIsWatchedBeforeAFirstCompletedPass(t *testing.T) {
	w := newWorld(t, "a").start()
	w.grant("L", "/s", "a", 30)
	for _, at := range []int64{10, 20, 60} {
		w.scripts["ledger"].Append(stream.Lost)
		if r := w.passAt(at); r.Outcome != judge.Aborted {
			t.Fatal(r.Outcome)
		}
	}
	if r := w.okAt(70); r.Unwatched == nil || *r.Unwatched != ms(50) { // 60 since it was entered
		t.Fatalf("%v", r.Unwatched)
	}
	if row := w.row("L"); row.Unwatched != ms(45) || row.Reclaim.State != "live" {
		t.Fatalf("%+v", row)
	}
	(&schedule{world: w}).wantReplayed()
}

func TestARenewalEndsWhatIsUnwatched(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 30)
	w.okAt(2)
	w.okAt(100)
	w.renew("a", "L")
	w.okAt(101)
	if row := w.row("L"); row.Unwatched != ms(0) {
		t.Fatal(row.Unwatched)
	}
}

// A judge that is called once in a long while still reaches every dead lease after a few passes.
func TestASlowJudgeReachesTheDead(t *testing.T) {
	for _, duration := range []int64{5, 30, 1000} {
		w := newWorld(t, "a")
		w.cfg.Tolerance = ms(2)
		w.start()
		w.okAt(1)
		w.grant("L", "/s", "a", duration)
		w.okAt(2)
		passes := 0
		for at := int64(60002); len(w.live()) > 0; at += 60000 {
			if passes++; passes > 4 {
				t.Fatalf("a lease of %d lives after %d passes", duration, passes)
			}
			w.start()
			w.okAt(at)
		}
	}
}

func TestUnknownEvidenceIsOwedItsOwnUnwatchedTime(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 30)
	w.okAt(2)
	w.okAt(10)
	w.lose("a")
	w.okAt(12) // resumed at 12
	w.okAt(52) // stalled 40, of which 15 count: 12+30+25 = 67
	w.okAt(57)
	wantList(t, "lapsed", ended(w.okAt(67)))
	wantList(t, "lapsed", ended(w.okAt(68)), "L by silence")
}

func TestSilenceAndNothingElseIsBarred(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.cfg.Cadence, w.cfg.DrainBudget = ms(1000), 3
	w.start()
	w.okAt(1)
	w.grant("silent", "/s", "a", 50)
	w.grant("capped", "/s", "a", 500, `"dao.lease/max":{"ms":60}`)
	w.okAt(2)
	w.grant("released", "/s", "a", 50)
	w.grant("revoked", "/s", "a", 50)
	w.release("a", "released")
	w.okAt(3)
	w.hooks.asked = nil
	w.grant("more", "/s", "a", 5000)
	w.judge.Revoke("revoked", "", false)
	w.release("a", "more")
	w.flood("a", 7)
	wantList(t, "lapsed", ended(w.okAt(200)), "capped by cap", "more by release", "revoked by policy")
	wantList(t, "lapsed", ended(w.okAt(201)))
	wantList(t, "lapsed", ended(w.okAt(202)), "silent by silence")
}

func TestTheFirstCauseThatHoldsIsTheCause(t *testing.T) {
	for _, c := range []struct {
		release, revoke bool
		max             string
		want            lease.Cause
	}{
		{true, true, "60", lease.ByRelease},
		{false, true, "60", lease.ByCap},
		{false, true, "600", lease.ByPolicy},
		{false, false, "600", lease.BySilence},
	} {
		w := newWorld(t, "a")
		w.cfg.Cadence = ms(1000)
		w.start()
		w.okAt(1)
		w.grant("L", "/s", "a", 50, `"dao.lease/max":{"ms":`+c.max+`}`)
		w.okAt(2)
		if c.release {
			w.release("a", "L")
		}
		if c.revoke {
			w.write("policy", `{"daolease/revoke":"L"}`)
		}
		wantList(t, "lapsed", ended(w.okAt(200)), "L by "+string(c.want))
	}
}

func TestTheBoundsAreStrict(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Cadence, w.cfg.Tolerance = ms(1000), ms(5)
	w.start()
	w.okAt(1)
	w.grant("silent", "/s", "a", 50)
	w.grant("capped", "/s", "a", 500, `"dao.lease/max":{"ms":55}`)
	w.okAt(10)
	wantList(t, "lapsed", ended(w.okAt(65)))
	wantList(t, "lapsed", ended(w.okAt(66)), "capped by cap", "silent by silence")
}

// An observation in an aborted pass lies within the interval: what counts is the part after it.
func TestAnObservationWithinAStallIsOwedTheRestOfIt(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 30)
	w.okAt(2)
	w.renew("a", "L")
	w.scripts[grantor].Read(stream.ReadFault{State: stream.Transport})
	w.passAt(20)
	w.okAt(60)
	if row := w.row("L"); row.LastObservation != ms(20) || row.Unwatched != ms(25) {
		t.Fatalf("%+v", row)
	}
}
