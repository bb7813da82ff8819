package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"
)

// lockMode is that of a lock file: whoever can open it can lock it, so that it is its owner's alone (SPEC 3).
const lockMode fs.FileMode = 0o600

// lockSuffix ends the name of every lock file.
const lockSuffix = ".lock"

// The pauses between two attempts at a lock that another process has.
const (
	firstPause = 500 * time.Microsecond
	lastPause  = 20 * time.Millisecond
)

// lock takes the append lock. The wait is bounded: it ends with a transport error, nothing having been done.
func (f *File) lock(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, f.transport(context.Cause(ctx))
	}
	timer := time.NewTimer(f.o.LockWait)
	defer timer.Stop()
	select {
	case f.gate <- struct{}{}:
	case <-ctx.Done():
		return nil, f.transport(context.Cause(ctx))
	case <-timer.C:
		return nil, f.transport(f.noAnswer())
	}
	file, err := f.openLock()
	if err == nil {
		err = f.await(ctx, timer, file)
	}
	if err != nil {
		<-f.gate
		return nil, f.transport(err)
	}
	return func() {
		unlock(file)
		<-f.gate
	}, nil
}

func (f *File) noAnswer() error {
	return fmt.Errorf("the file system did not answer: %s.lock was not to be had within %v", f.path, f.o.LockWait)
}

// await locks an open file, or closes it. Other processes give no notice, so it asks again, at random moments
// lest two keep in step.
func (f *File) await(ctx context.Context, timer *time.Timer, file *os.File) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		done, err := tryLock(file)
		if done {
			return nil
		}
		if err == nil {
			select {
			case <-time.After(pause/2 + rand.N(pause)):
				continue
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-timer.C:
				err = f.noAnswer()
			}
		}
		_ = file.Close()
		return err
	}
}

// openLock opens the lock file, which it creates when it has to. It is never renamed or removed.
func (f *File) openLock() (*os.File, error) {
	path := f.path + lockSuffix
	file, err := f.sys.open(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = f.create(path, os.O_RDWR, lockMode)
	}
	if errors.Is(err, fs.ErrExist) {
		file, err = f.sys.open(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	return onlyRegular(file)
}

// create creates a file that must not be there, with this mode whatever the umask.
func (f *File) create(path string, flag int, mode fs.FileMode) (*os.File, error) {
	file, err := f.sys.open(path, flag|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	err = file.Chmod(mode)
	if err == nil && f.o.Created != nil {
		err = f.o.Created(file)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// onlyRegular closes what is no regular file.
func onlyRegular(file *os.File) (*os.File, error) {
	fi, err := file.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = notRegular(file.Name(), fi.Mode())
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Hold implements Medium. Under it, Rewrite, Evict and Close wait like everybody else: they are for after release.
func (f *File) Hold(ctx context.Context) (Appender, func(), error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	h := &held{file: f, turn: make(chan struct{}, 1)}
	return h, func() {
		if h.over.CompareAndSwap(false, true) {
			h.turn <- struct{}{} // an append that has begun ends first
			unlock()
			<-h.turn
		}
	}, nil
}

// held appends under a lock that somebody holds.
type held struct {
	file *File
	turn chan struct{} // full while an append goes on
	over atomic.Bool
}

// Append implements Appender until the lock is released.
func (h *held) Append(ctx context.Context, how How, values ...[]byte) (Appended, error) {
	if err := checkValues(h.file.path, values...); err != nil {
		return Appended{}, err
	}
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if err := ctx.Err(); err != nil {
		return Appended{}, h.file.transport(context.Cause(ctx))
	}
	if h.over.Load() {
		return Appended{}, h.file.transport(errors.New("an append under a lock that was released"))
	}
	return h.file.appendLocked(how, values)
}
