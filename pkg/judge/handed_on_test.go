package judge_test

import (
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// afterTheCut is a composition whose ledger has lost its end: that L1 was taken back, and that L2 was granted on
// the same subject afterwards. Both facts are on the stream.
func afterTheCut(t *testing.T, slots int) *world {
	w := newWorld(t, "a", "b")
	rule := freely()
	rule.Slots = slots
	w.cfg.Rules = rule
	w.start()
	w.cfg.Expected = true
	w.propose("a", "p1", "/s")
	w.okAt(1)
	kept := w.lines("ledger")
	w.release("a", "L1")
	w.okAt(5)
	w.okAt(6)
	w.propose("b", "p2", "/s")
	w.okAt(9)
	w.wantLive("L2")
	wantList(t, "procedures", w.hooks.leases(), "L1")
	w.hooks.asked = nil
	w.media["ledger"] = stream.NewMemory("ledger")
	for _, line := range append(kept, []byte("what is left of a group")) {
		w.media["ledger"].AppendRaw(line)
	}
	w.start()
	if w.judge.Began() != judge.Recovered {
		t.Fatal(w.judge.Began())
	}
	return w
}

// Where the end of the ledger was lost, a lease that was taken back and recorded is live again, and its subject may
// have a next holder: the procedure must not hit that one.
func TestAProcedureDoesNotHitTheNextTenure(t *testing.T) {
	w := afterTheCut(t, 1)
	for at := int64(10); at < 300; at += 10 {
		w.renew("b", "L2")
		if r := w.okAt(at); len(r.Pending) > 0 && r.NextDue.N <= at {
			t.Fatalf("at %d the next pass is due at %v, for a procedure that waits", at, r.NextDue)
		}
	}
	wantList(t, "procedures", w.hooks.leases())
	w.wantLive("L1", "L2")
	if why := w.row("L1").Reclaim.Error; !strings.Contains(why, "until lease L2 is over") {
		t.Errorf("nobody is told why it waits: %q", why)
	}
	w.start() // another incarnation knows as well
	w.renew("b", "L2")
	w.okAt(305)
	wantList(t, "procedures", w.hooks.leases())

	w.release("b", "L2")
	w.okAt(310)
	w.okAt(311)
	wantList(t, "live", w.live())
	wantList(t, "procedures", w.hooks.leases(), "L1", "L2")
	wantList(t, "lapsed", recordsOf(w), "L1", "L2")
}

// With more slots than one the next grant says nothing about the first lease: it is taken back in its time.
func TestAProcedureWaitsOnlyWhereASlotHadToBeFree(t *testing.T) {
	for _, slots := range []int{0, 2} {
		w := afterTheCut(t, slots)
		for at := int64(10); at < 300; at += 10 {
			w.renew("b", "L2")
			w.okAt(at)
		}
		w.wantLive("L2")
		wantList(t, "procedures", w.hooks.leases(), "L1")
	}
}

// What was taken back by hand has no procedure that could hit anybody.
func TestTakenBackByHandNeedNotWait(t *testing.T) {
	w := afterTheCut(t, 1)
	w.okAt(10)
	w.judge.Revoke("L1", "it was", true)
	w.okAt(11)
	w.wantLive("L2")
}

func recordsOf(w *world) (ids []string) {
	for _, f := range w.of(lease.Lapsed) {
		ids = append(ids, f.Lease)
	}
	return ids
}
