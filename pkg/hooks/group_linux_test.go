package hooks

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A group is alive as long as any of its processes is, and not for a leader that is merely unreaped.
func TestGroupMembers(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & exit 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leader := cmd.Process.Pid
	g := GroupOf(leader)
	awaitEnd(cmd)
	left, err := g.Members()
	if err != nil || len(left) != 1 || slices.Contains(left, leader) {
		t.Errorf("members %v, %v; the leader is %d", left, err, leader)
	}
	signalGroup(leader, syscall.SIGKILL)
	if left := awaitNone(time.Minute, func() []int { left, _ := g.Members(); return left }); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
	_ = cmd.Wait()
	if left, err := g.Members(); len(left) > 0 || err != nil {
		t.Errorf("members %v, %v of a group that is gone", left, err)
	}
}
