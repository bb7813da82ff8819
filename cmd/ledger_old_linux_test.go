package cmd_test

import (
	"slices"
	"strings"
	"testing"
)

// Where the ledger has forgotten that a lease was taken back, and its subject has a next holder, the procedure does
// not take it from that one: it waits until the tenure is over.
func TestJudgeOnAnOldLedgerSparesTheNextHolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1s, longest: 1h, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	judge := w.judge()
	// So long that the ledger is read while the lease is live, however slow the machine is.
	first := w.want(0, as("alice", "propose", "x", "--duration", "8s"))
	judge.stop()
	if w.lapsed(first) {
		t.Fatal("it has lapsed before the ledger that was to be put back had it")
	}
	old := w.read("grantor/ledger.jsonl")
	judge = w.judge()
	w.until("alice is silent", func() bool { return w.lapsed(first) })
	next := w.want(0, as("bob", "propose", "x", "--duration", "1h", "--wait", "60s"))
	judge.stop()
	w.write("grantor/ledger.jsonl", 0o600, old)
	judge = w.judge()
	judge.says("the ledger was recovered")
	w.until("it is said what it waits for", func() bool {
		return strings.Contains(w.want(0, []string{"inspect", first}), "it waits until lease "+next+" is over")
	})
	w.passes(10)
	if log := w.logged(); !slices.Equal(log, []string{"silence:" + first}) {
		t.Errorf("hooks: %q", log)
	}
	w.want(0, as("bob", "renew", next))
	w.want(0, as("bob", "release", next, "--wait", "60s"))
	w.until("it is taken back once more, its record being there", func() bool { return slices.Contains(w.logged(), "late:"+first) })
	judge.stop()
	w.oneRecordEach()
}
