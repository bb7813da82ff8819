package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// A process that keeps a lease renewed by itself has it locked, so that nobody else renews what would then hide
// that its command is dead (SPEC 9, hold). All of this happens under the holder's lock, which is why the lock of
// a lease, unlike others, can be removed.

// keepSettles is how long the lock of a lease is tried: a process that is about to exec has every descriptor of
// its parent for a moment.
const keepSettles = 200 * time.Millisecond

// keepLock is the lock file of a lease. An id can be any string, so it is named by its hash.
func (s *side) keepLock(id string) string {
	sum := sha256.Sum256([]byte(id))
	return s.comp.path("holders", s.name, "keep-"+hex.EncodeToString(sum[:8])+".lock")
}

// keep takes the lock of a lease for this process, until drop is called or the process ends. Where another has
// it the error is stream.ErrLocked. The file that is left when a process was killed bars nothing.
func (t *turn) keep(ctx context.Context, id string) (drop func(*turn), err error) {
	f, err := stream.LockFile(ctx, t.keepLock(id), keepSettles, t.app.adopt)
	if err != nil {
		return nil, err
	}
	return func(*turn) {
		_ = os.Remove(f.Name()) // one that stays behind bars nothing
		stream.UnlockFile(f)
	}, nil
}

// kept says that a process keeps this lease renewed.
func (t *turn) kept(ctx context.Context, id string) (bool, error) {
	if _, err := os.Lstat(t.keepLock(id)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	drop, err := t.keep(ctx, id)
	if errors.Is(err, stream.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, fail(exitFailure, "", "%w", err)
	}
	drop(t)
	return false, nil
}
