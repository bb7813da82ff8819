package judge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func TestLedgerReplayedEqualsTheOneInMemory(t *testing.T) {
	for seed := range lives(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSchedule(t, seed, false)
			compared := 0
			for range 12 {
				s.round()
				s.wantReplayed()
				if judge.Journaled(s.judge) {
					compared++
				}
			}
			if compared < 6 {
				t.Fatalf("only %d of 12 passes were journaled at their end", compared)
			}
		})
	}
}

func TestLedgerReplayedAtEveryPrefixAndCut(t *testing.T) {
	for seed := range lives(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSchedule(t, seed, false)
			s.cfg.Retention = 1 << 30
			s.start()
			for range 8 {
				s.round()
			}
			lines := s.lines("ledger")
			whole := "" // what the last whole group came to
			for n := 1; n <= len(lines); n++ {
				dump, err := judge.ReplayedFrom(t.Context(), lines[:n], s.judge)
				if err != nil {
					t.Fatalf("the first %d lines: %v", n, err)
				}
				if _, last := judge.LastOfGroup(lines[n-1]); last {
					whole = dump
				} else if dump != whole {
					t.Fatalf("line %d, within a group, changed something", n)
				}
				for _, tail := range []string{"junk", "{}", string(lines[n-1][:len(lines[n-1])/2]), string(lines[n-1][:len(lines[n-1])-1]) + " "} {
					if torn, err := judge.ReplayedFrom(t.Context(), append(lines[:n:n], []byte(tail)), s.judge); err != nil || torn != whole {
						t.Fatalf("%d lines and %q: %v, changed %t", n, tail, err, torn != whole)
					}
				}
			}
		})
	}
}

// oldLedger is a world whose ledger has a live lease and several groups.
func oldLedger(t *testing.T) *world {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.okAt(3)
	return w
}

// rebuild gives the ledger these lines.
func (w *world) rebuild(lines ...[]byte) {
	w.media["ledger"] = stream.NewMemory("ledger")
	for _, line := range lines {
		w.media["ledger"].AppendRaw(line)
	}
}

func TestDamagedTailIsDiscardedAndTheRestRecovered(t *testing.T) {
	lines := oldLedger(t).lines("ledger")
	for name, tail := range map[string][]byte{
		"junk": []byte("junk"), "torn": lines[len(lines)-1][:40], "changed": bytes.Replace(lines[len(lines)-1], []byte("pass"), []byte("paSs"), 1),
		"nul": []byte("\x00\x00"), "unfinished group": judge.LedgerPart(uint64(len(lines)+1), `{"pass":9}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := oldLedger(t)
			w.rebuild(append(w.lines("ledger"), tail)...)
			w.start()
			if w.judge.Began() != judge.Recovered {
				t.Fatalf("began %v", w.judge.Began())
			}
			w.wantLive("L")
			r := w.okAt(50)
			wantList(t, "unknown", r.Unknown, "L")
			if got := w.row("L").Resumed; got == nil || *got != ms(50) {
				t.Fatalf("resumed %v", got)
			}
			w.start()
			if w.judge.Began() != judge.Threaded {
				t.Fatalf("the tail was discarded already, and yet it began %v", w.judge.Began())
			}
		})
	}
}

// unfinished is a memory that says what its last writer left, as a file does.
type unfinished struct {
	*stream.Memory
	bytes int64
}

func (u unfinished) Unfinished(context.Context) (int64, error) { return u.bytes, nil }

func TestUnfinishedLineAtTheEndIsADamagedTail(t *testing.T) {
	w := oldLedger(t)
	w.media["ledger"].Tear([]byte(`{"sum":"`))
	cfg := w.config()
	cfg.Ledger = unfinished{w.media["ledger"], 8}
	j, err := judge.New(t.Context(), cfg)
	if err != nil || j.Began() != judge.Recovered {
		t.Fatalf("%v, began %v", err, j)
	}
	w.start()
	if w.judge.Began() != judge.Threaded {
		t.Fatalf("began %v", w.judge.Began())
	}
}

func TestDamageElsewhereIsLoss(t *testing.T) {
	w := oldLedger(t)
	lines := w.lines("ledger")
	for i := range lines[:len(lines)-1] {
		for what, with := range map[string][][]byte{"replaced": {[]byte("junk")}, "left out": nil} {
			w.rebuild(append(append(lines[:i:i], with...), lines[i+1:]...)...)
			if err := w.begin(); !errors.Is(err, judge.ErrLost) {
				t.Errorf("line %d of %d %s: %v", i+1, len(lines), what, err)
			}
		}
	}
}

func TestAGroupTwiceIsLoss(t *testing.T) {
	w := oldLedger(t)
	lines := w.lines("ledger")
	w.rebuild(append(lines, lines[1])...)
	if err := w.begin(); !errors.Is(err, judge.ErrLost) {
		t.Fatal(err)
	}
}

func TestGroupsOfSeveralLinesAreWholeOrNothing(t *testing.T) {
	w := newWorld(t, "a")
	w.start()
	w.okAt(1)
	for i := range 1500 {
		w.grant(fmt.Sprint("L", i), strings.Repeat("<", 200), "a", 1000)
	}
	before := judge.Dump(w.judge)
	w.okAt(2)
	lines := w.lines("ledger")
	if len(lines) < 5 {
		t.Fatalf("%d lines: the group is one line", len(lines))
	}
	for _, line := range lines {
		if len(line) > stream.MaxValue {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
	s := schedule{world: w}
	s.wantReplayed()
	for n := 3; n < len(lines); n++ {
		if dump, err := judge.ReplayedFrom(t.Context(), lines[:n], w.judge); err != nil || dump != before {
			t.Fatalf("%d of %d lines: %v, changed %t", n, len(lines), err, dump != before)
		}
	}
}

func TestLargeGroupKeepsTheOrderOfWhatHappened(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	long := strings.Repeat("x", 200)
	for i := range 1000 {
		w.grant(fmt.Sprint(long, i), "/s", "a", 1000)
	}
	w.okAt(2)
	w.scripts["a"].Read(stream.ReadFault{After: 1000, State: stream.Gap, Recover: stream.Newest})
	for i := range 1000 {
		w.renew("a", fmt.Sprint(long, i))
	}
	r := w.okAt(3)
	if len(r.Renewed) != 1000 || len(r.Unknown) != 1000 {
		t.Fatalf("renewed %d, unknown %d", len(r.Renewed), len(r.Unknown))
	}
	(&schedule{world: w}).wantReplayed()
	w.start()
	if w.row(long+"0").Evidence != "unknown" {
		t.Fatal("what was renewed before the gap is known again after a restart")
	}
}

func TestMuchOfOneHolderIsWrittenInSeveralLines(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Rules = freely()
	w.start()
	w.okAt(1)
	w.scripts[grantor].Append(stream.Full)
	for i := range 64 {
		w.write("a", fmt.Sprintf(`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"%s%d","dao.lease/subject":"%s"}`,
			strings.Repeat(`\u0001`, 250), i, strings.Repeat("<", 4096)))
	}
	if r := w.passAt(2); r.Outcome != judge.OK || len(w.judge.Proposals()) != 64 {
		t.Fatalf("%s %s: %d proposals wait", r.Outcome, r.Abort, len(w.judge.Proposals()))
	}
	(&schedule{world: w}).wantReplayed()
	w.start()
	if n := len(w.judge.Proposals()); n != 64 {
		t.Fatalf("%d proposals are left", n)
	}
	for at := range int64(4) {
		if r := w.okAt(3 + at); len(r.Granted) != 16 {
			t.Fatalf("granted %d", len(r.Granted))
		}
	}
}

func TestAnUnitOfALeaseThatIsGoneIsRefused(t *testing.T) {
	w := oldLedger(t)
	units, err := lease.NewUnits(map[string]int64{"tick": 1})
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Units, w.cfg.Cadence = units, lease.Duration{Unit: "tick", N: 10}
	if err := w.begin(); err == nil || !strings.Contains(err.Error(), `lease "L"`) {
		t.Fatalf("it does not name the lease: %v", err)
	}
}

func TestReadingsSurviveAFinerTable(t *testing.T) {
	w := oldLedger(t)
	units, err := lease.NewUnits(map[string]int64{"us": 1, "ms": 1000, "s": 1000000})
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Units = units
	w.start()
	want := lease.Duration{Unit: "us", N: 2000}
	if got := w.row("L").TenureStart; got != want {
		t.Fatalf("tenure start %v", got)
	}
	w.start()
	if got := w.row("L").TenureStart; got != want || w.judge.Began() != judge.Threaded {
		t.Fatalf("after another start: %v, began %v", got, w.judge.Began())
	}
	w.okAt(1002)
	if r := w.okAt(1003); len(r.Lapsed) != 0 {
		t.Fatalf("%v", r.Lapsed)
	}
}
