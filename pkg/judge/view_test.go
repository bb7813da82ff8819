package judge_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// everything is all bytes of all media.
func (w *world) everything() string {
	text := ""
	for _, name := range append([]string{"ticks", grantor, "policy", "ledger"}, w.holders...) {
		text += fmt.Sprintf("%s %s\n", name, w.lines(name))
	}
	return text
}

func TestAViewConcludesAsThePassWouldAndChangesNoByte(t *testing.T) {
	for seed := range lives(60) {
		s := newSchedule(t, seed, false)
		s.cfg.DrainBudget, s.cfg.Stamp = 0, nil
		s.start()
		for range 6 {
			s.round()
		}
		s.write("a", "junk")
		s.tick(s.now + 12)
		before := s.everything()
		view, err := judge.Observe(t.Context(), s.config())
		if err != nil {
			t.Fatal(err)
		}
		report, list := view.Conclude(t.Context(), 0)
		if s.everything() != before {
			t.Fatal("bytes changed")
		}
		if report.Outcome == judge.Cut || view.Incarnation() != s.judge.Incarnation() {
			t.Fatalf("%+v", report)
		}
		causes := map[string]lease.Cause{}
		for _, c := range list {
			causes[c.Lease] = c.Cause
		}
		s.cfg.Rules, s.hooks.do = nil, running
		s.start()
		r := s.pass()
		pending := map[string]lease.Cause{}
		for _, p := range r.Pending {
			pending[p.Lease] = p.Cause
		}
		if fmt.Sprint(causes) != fmt.Sprint(pending) {
			t.Fatalf("seed %d: the view concludes %v, the pass %v", seed, causes, pending)
		}
	}
}

func TestAViewAtAReading(t *testing.T) {
	w := overdue(t)
	view, err := judge.Observe(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	if _, list := view.Conclude(t.Context(), 30); len(list) > 0 {
		t.Fatalf("%+v", list)
	}
	view, _ = judge.Observe(t.Context(), w.config())
	r, list := view.Conclude(t.Context(), 200)
	if len(list) != 1 || list[0].Cause != lease.BySilence || list[0].Why == "" || list[0].Pending || *r.Now != ms(200) {
		t.Fatalf("%+v", list)
	}
}

func TestAViewBeforeAFirstTick(t *testing.T) {
	w := newWorld(t, "a").start()
	view, err := judge.Observe(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	if r, list := view.Conclude(t.Context(), 0); r.Outcome != judge.Idle || list != nil {
		t.Fatalf("%+v", r)
	}
}

func TestAViewReadsOnThroughMediaLongerThanAPassMayRead(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBudget = 3
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.flood(grantor, 10)
	w.flood("a", 10)
	w.release("a", "L")
	view, err := judge.Observe(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	r, list := view.Conclude(t.Context(), 0)
	if r.Outcome != judge.OK || len(list) != 1 || list[0].Cause != lease.ByRelease {
		t.Fatalf("%s %+v", r.Outcome, list)
	}
}

// A view over the very media set of a running judge takes none of its hints.
func TestAViewTakesNoHints(t *testing.T) {
	w := newWorld(t, "a")
	cfg := w.config()
	j, err := judge.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.judge = j
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.release("a", "L")
	view, err := judge.Observe(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	view.Conclude(t.Context(), 0)
	wantList(t, "lapsed", ended(w.okAt(3)), "L by release")
}

func TestAViewOfALostLedger(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Expected = true
	if _, err := judge.Observe(t.Context(), w.config()); !errors.Is(err, judge.ErrLost) {
		t.Fatal(err)
	}
}

func TestAViewOfARecoveredLedgerOwesWhatTheJudgeWould(t *testing.T) {
	w := oldLedger(t)
	w.write("ledger", "junk")
	view, err := judge.Observe(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	if r, list := view.Conclude(t.Context(), 5000); len(list) > 0 || len(r.Unknown) != 1 {
		t.Fatalf("%+v, unknown %v", list, r.Unknown)
	}
}

func TestOpenProposalsAndAnswers(t *testing.T) {
	w := office(t, nil)
	w.scripts[grantor].Append(stream.Full)
	w.propose("b", "q", "o", ask(50))
	w.propose("a", "p", "o")
	w.okAt(2)
	got := w.judge.Proposals()
	if len(got) != 2 || got[0].Holder != "a" || got[1].Proposal != "q" || got[1].Ask != ms(50) || w.judge.Answered("a", "p") {
		t.Fatalf("%+v", got)
	}
	w.okAt(3)
	if len(w.judge.Proposals()) > 0 || !w.judge.Answered("a", "p") || w.judge.Answered("x", "p") {
		t.Fatal("not answered")
	}
}

func TestALookTakesALedgerOfAnotherPlaceAsItStands(t *testing.T) {
	w := oldLedger(t)
	w.cfg.Place, w.cfg.Boot = "there", "another"
	if _, err := judge.Observe(t.Context(), w.config()); !errors.Is(err, judge.ErrPlace) {
		t.Fatal(err)
	}
	w.cfg.Look = true
	view, err := judge.Observe(t.Context(), w.config())
	if err != nil || view.Began() != judge.Recovered {
		t.Fatal(err)
	}
	if r, _ := view.Conclude(t.Context(), 9); len(r.Unknown) > 0 {
		t.Fatalf("unknown %v", r.Unknown)
	}
}
