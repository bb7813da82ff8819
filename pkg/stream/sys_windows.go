package stream

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// carefully asks for nothing more: links are seen by the stat that goes before.
const carefully = 0

func writeOnce(f *os.File, p []byte) (int, error) { return f.Write(p) }

func syncContent(f *os.File) error { return f.Sync() }

// syncFolder does nothing: the names in a folder cannot be forced to disk here.
func syncFolder(string) error { return nil }

// tryLock takes the exclusive lock of an open file unless another handle has it.
func tryLock(f *os.File) (bool, error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives a lock back.
func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
	_ = f.Close()
}

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isStale(error) bool { return false }

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isWriters(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

// pathStamp stamps a path: no more is known here than type, size and time.
func pathStamp(path string, _ []byte) (stamp, error) {
	fi, err := os.Lstat(path)
	if err != nil && isMissing(err) {
		return stamp{missing: true}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	return stamp{size: fi.Size(), mtime: fi.ModTime().UnixNano(), kind: fi.Mode().Type()}, nil
}

func isRemote(*os.File) bool { return false }
