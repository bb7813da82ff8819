package hooks

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and was not reaped (SZOMB).
const zombie = 5

// identify is what tells a process from a later one with the same pid: its start in microseconds, and its session.
func identify(pid int) (start uint64, session int) {
	session, _ = unix.Getsid(pid)
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, session
	}
	return startOf(info), session
}

func startOf(info *unix.KinfoProc) uint64 {
	return uint64(info.Proc.P_starttime.Sec)*1e6 + uint64(info.Proc.P_starttime.Usec)
}

// members are the living processes of the group that a note names. One that is younger than the note's leader and
// has its pid is another process, so the group had ended. A group that exists but cannot be looked at counts as
// alive.
func members(n note) ([]int, error) {
	if !groupExists(n.Leader) {
		return nil, nil
	}
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", n.Leader)
	if err != nil {
		return []int{n.Leader}, err
	}
	var group []int
	for i := range procs {
		pid, start := int(procs[i].Proc.P_pid), startOf(&procs[i])
		if pid == n.Leader && start != n.Start {
			return nil, nil
		}
		if procs[i].Proc.P_stat != zombie && start >= n.Start {
			group = append(group, pid)
		}
	}
	return group, nil
}

// openers cannot be told without /proc.
func openers(*os.File, int) ([]opener, error) { return nil, errors.ErrUnsupported }

// age is asked of openers only.
func age([]int) time.Duration { return 0 }

// supported tells whether the group of a former procedure can be found here.
func supported() error { return nil }

// awaitEnd waits until a process has ended and leaves it unreaped, so that its pid, and with it its group's id,
// cannot be given out again before the rest of the group was killed. A process that has ended before it could be
// watched cannot be watched any more, and needs no waiting.
func awaitEnd(cmd *exec.Cmd) {
	queue, err := unix.Kqueue()
	if err != nil {
		awaitZombie(cmd.Process.Pid)
		return
	}
	defer func() { _ = unix.Close(queue) }()
	unix.CloseOnExec(queue)
	var watch unix.Kevent_t
	unix.SetKevent(&watch, cmd.Process.Pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	watch.Fflags = unix.NOTE_EXIT
	events := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{watch}, events, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// awaitZombie waits likewise where no event queue can be had.
func awaitZombie(pid int) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for range tick.C {
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil || info.Proc.P_stat == zombie {
			return
		}
	}
}
