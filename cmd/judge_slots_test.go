package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// noting is a hook that notes its lease, and whether the record was there before it.
const noting = `grep -q "lapsed.*$DAOLEASE_LEASE" grantor/facts.jsonl && echo "late:$DAOLEASE_LEASE" >> log/hooks
echo "$DAOLEASE_CAUSE:$DAOLEASE_LEASE" >> log/hooks
`

func TestJudgeTwoHoldersOneSlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+`subjects:
  - {match: long, duration: 1h, reclaim: [hooks/free]}
  - {match: "*", duration: 8s, reclaim: [hooks/free]}
`, map[string]string{"free": noting})
	judge := w.judge()

	// Held for long: the second is refused at once, or after its wait, and a stranger changes nothing.
	long := w.want(0, as("alice", "propose", "long"))
	w.want(4, as("bob", "propose", "long"), "busy: alice holds lease "+long)
	w.want(5, as("bob", "propose", "long", "--wait", "500ms"), "gave up after 500ms", "alice holds lease "+long)
	before := w.read("grantor/facts.jsonl")
	w.want(3, as("bob", "renew", long), "was granted to alice, and not to bob")
	w.want(0, as("alice", "renew", long))
	if after := w.read("grantor/facts.jsonl"); after != before {
		t.Errorf("a stranger's renewal changed the grantor's stream:\n%s", strings.TrimPrefix(after, before))
	}

	// Renewed until the other has given up, and never taken back before; then silent.
	short := w.want(0, as("alice", "propose", "short"))
	waiting := w.start(as("bob", "propose", "short", "--wait", "inf")...)
	w.until("bob is refused", func() bool { return len(w.of("rejected")) == 3 })
	for range 8 {
		if r := w.run(as("alice", "renew", short)...); r.code == 3 && !w.lapsed(short) {
			break // so slow a machine that her own bound has passed: she is silent from here on
		}
	}
	waiting.ends(0)
	said := strings.Fields(waiting.said.String()) // what it waited for comes before the lease
	second := said[len(said)-1]
	w.want(3, as("alice", "renew", short), "propose anew")
	if got := w.of("lapsed")[short]; len(got) != 1 || got[0].Cause != "silence" {
		t.Errorf("the records of the first lease: %v", got)
	}
	if log := w.logged(); !slices.Contains(log, "silence:"+short) || slices.Contains(log, "late:"+short) {
		t.Errorf("the hook has to run, and before the record: %q", log)
	}
	if n := strings.Count(w.read("log/hooks"), "silence:"+short); n != 1 {
		t.Errorf("the first lease was taken back %d times", n)
	}
	if w.of("accepted")[second] == nil {
		t.Errorf("bob was told of lease %q, which was never granted", second)
	}
	if w.lapsed(long) {
		t.Error("the long lease lapsed")
	}
	judge.stop()
}

// TestJudgeRenewedNeverLapses keeps renewing for several durations, and then stops.
func TestJudgeRenewedNeverLapses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `ticks: external
cadence: 2s
tolerance: 1s
subjects: [{match: "*", duration: 6s, reclaim: [hooks/free]}]
`, map[string]string{"free": noting})
	judge := w.judge()
	w.want(0, []string{"tick", "1s"})
	w.want(0, as("alice", "tick", "1s"))
	lease := w.want(0, as("alice", "propose", "x"))
	at := 1
	pass := func() {
		at++
		w.tick("grantor/ticks.jsonl", at)
		w.until("the tick is judged", func() bool {
			return strings.Contains(w.read("grantor/ledger.jsonl"), fmt.Sprintf(`"completed":%d`, at*1000))
		})
	}
	for range 5 {
		for range 4 {
			pass()
		}
		w.tick("holders/alice/ticks.jsonl", at)
		w.want(0, as("alice", "renew", lease))
	}
	pass() // everything that was said by now has been heard
	if w.lapsed(lease) || len(w.logged()) > 0 {
		t.Fatalf("it was renewed, and taken back: %q", w.logged())
	}
	for !w.lapsed(lease) && at < 100 {
		pass()
	}
	if got := w.of("lapsed")[lease]; len(got) != 1 || got[0].Cause != "silence" {
		t.Errorf("then it was silent: %v", got)
	}
	judge.stop()
}

func TestJudgeOneSlotByWhicheverDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+`subjects: [{match: "*", duration: 1h, reclaim: none}]`, nil)
	judge := w.judge()
	results := make([]result, 20)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			if name := fmt.Sprintf("h%d", i); i%2 == 0 {
				results[i] = w.run("grant", "one", name)
			} else {
				results[i] = w.run(as(name, "propose", "one")...)
			}
		})
	}
	all.Wait()
	granted := 0
	for _, r := range results {
		switch r.code {
		case 0:
			granted++
		case 4:
			if !strings.Contains(r.errs, "holds") && !strings.Contains(r.errs, "held") {
				t.Errorf("the refusal does not name who is in the way: %v", r)
			}
		default:
			t.Errorf("%v", r)
		}
	}
	if granted != 1 || len(w.of("accepted")) != 1 {
		t.Errorf("%d say that they were granted, %d grants are on the stream", granted, len(w.of("accepted")))
	}
	w.rising()
	for i := range 6 {
		all.Go(func() {
			name := fmt.Sprintf("h%d", i)
			for _, r := range []result{w.run(as(name, "propose", "own/"+name)...), w.run("grant", "other/"+name, name)} {
				if r.code != 0 {
					t.Errorf("%v", r)
				}
			}
		})
	}
	all.Wait()
	w.rising()
	judge.stop()
}

// rising checks that tokens on the stream strictly rise.
func (w *world) rising() {
	w.Helper()
	last := int64(0)
	for _, l := range w.facts("grantor/facts.jsonl") {
		if l.Status != "dao.lease/accepted" {
			continue
		}
		if l.Token <= last {
			w.Errorf("token %d follows %d", l.Token, last)
		}
		last = l.Token
	}
}
