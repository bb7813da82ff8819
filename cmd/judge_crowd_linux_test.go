package cmd_test

import (
	"testing"
	"time"
)

// watches says that a process watches a folder with inotify.
func (p *process) watches(name string) bool {
	p.w.Helper()
	return p.watchesOf(name) > 0
}

// TestJudgeLeavesACrowdUnwatched has holders renew so often that to be woken for each would cost more than to look at
// all. Nobody loses anything by it: not those who renew, not one of them who gives back, and no stranger.
func TestJudgeLeavesACrowdUnwatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "tolerance: 20s\nsubjects: [{match: \"*\", duration: 1m, reclaim: none}]\n", nil)
	judge := w.judge()
	leases, still := map[string]string{}, map[string]func(){}
	for _, holder := range []string{"alice", "bob", "carol"} {
		leases[holder] = w.want(0, as(holder, "propose", holder))
	}
	w.want(0, []string{"holder", "add", "dave"})
	w.until("all are watched", func() bool {
		return judge.watches("holders/alice") && judge.watches("holders/bob") && judge.watches("holders/dave")
	})
	for holder, lease := range leases {
		still[holder] = w.renewingEvery(20*time.Millisecond, holder, lease)
	}
	w.until("they are watched no more", func() bool {
		return !judge.watches("holders/alice") && !judge.watches("holders/bob") && !judge.watches("holders/carol")
	})
	if !judge.watches("holders/dave") {
		t.Error("a stranger is watched no more either")
	}
	w.want(0, as("dave", "propose", "dave"))

	still["carol"]()
	w.want(0, as("carol", "release"))
	w.until("the release is heard", func() bool { return w.lapsed(leases["carol"]) })
	w.until("who holds nothing is watched again", func() bool { return judge.watches("holders/carol") })
	still["alice"]()
	still["bob"]()
	w.until("all are watched again", func() bool { return judge.watches("holders/alice") && judge.watches("holders/bob") })
	if w.lapsed(leases["alice"]) || w.lapsed(leases["bob"]) {
		t.Error("one that renewed has lapsed")
	}
	judge.stop()
}
