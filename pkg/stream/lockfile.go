package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// ErrLocked means that another descriptor has the lock.
var ErrLocked = errors.New("locked by another")

// LockFile opens a lock file, whose name ends in .lock, made with mode 0600 when it is missing, and takes its exclusive lock. It waits
// at most so long (ErrLocked), or until ctx ends. created, unless nil, is called on a file that it made. Such a
// file must never be removed: another process could lock the next one of that name. Give it back with
// UnlockFile.
func LockFile(ctx context.Context, path string, wait time.Duration, created func(*os.File) error) (*os.File, error) {
	if !strings.HasSuffix(path, lockSuffix) {
		return nil, fmt.Errorf("%s: the name of a lock file ends in %s", path, lockSuffix)
	}
	file, err := openLockFile(path, created)
	if err != nil {
		return nil, err
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		done, err := tryLock(file)
		if done {
			return file, nil
		}
		if err == nil {
			select {
			case <-time.After(pause/2 + rand.N(pause)):
				continue
			case <-over.C:
				err = ErrLocked
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		return nil, errors.Join(err, file.Close())
	}
}

// UnlockFile gives a lock back and closes its file.
func UnlockFile(file *os.File) { unlock(file) }

func openLockFile(path string, created func(*os.File) error) (*os.File, error) {
	f := &File{path: strings.TrimSuffix(path, lockSuffix), sys: osSys{}, o: FileOptions{Created: created}}
	return f.openLock()
}
