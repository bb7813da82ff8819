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
		if who.Yields {
			return c.lockAfter(ctx, who)
		}
		return nil, otherJudge(who)
	}
	if err != nil {
		return nil, fail(exitFailure, "", "%w", err)
	}
	return &judgeLock{file: f}, nil
}

// yieldSlack is how long a hold has to give way, beside the timeouts of procedures that run.
const yieldSlack = 10 * time.Second

// lockAfter takes the judge's lock from a hold that judges meanwhile. Whoever waits has the lock of a file beside
// it, by which holds see that one does; it is gone with its process.
func (c *Composition) lockAfter(ctx context.Context, who mark) (*judgeLock, error) {
	next, err := stream.LockFile(ctx, c.nextLock(), lockSettles, c.app.adopt)
	if errors.Is(err, stream.ErrLocked) {
		return nil, otherJudge(mark{})
	}
	if err != nil {
		return nil, fail(exitFailure, "", "%w", err)
	}
	defer stream.UnlockFile(next)
	c.app.say("waiting for the hold that judges here meanwhile to give way: pid %d on %s", who.PID, who.Host)
	for end := time.Now().Add(c.longestTimeout() + yieldSlack); who.Yields && time.Now().Before(end); {
		f, err := stream.LockFile(ctx, c.judgeLock(), time.Second, c.app.adopt)
		if err == nil {
			return &judgeLock{file: f}, nil
		}
		if !errors.Is(err, stream.ErrLocked) {
			return nil, fail(exitFailure, "", "%w", err)
		}
		if who, err = c.readMark(); err != nil {
			return nil, err
		}
	}
	return nil, otherJudge(who)
}

// longestTimeout is how long a procedure may run at most.
func (c *Composition) longestTimeout() (longest time.Duration) {
	for _, entry := range c.Config.Subjects {
		longest = max(longest, entry.Timeout)
	}
	return longest
}

// lockFor takes the judge's lock for a sitting. A hold takes it only if nobody has it, or waits for it.
func (c *Composition) lockFor(ctx context.Context, o *judgeOptions) (*judgeLock, error) {
	if o.told == nil {
		return c.lockJudge(ctx)
	}
	if c.judgeWaits() {
		return nil, otherJudge(mark{})
	}
	f, err := stream.LockFile(ctx, c.judgeLock(), 0, c.app.adopt)
	if errors.Is(err, stream.ErrLocked) {
		return nil, otherJudge(mark{})
	}
	if err != nil {
		return nil, fail(exitFailure, "", "%w", err)
	}
	return &judgeLock{file: f}, nil
}

// judgeWaits says that a judge waits for a hold to give way.
func (c *Composition) judgeWaits() bool { return probeLock(c.nextLock()) == lockHeld }

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
