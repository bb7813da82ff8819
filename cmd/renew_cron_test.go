package cmd_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Cron starts a run whether the one before has ended or not. Of runs that overlap one renews what is due, the others
// see that nothing is; none of them says a word, or loses what another has noted.
func TestOverlappingRenewalsFromCron(t *testing.T) {
	w := newWorld(t, "ticks: external\nsubjects: [{match: \"*\", duration: 60s, reclaim: [hooks/free]}]\n", map[string]string{"free": "exit 0"})
	w.tick("holders/alice/ticks.jsonl", 1)
	w.tick("grantor/ticks.jsonl", 1)
	w.want(0, as("alice", "propose", "a", "--async"))
	w.want(0, as("alice", "propose", "b", "--async"))
	w.want(0, []string{"judge", "--once"})
	w.want(0, as("alice", "renew", "--all"))
	for second := 12; second <= 36; second += 12 {
		w.tick("holders/alice/ticks.jsonl", second)
		before := renewals(w)
		var runs []*exec.Cmd
		for range 10 {
			runs = append(runs, w.cmd(as("alice", "renew", "--all", "--if-due")...))
		}
		var over sync.WaitGroup
		for _, run := range runs {
			over.Go(func() {
				if said, err := run.CombinedOutput(); err != nil || len(said) > 0 {
					t.Errorf("%v: %s", err, said)
				}
			})
		}
		over.Wait()
		if n := renewals(w) - before; n != 2 {
			t.Errorf("at %d s two leases were renewed %d times", second, n)
		}
	}
	var views []struct {
		Left map[string]int64 `json:"left"`
	}
	text := w.want(0, as("alice", "renew", "--all", "--if-due", "-o", "json"))
	if err := json.Unmarshal([]byte(text), &views); err != nil || len(views) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, v := range views {
		if v.Left["ms"] != 60_000 {
			t.Errorf("left of it is %v, want what the newest renewal gave", v.Left)
		}
	}
}

func renewals(w *world) int {
	return strings.Count(w.read("holders/alice/facts.jsonl"), `"dao.lease/renewal"`)
}
