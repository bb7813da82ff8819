//go:build unix

package cmd_test

import (
	"os/exec"
	"testing"
)

// bare is a command with an empty environment and a closed standard input.
func (w *world) bare(words string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", `exec "$1" -C "$2" `+words+` <&-`, "sh", w.command, w.dir)
	cmd.Env = []string{}
	return cmd
}

func TestJudgeWithNothingAround(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1h, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	w.wanted(w.finish(w.bare("judge --once")), 0, "incarnation 1")
	lease := w.want(0, []string{"grant", "x", "alice"})
	w.wanted(w.finish(w.bare("judge --once -o json")), 0, `"outcome":"ok"`)
	w.release("alice", lease)
	if r := w.finish(w.bare("judge --step")); r.code != 0 || r.out != "" {
		t.Errorf("no line, no pass: %v", r)
	}
	judge := w.begin(w.bare("judge"))
	judge.says("lapsed " + lease)
	judge.stop()
	if log := w.logged(); len(log) != 1 {
		t.Errorf("hooks: %q", log)
	}
}
