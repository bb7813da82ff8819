package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
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

// Of more leases than one write takes each is renewed once, also where some of them are not due.
func TestRenewalsOfMany(t *testing.T) {
	const leases = 1500
	w := newWorld(t, "ticks: external\nsubjects: [{match: \"*\", duration: 60s, reclaim: none}]\n", nil)
	w.must(os.Mkdir(w.path("holders/alice"), 0o755))
	w.tick("holders/alice/ticks.jsonl", 1)
	grants := ""
	for i := range leases {
		grants += fmt.Sprintf(`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"lease-%d","dao.lease/subject":"s-%[1]d","dao.lease/holder":"alice","dao.lease/duration":{"s":60}}`+"\n", i)
	}
	w.append("grantor/facts.jsonl", grants)
	w.want(0, as("alice", "renew", "lease-700"))
	w.tick("holders/alice/ticks.jsonl", 5)
	if out := w.want(0, as("alice", "renew", "--all", "--if-due", "-o", "id")); len(strings.Fields(out)) != leases {
		t.Errorf("%d leases are shown", len(strings.Fields(out)))
	}
	text := w.read("holders/alice/facts.jsonl")
	for i := range leases {
		if n := strings.Count(text, fmt.Sprintf(`"lease-%d"}`, i)); n != 1 {
			t.Fatalf("lease-%d was renewed %d times", i, n)
		}
	}
	w.tick("holders/alice/ticks.jsonl", 64)
	var views []struct {
		Lease string           `json:"lease"`
		Left  map[string]int64 `json:"left"`
	}
	w.want(3, as("alice", "renew", "lease-700"))
	text = w.want(3, as("alice", "renew", "--all", "-o", "json")) // one is lost
	if err := json.Unmarshal([]byte(text), &views); err != nil || len(views) != leases-1 {
		t.Fatalf("%v: %d of %d are renewed", err, len(views), leases-1)
	}
	if n := renewals(w); n != 2*leases-1 {
		t.Errorf("%d renewals, want %d", n, 2*leases-1)
	}
}

func renewals(w *world) int {
	return strings.Count(w.read("holders/alice/facts.jsonl"), `"dao.lease/renewal"`)
}
