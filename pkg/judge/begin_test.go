package judge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func (w *world) wantBegan(want judge.Beginning) {
	w.t.Helper()
	if got := w.judge.Began(); got != want {
		w.t.Fatalf("began %v, want %v", got, want)
	}
}

func TestEachStartTakesTheNextIncarnation(t *testing.T) {
	w := newWorld(t, "a")
	for n := uint64(1); n < 4; n++ {
		w.start()
		if got := w.judge.Incarnation(); got != n {
			t.Fatalf("incarnation %d, want %d", got, n)
		}
		if r := w.okAt(int64(n)); r.Incarnation != n {
			t.Fatalf("the report says %d", r.Incarnation)
		}
	}
}

func TestFirstWithoutALedger(t *testing.T) {
	w := newWorld(t, "a").start()
	w.wantBegan(judge.First)
	w.start()
	w.wantBegan(judge.Threaded)
}

func TestMissingLedgerIsLossWhereAJudgeHasRun(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Expected = true
	if err := w.begin(); !errors.Is(err, judge.ErrLost) {
		t.Fatal(err)
	}
	w.write("ledger", "junk")
	if err := w.begin(); !errors.Is(err, judge.ErrLost) {
		t.Fatal(err)
	}
}

// A judge that was killed within its very first append has left a torn line and nothing else.
func TestTornFirstGroupIsNoLossWithoutTheMark(t *testing.T) {
	w := newWorld(t, "a")
	w.scripts["ledger"].Append(stream.Torn)
	if w.begin() == nil {
		t.Fatal("it began although its beginning is not on disk")
	}
	w.start()
	w.wantBegan(judge.First)
	w.okAt(1)
	w.start()
	w.wantBegan(judge.Threaded)
}

func TestRemainsOfALaterLedgerAreLossEvenWithoutTheMark(t *testing.T) {
	for _, line := range [][]byte{judge.LedgerPart(1, `{"snapshot":true}`), judge.LedgerPart(7, `{"pass":9}`)} {
		w := newWorld(t, "a")
		w.rebuild(line)
		if err := w.begin(); !errors.Is(err, judge.ErrLost) {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

func TestThreadedThroughAnyEnd(t *testing.T) {
	w := oldLedger(t)
	w.renew("a", "L")
	w.start()
	w.wantBegan(judge.Threaded)
	if r := w.row("L"); r.Evidence != "known" || r.TenureStart != ms(2) {
		t.Fatalf("%+v", r)
	}
	w.wantRenewed(w.okAt(500), "L") // what was not journaled is read again; growth is no change
	if got := w.row("L"); got.Unwatched.N != 0 || got.LastObservation != ms(500) {
		t.Fatalf("%+v", got)
	}
}

func (w *world) wantRenewed(r judge.Report, ids ...string) {
	w.t.Helper()
	wantList(w.t, "renewed", r.Renewed, ids...)
}

func TestThreadedPauseIsUnwatched(t *testing.T) {
	w := oldLedger(t) // completed at 3
	w.start()
	r := w.okAt(2003)
	if r.Unwatched == nil || *r.Unwatched != ms(1990) {
		t.Fatalf("unwatched %v", r.Unwatched)
	}
	if got := w.row("L").Unwatched; got != ms(1500) {
		t.Fatalf("of L: %v, want all but half its duration", got)
	}
	w.wantLive("L")
}

func TestHoldersCursorThatResolvesNoMoreIsAGapOfThatMediumAlone(t *testing.T) {
	for name, other := range map[string]string{"another path": "elsewhere", "another identity": "a"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a", "b").start()
			w.okAt(1)
			w.grant("A", "/a", "a", 1000)
			w.grant("B", "/b", "b", 1000)
			w.renew("a", "A")
			w.okAt(2)
			w.media["a"] = stream.NewMemory(other)
			w.start()
			w.wantBegan(judge.Threaded)
			r := w.okAt(3)
			wantList(t, "gaps", r.Gaps, "a")
			wantList(t, "unknown", r.Unknown, "A")
		})
	}
}

func TestACursorThatResolvesNoMoreOnTheGrantorsStreamEndsThePass(t *testing.T) {
	w := oldLedger(t)
	w.media[grantor] = stream.NewMemory("elsewhere")
	w.start()
	if r := w.passAt(5000); r.Outcome != judge.Aborted || !strings.Contains(r.Abort, "cursor mismatch") {
		t.Fatalf("%s: %s", r.Outcome, r.Abort)
	}
}

func TestAnotherBootIsRecovered(t *testing.T) {
	w := oldLedger(t)
	w.cfg.Boot = "another"
	w.start()
	w.wantBegan(judge.Recovered)
	if r := w.pass(); len(r.Unknown) > 0 {
		t.Fatalf("marked %v before a tick of this start", r.Unknown)
	}
	wantList(t, "unknown", w.okAt(90).Unknown, "L")
	if got := w.row("L").Resumed; *got != ms(90) {
		t.Fatalf("resumed %v", got)
	}
}

// What a start owes is owed by the next one too, when it was killed before it came to it.
func TestRecoveryThatWasInterruptedIsMadeUpFor(t *testing.T) {
	w := oldLedger(t)
	w.cfg.Boot = "another"
	w.start()
	w.pass()
	w.start()
	wantList(t, "unknown", w.okAt(90).Unknown, "L")
	w.start()
	wantList(t, "unknown", w.okAt(91).Unknown)
}

func TestNoSilenceBeforeATickOfThisStart(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Cadence = ms(100000)
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.scripts[grantor].Read(stream.ReadFault{State: stream.Transport})
	if r := w.passAt(2000); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	w.start()
	if r := w.pass(); r.Outcome != judge.OK || *r.Now != ms(2000) || len(r.Lapsed) > 0 {
		t.Fatalf("%s at %v, lapsed %v", r.Outcome, r.Now, r.Lapsed)
	}
	wantList(t, "lapsed", ended(w.okAt(2000)), "L by silence")
}

func TestAnotherPlaceNeedsAdoption(t *testing.T) {
	w := oldLedger(t)
	w.cfg.Place = "there"
	err := w.begin()
	if !errors.Is(err, judge.ErrPlace) || !strings.Contains(err.Error(), "here") {
		t.Fatal(err)
	}
	w.cfg.Adopt = true
	w.start()
	w.wantBegan(judge.Recovered)
	w.cfg.Adopt = false
	w.start()
	wantList(t, "unknown", w.okAt(90).Unknown, "L")
	w.cfg.Place = "here"
	if err := w.begin(); !errors.Is(err, judge.ErrPlace) {
		t.Fatal(err)
	}
}

func TestNewerFormatIsRefusedAndNoLoss(t *testing.T) {
	w := oldLedger(t)
	lines := w.lines("ledger")
	w.rebuild(append(lines, judge.LedgerLine(uint64(len(lines)+1), `{"start":{"format":9,"place":"here"}}`))...)
	err := w.begin()
	if !errors.Is(err, judge.ErrFormat) || errors.Is(err, judge.ErrLost) || !strings.Contains(err.Error(), "9") {
		t.Fatal(err)
	}
}

func TestOlderFormatIsReadAndRewritten(t *testing.T) {
	w := newWorld(t, "a")
	w.rebuild(judge.LedgerLine(1, `{"start":{"format":0,"boot":"boot","place":"here","base":"ms"},"incarnation":4,"now":7,"token":9}`))
	w.start()
	w.wantBegan(judge.Threaded)
	lines := w.lines("ledger")
	if w.judge.Incarnation() != 5 || len(lines) != 1 || judge.GroupOf(lines[0])["start"].(map[string]any)["format"] != 1.0 {
		t.Fatalf("incarnation %d, ledger %q", w.judge.Incarnation(), lines)
	}
}

func TestFirstJudgeTakesLapsedLeasesOutWithoutAProcedure(t *testing.T) {
	w := newWorld(t, "a")
	w.grant("old", "/s", "a", 10)
	w.lapsed("old")
	w.grant("live", "/s", "a", 10)
	w.start()
	w.okAt(5000)
	w.wantLive("live")
	if len(w.hooks.asked) > 0 {
		t.Fatalf("procedures for %v", w.hooks.leases())
	}
	w.lapsed("live")
	w.okAt(5001) // a pass was completed: now it ends nothing
	w.wantLive("live")
}

func TestFirstnessOutlastsAnIncarnationThatCompletedNoPass(t *testing.T) {
	w := newWorld(t, "a")
	w.grant("old", "/s", "a", 10)
	w.start()
	w.scripts[grantor].Read(stream.ReadFault{After: 1, State: stream.Transport})
	if r := w.passAt(5); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	w.start()
	w.wantBegan(judge.Threaded)
	w.lapsed("old")
	w.okAt(6)
	w.wantLive()
	if len(w.hooks.asked) > 0 {
		t.Fatalf("procedures for %v", w.hooks.leases())
	}
}

// An id with a token may come again; what happened to the first must not end the second.
func TestAnIdThatComesAgainInTheSamePassLives(t *testing.T) {
	w := newWorld(t, "a")
	w.grant("L", "/s", "a", 1000, `"daolease/token":1`)
	w.lapsed("L")
	w.grant("L", "/s", "a", 1000, `"daolease/token":2`)
	w.start()
	w.okAt(1)
	w.wantLive("L")
	(&schedule{world: w}).wantReplayed()
}

func TestDurableNeedsALedger(t *testing.T) {
	w := newWorld(t)
	cfg := w.config()
	cfg.Ledger = nil
	if _, err := judge.New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "durable") {
		t.Fatal(err)
	}
	cfg.Durable = false
	j, err := judge.New(t.Context(), cfg)
	if err != nil || j.Began() != judge.First || j.Incarnation() != 1 {
		t.Fatalf("%v", err)
	}
}

func TestWithoutALedgerALeaseLivesAndEndsAllTheSame(t *testing.T) {
	w := newWorld(t, "a")
	cfg := w.config()
	cfg.Ledger, cfg.Durable = nil, false
	j, err := judge.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.judge = j
	w.okAt(1)
	f, err := j.Grant(t.Context(), judge.Terms{Subject: lease.StringSubject("conn"), Holder: "a", Duration: ms(8)})
	if err != nil {
		t.Fatal(err)
	}
	w.okAt(2)
	w.okAt(10)
	w.wantLive(f.Lease)
	wantList(t, "lapsed", ended(w.okAt(11)), f.Lease+" by silence")
	w.wantLive()
}
