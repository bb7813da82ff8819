package judge_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

// standing is what a judge's ledger holds, as text.
func standing(t *testing.T, rows []judge.Row) string {
	t.Helper()
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The ledger's own stream tells what was live after every completed pass, in random lives, and changes nothing.
func TestThePastIsWhatEachPassLeft(t *testing.T) {
	for seed := range lives(60) {
		s := newSchedule(t, seed, false)
		s.cfg.Retention = 1 << 30
		s.start()
		want := map[uint64]string{}
		for range 12 {
			if r := s.round(); r.Outcome == judge.OK {
				want[r.Pass] = standing(t, s.judge.Rows())
			}
		}
		before, got := s.everything(), map[uint64][]string{}
		err := judge.Past(t.Context(), s.config(), func(m *judge.Moment) bool {
			if m.Snapshot {
				t.Fatal("nothing was compacted")
			}
			got[m.Pass] = append(got[m.Pass], standing(t, m.Rows()))
			return true
		})
		if err != nil || s.everything() != before {
			t.Fatalf("seed %d: %v, or bytes changed", seed, err)
		}
		for pass, rows := range want {
			// A pass writes several groups, and what is settled after it bears its number too.
			if !slices.Contains(got[pass], rows) {
				t.Fatalf("seed %d, pass %d:\n%q\nwas\n%s", seed, pass, got[pass], rows)
			}
		}
	}
}

func TestThePastTellsEachChangeOnce(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Tolerance = ms(1)
	tries := 0
	w.hooks.do = func(judge.Task) (judge.Progress, error) {
		if tries++; tries == 1 {
			return judge.Failed, errors.New("jammed")
		}
		return judge.Done, nil
	}
	w.start()
	w.grant("L", "/s", "a", 100)
	w.okAt(1)
	w.renew("a", "L")
	w.okAt(5)
	w.media["a"].Lose()
	w.okAt(9)
	w.release("a", "L")
	w.okAt(12)
	w.okAt(15)
	var got []judge.Change
	if err := judge.Past(t.Context(), w.config(), func(m *judge.Moment) bool { got = append(got, m.Changes...); return true }); err != nil {
		t.Fatal(err)
	}
	want := []judge.Change{
		{What: judge.Seeded, Lease: "L", At: 1}, {What: judge.Observed, Lease: "L", At: 5}, {What: judge.Doubted, Lease: "L", At: 9},
		{What: judge.GaveBack, Lease: "L", At: 12}, {What: judge.Marked, Lease: "L", At: 12, Cause: "release"},
		{What: judge.Tried, Lease: "L", At: 12, Count: 1, Text: "jammed"}, {What: judge.Tried, Lease: "L", At: 15, Count: 2},
		{What: judge.TookBack, Lease: "L", At: 15}, {What: judge.Gone, Lease: "L", At: 15},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told:\n%+v\nwas:\n%+v", got, want)
	}
}

// What was compacted away is said to be, and what is left still equals what was.
func TestThePastBeginsAtTheLastCompaction(t *testing.T) {
	w := small(t)
	for at := int64(3); at < 60; at++ {
		w.renew("a", "L")
		w.okAt(at)
	}
	first, last := judge.Moment{}, ""
	err := judge.Past(t.Context(), w.config(), func(m *judge.Moment) bool {
		if first.Pass == 0 {
			first = *m
		} else if m.Snapshot {
			t.Error("a snapshot within")
		}
		last = standing(t, m.Rows())
		return true
	})
	if err != nil || !first.Snapshot || first.Now < 10 {
		t.Errorf("%v, it begins with %+v", err, first)
	}
	if now := standing(t, w.judge.Rows()); last != now {
		t.Errorf("it ends with %s, and now is %s", last, now)
	}
	n := 0
	if err := judge.Past(t.Context(), w.config(), func(*judge.Moment) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("it went on after a no: %d, %v", n, err)
	}
}

func TestThePastOfALostLedger(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Expected = true
	if err := judge.Past(t.Context(), w.config(), func(*judge.Moment) bool { return true }); !errors.Is(err, judge.ErrLost) {
		t.Errorf("an empty ledger where one is expected: %v", err)
	}
}
