package judge_test

import "testing"

// A renewal counts however it is written: as this tool does, by hand, or with an escape in it; one by another
// author, or one that is nearly a renewal, does not.
func TestRenewalsCountHoweverTheyAreWritten(t *testing.T) {
	for _, c := range []struct {
		medium, line string
		counts       bool
		dropped      int
	}{
		{"a", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}`, true, 0},
		{"a", `{ "dao.lease/lease": "L", "dao.lease/event": "dao.lease/renewal" }`, true, 0},
		{"a", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"\u004c"}`, true, 0},
		{"a", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","more":1}`, true, 0},
		{"b", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}`, false, 0},
		{"a", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"M"}`, false, 0},
		{"a", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":""}`, false, 1},
		{"a", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"`, false, 1},
	} {
		w := newWorld(t, "a", "b").start()
		w.okAt(1)
		w.grant("L", "/s", "a", 100)
		w.okAt(5)
		w.write(c.medium, c.line)
		r := w.okAt(10)
		if counts := len(r.Renewed) == 1; counts != c.counts || r.Dropped != c.dropped {
			t.Errorf("%s on %s: renewed %v, %d dropped", c.line, c.medium, r.Renewed, r.Dropped)
		}
	}
}
