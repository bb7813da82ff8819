package cmd

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// probeLock says whether a process has the lock of a file. It creates nothing.
func probeLock(path string) string {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return lockFree
	}
	if err != nil {
		return lockUnknown
	}
	defer f.Close()
	var at windows.Overlapped
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	switch {
	case err == nil:
		_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
		return lockFree
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return lockHeld
	}
	return lockUnknown
}
