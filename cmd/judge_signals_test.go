//go:build unix

package cmd_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestJudgeSuspendsCleanly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1h, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	first := w.judge()
	first.says("incarnation 1, the first")
	lease := w.want(0, as("alice", "propose", "x"))
	first.signal(syscall.SIGTERM)
	first.ends(0)
	second := w.judge()
	second.says("incarnation 2 goes on with the ledger")
	w.want(0, as("alice", "renew", lease))
	second.signal(syscall.SIGINT)
	second.ends(0)
	third := w.judge()
	third.says("incarnation 3 goes on with the ledger")
	w.want(4, as("bob", "propose", "x"), "alice holds lease "+lease)
	w.want(0, as("alice", "release", lease, "--wait", "60s"))
	third.stop()
	if log := w.logged(); !slices.Equal(log, []string{"release:" + lease}) {
		t.Errorf("hooks: %q", log)
	}
}

const reloadConfig = `cadence: 100ms
tolerance: 100ms
subjects:
  - {match: "slow*", duration: 1h, timeout: 1h, reclaim: [hooks/slow]}
  - {match: "*", duration: 1h, reclaim: [hooks/free]}
`

func TestJudgeTakesAConfigurationOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, reloadConfig, map[string]string{
		"slow":  "echo slow >> log/hooks; while [ ! -e log/go ]; do sleep 0.02; done; echo \"old:$DAOLEASE_ATTEMPT\" >> log/hooks",
		"free":  noting,
		"other": "echo \"other:$DAOLEASE_LEASE\" >> log/hooks",
	})
	judge := w.judge()
	old := w.want(0, as("alice", "propose", "slow"))
	w.want(0, as("alice", "release", old))
	w.until("the slow one runs", func() bool { return slices.Contains(w.logged(), "slow") })

	next := strings.NewReplacer("duration: 1h", "duration: 30min", "timeout: 1h", "timeout: 50ms", "hooks/slow", "hooks/other", "hooks/free", "hooks/other").Replace(reloadConfig)
	w.write("daolease.yaml", 0o644, next)
	judge.signal(syscall.SIGHUP)
	judge.says("the configuration was read again")
	w.want(0, as("alice", "propose", "new", "-o", "json"), `"min": 30`)
	fresh := w.want(0, as("alice", "propose", "slow2"))
	for _, lease := range []string{fresh} {
		w.want(0, as("alice", "release", lease, "--wait", "60s"))
		if !slices.Contains(w.logged(), "other:"+lease) {
			t.Errorf("the new procedure did not run: %q", w.logged())
		}
	}
	// What ran keeps its argv and its timeout.
	w.write("log/go", 0o644, "")
	w.until("the old one is recorded", func() bool { return w.lapsed(old) })
	if log := w.logged(); !slices.Contains(log, "old:1") || slices.Contains(log, "other:"+old) {
		t.Errorf("the running procedure was not left alone: %q", log)
	}

	for _, bad := range []struct{ text, why string }{
		{"subjects: [", "daolease.yaml"},
		{strings.Replace(next, "cadence", "cadense", 1), "cadense"},
		{"ticks: external\n" + next, "[ticks] changes only at a start"},
		{"grantor: somebody\n" + next, "[grantor] changes only at a start"},
		{strings.Replace(next, "[hooks/other]}", "[hooks/none]}", 1), "hooks/none"},
		{strings.Replace(next, `match: "*"`, "match: nothing", 1), "matches"},
	} {
		w.write("daolease.yaml", 0o644, bad.text)
		before := strings.Count(judge.said.String(), "not taken over")
		judge.signal(syscall.SIGHUP)
		w.until("it refuses "+bad.why, func() bool {
			said := judge.said.String()
			return strings.Count(said, "not taken over") > before && strings.Contains(said, bad.why)
		})
		w.write("daolease.yaml", 0o644, next)
		w.want(0, as("alice", "propose", "after-"+bad.why), "")
	}
	w.write("daolease.yaml", 0o666, next)
	judge.signal(syscall.SIGHUP)
	judge.says("can be written by group or others")
	w.write("daolease.yaml", 0o644, next)
	judge.stop()
}
