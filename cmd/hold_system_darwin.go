package cmd

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// startedIgnored cannot be told here.
func startedIgnored(os.Signal) bool { return false }

func sessionOf(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return -1
	}
	return sid
}

// parentOf is the parent of a process; 0 when it cannot be told.
func parentOf(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}

// bindToParent is nothing: the system cannot have a child die with its parent.
func bindToParent(*syscall.SysProcAttr) {}

// awaitChange waits until a child stops or ends. The system has no way to leave it unreaped here; that its group is
// still the same is told by the start times of its members.
func awaitChange(pid int) change {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return change{ended: true, err: err}
		case status.Stopped():
			return change{stopped: status.StopSignal()}
		case status.Exited():
			return change{ended: true, code: status.ExitStatus()}
		case status.Signaled():
			return change{ended: true, code: 128 + int(status.Signal())}
		}
	}
}

// reap has nothing left to do.
func reap(int) {}

// carriers cannot be told without /proc.
func carriers(string, ...string) []int { return nil }
