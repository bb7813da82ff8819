package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/judge/judgetest"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// bySoleMedium attributes each medium to the holder of its name, and the grantor's to the grantor.
type bySoleMedium struct{}

func (bySoleMedium) Sole(medium string) (string, bool) { return medium, true }

func (bySoleMedium) Author(_ context.Context, medium string, _ stream.Value) (string, error) {
	return medium, nil
}

// procedures is a reclaimer that fails for the subjects it is told to fail.
type procedures map[string]bool

func (p procedures) Reclaim(_ context.Context, t judge.Task) (judge.Progress, error) {
	if p[t.Subject.Text()] {
		return judge.Failed, errors.New("told to fail")
	}
	return judge.Done, nil
}

// memoryWorld plays a scenario on memory media, in process.
type memoryWorld struct {
	t     *testing.T
	media map[string]*stream.Memory
	judge *judge.Judge
	fail  procedures
}

func newMemoryWorld(t *testing.T, s judgetest.Scenario) *memoryWorld {
	w := &memoryWorld{t: t, media: map[string]*stream.Memory{}, fail: procedures{}}
	for _, name := range append([]string{"ticks", "grantor", "ledger"}, s.Holders...) {
		w.media[name] = stream.NewMemory(name)
	}
	units, err := lease.NewUnits(s.Units)
	if err != nil {
		t.Fatal(err)
	}
	set := stream.NewSet(nil)
	for _, name := range s.Holders {
		set.Add(name, w.media[name])
	}
	w.judge, err = judge.New(t.Context(), judge.Config{
		Units: units, Grantor: "grantor", Tolerance: *s.Tolerance, Cadence: *s.Cadence, DrainBudget: s.DrainBudget,
		Ticks: w.media["ticks"], Facts: w.media["grantor"], Media: set, Resolver: bySoleMedium{},
		Ledger: w.media["ledger"], Durable: true, Reclaimer: w.fail,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *memoryWorld) Append(medium, line string) { w.media[medium].AppendRaw([]byte(line)) }

func (w *memoryWorld) Lose(medium string) { w.media[medium].Lose() }

func (w *memoryWorld) Procedure(subject string, ok bool) { w.fail[subject] = !ok }

func (w *memoryWorld) Policy(leases []string) {
	for _, id := range leases {
		w.judge.Revoke(id, "told to", false)
	}
}

func (w *memoryWorld) Pass() []byte {
	report := w.judge.Pass(w.t.Context())
	if report.Err != nil {
		w.t.Fatal(report.Err)
	}
	report.Ledger = w.judge.Rows()
	text, err := json.Marshal(report)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func TestConformanceInProcess(t *testing.T) {
	all, err := judgetest.Load("testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			for _, wrong := range s.Play(newMemoryWorld(t, s)) {
				t.Error(wrong)
			}
		})
	}
	if !slices.ContainsFunc(all, func(s judgetest.Scenario) bool { return s.Name == "first-cause-wins" }) {
		t.Error("the scenarios are not the ones this test is for")
	}
}
