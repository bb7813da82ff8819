package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// judgeLock is the exclusive lock of the one judge of a composition. Its file is never removed.
type judgeLock struct{ file *os.File }

// lockSettles is how long a judge's lock that is held is tried again. A process that is about to exec holds
// every descriptor of its parent for a moment, the lock among them.
const lockSettles = 200 * time.Millisecond

// lockJudge takes the judge's lock, or says who has it (exit 8).
func (c *Composition) lockJudge(ctx context.Context) (*judgeLock, error) {
	f, err := stream.LockFile(ctx, c.judgeLock(), lockSettles, c.app.adopt)
	if errors.Is(err, stream.ErrLocked) {
		who, err := c.readMark()
		if err != nil {
			return nil, err
		}
		return nil, otherJudge(who)
	}
	if err != nil {
		return nil, fail(exitFailure, "", "%w", err)
	}
	return &judgeLock{file: f}, nil
}

func otherJudge(who mark) error {
	const hint = "one judge runs a composition: stop that one first, or let it go on"
	if who.PID == 0 {
		return fail(exitOtherJudge, hint, "another judge is starting")
	}
	return fail(exitOtherJudge, hint, "another judge runs: pid %d on %s, incarnation %d", who.PID, who.Host, who.Incarnation)
}

// write names the incarnation that runs. From then on a missing ledger is a loss.
func (l *judgeLock) write(m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := l.file.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	if err := l.file.Truncate(int64(len(text)) + 1); err != nil {
		return err
	}
	return l.file.Sync()
}

// release gives the lock back; the mark stays.
func (l *judgeLock) release() { stream.UnlockFile(l.file) }
