//go:build unix

package cmd

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// probeLock says whether a process has the lock of a file. It asks for a shared lock, which disturbs neither
// whoever has it nor another who asks, and creates nothing.
func probeLock(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return lockFree
	}
	if err != nil {
		return lockUnknown
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return lockUnknown
	}
	state := lockUnknown
	_ = raw.Control(func(fd uintptr) {
		switch err := unix.Flock(int(fd), unix.LOCK_SH|unix.LOCK_NB); {
		case err == nil:
			state = lockFree
			_ = unix.Flock(int(fd), unix.LOCK_UN)
		case errors.Is(err, unix.EWOULDBLOCK):
			state = lockHeld
		}
	})
	return state
}
