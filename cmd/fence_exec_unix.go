//go:build unix

package cmd

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// replaceProcess executes a command in this process's place, which keeps the lock of a file. It returns only where
// that fails.
func (a *App) replaceProcess(lock *os.File, argv []string) error {
	path, err := shellFinds(a, argv[0])
	if err != nil {
		return err
	}
	raw, err := lock.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		// Without close-on-exec the command has the descriptor, and with it the lock. Nothing else here starts a
		// process that could get it meanwhile.
		if _, err = unix.FcntlInt(fd, unix.F_SETFD, 0); err == nil {
			err = syscall.Exec(path, argv, a.Environ())
		}
	})
	return startFailed(argv[0], errors.Join(failed, err))
}
