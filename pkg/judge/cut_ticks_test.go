package judge_test

import (
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

// Where the drain of ticks is cut short, now is too old: the pass ends cut, concludes nothing, and what it has read
// is stamped by the pass that comes to the newest tick.
func TestAPassWhoseTicksAreCutShortEndsCut(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBudget = 4
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 100)
	w.okAt(2)
	w.release("a", "L")
	for reading := int64(3); reading <= 12; reading++ {
		w.tick(reading)
	}
	for _, now := range []int64{6, 10} {
		r := w.pass()
		if r.Outcome != judge.Cut || *r.Now != ms(now) {
			t.Fatalf("%s at %v", r.Outcome, r.Now)
		}
		wantList(t, "cut short", r.Truncated, "ticks")
		wantList(t, "concluded", leasesOf(r.Pending, func(p judge.Waiting) string { return p.Lease }))
	}
	r := w.pass()
	if r.Outcome != judge.OK || *r.Now != ms(12) {
		t.Fatalf("%s at %v", r.Outcome, r.Now)
	}
	wantList(t, "lapsed", ended(r), "L by release")
}
