//go:build unix

package cmd

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the terminal that this process has, which hands keys and their signals to one group at a time.
type terminal struct {
	file *os.File
	own  int // this process's group
}

// openTerminal opens the controlling terminal; nil when there is none.
func openTerminal() *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return &terminal{file, syscall.Getpgrp()}
}

func (t *terminal) fd() int { return int(t.file.Fd()) }

// front is the group that has the terminal.
func (t *terminal) front() int {
	group, err := unix.IoctlGetInt(t.fd(), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

// inFront says that this process's group has the terminal.
func (t *terminal) inFront() bool { return t != nil && t.front() == t.own }

// give hands the terminal to a group.
func (t *terminal) give(group int) { _ = unix.IoctlSetPointerInt(t.fd(), unix.TIOCSPGRP, group) }

// takeFrom takes the terminal back, if that group has it. This process ignores TTOU by then, which would stop it.
func (t *terminal) takeFrom(group int) {
	if t != nil && t.front() == group {
		t.give(t.own)
	}
}

// pipesOn says that another program reads what this one writes, and so may well want the terminal itself (hold s --
// ls | less). CMD then gets the terminal when it asks for it.
func pipesOn() bool {
	fi, err := os.Stdout.Stat()
	return err == nil && fi.Mode()&os.ModeNamedPipe != 0
}
