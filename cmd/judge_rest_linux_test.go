package cmd_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestJudgeRestsWhileNothingCanBeDone has leases that are due and cannot go on: one whose procedure hangs, one that
// waits for room, one that fails and may be tried at every pass. With a cadence of an hour only events make passes.
func TestJudgeRestsWhileNothingCanBeDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `cadence: 1h
tolerance: 0s
reclaim: {parallel: 2, wait: 0s, retry: {initial: 0s}}
subjects:
  - {match: fail, duration: 10h, reclaim: [hooks/fail]}
  - {match: "*", duration: 10h, timeout: 1h, reclaim: [hooks/hang]}
`, map[string]string{"fail": "echo failed >> log/hooks; exit 1", "hang": "echo hung >> log/hooks; exec sleep 1000"})
	judge := w.judge()
	for _, subject := range []string{"fail", "a", "b", "c"} {
		id := w.want(0, []string{"grant", subject, "alice"})
		judge.says("granted " + id)
		w.release("alice", id)
	}
	w.until("all have begun that have room", func() bool {
		log := w.logged()
		return slices.Contains(log, "failed") && strings.Count(w.read("log/hooks"), "hung") == 2
	})
	ended := w.uptime() + 3
	w.until("time passes", func() bool { return w.uptime() > ended })
	if passes := strings.Count(w.read("grantor/ticks.jsonl"), "dao.lease/tick"); passes > 60 {
		t.Errorf("%d ticks for what eight events told", passes)
	}
	judge.signal(syscall.SIGINT)
	judge.says("stopping")
	judge.signal(syscall.SIGINT)
	judge.ends(0)
}

// TestJudgePassesSeldomForRenewals has a holder renew all the time, which others wait for no longer than they would.
func TestJudgePassesSeldomForRenewals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "subjects: [{match: \"*\", duration: 10h, reclaim: none}]\n", nil)
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "x"))
	w.renewal("alice", lease)
	w.passes(1)
	began, before := w.uptime(), strings.Count(w.read("grantor/ticks.jsonl"), "dao.lease/tick")
	w.until("time passes", func() bool {
		w.renewal("alice", lease)
		return w.uptime() > began+4
	})
	passes := float64(strings.Count(w.read("grantor/ticks.jsonl"), "dao.lease/tick")-before) / 2 // two ticks where something was heard
	if elapsed := w.uptime() - began; passes > 3*elapsed {
		t.Errorf("%v passes in %v s for renewals alone", passes, elapsed)
	}
	still := w.renewing("alice", lease)
	w.want(0, as("bob", "propose", "y"))
	still()
	judge.stop()
}

// TestJudgeIsNotWokenByItself grants by hand, which is one change of the grantor's stream that others made. The
// judge's own records and answers there are none.
func TestJudgeIsNotWokenByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "cadence: 1h\ntolerance: 0s\nsubjects: [{match: \"*\", duration: 10h, reclaim: none}]\n", nil)
	judge := w.judge()
	for range 10 {
		id := w.want(0, []string{"grant", "x", "alice"})
		judge.says("granted " + id)
		w.want(0, []string{"revoke", id, "--reason", "over"})
		w.until("it lapses", func() bool { return w.lapsed(id) })
	}
	judge.stop()
	for _, group := range strings.Split(w.read("grantor/ledger.jsonl"), "\n") {
		if strings.Contains(group, `"pass":27,`) {
			t.Fatal("more than 26 passes for the twenty things that others wrote")
		}
	}
}
