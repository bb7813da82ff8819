package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// RunName is the name of a subject's run file.
func RunName(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return hex.EncodeToString(sum[:])[:32] + ".run"
}

// removeRun removes a run file whose lock the caller holds. One that stays is no harm: it is swept later.
func removeRun(f *os.File, path string) {
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return
	}
	defer unlock()
	if isAt(f, path) {
		_ = os.Remove(path)
	}
}

// giveBack closes a run file. Its lock is released by name where it is ours alone: a process that was just forked
// for something else may hold the descriptor a moment longer than we do. Where processes inherited the lock on
// purpose, releasing it would take it from them too.
func giveBack(f *os.File, locked bool) {
	if locked {
		unlock(f)
	}
	_ = f.Close()
}

// isAt tells whether the open file is the one that the path leads to.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// lockFolder takes the lock that stands before every claim in a folder: a file of its own, never removed. It is
// held for a moment only, so waiting for it is bounded.
func lockFolder(dir string) (func(), error) {
	path := filepath.Join(dir, "lock")
	f, err := openRun(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(deathBound); ; <-time.After(time.Millisecond) {
		free, err := tryLock(f)
		if free {
			err = private(f, dir)
		}
		if free && err == nil {
			return func() { giveBack(f, true) }, nil
		}
		if err == nil && time.Now().After(deadline) {
			err = &os.PathError{Op: "lock", Path: path, Err: os.ErrDeadlineExceeded}
		}
		if err != nil {
			giveBack(f, free)
			return nil, err
		}
	}
}
