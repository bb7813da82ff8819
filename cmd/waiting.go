package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// waiter wakes a command that waits for something on the grantor's side: promptly where the folder can be
// watched, and in any case every so often.
type waiter struct {
	watch *stream.Watcher
	dir   string
	wake  chan struct{}
	woken time.Time
}

// The pauses of a waiter.
const (
	pollWatched = time.Second            // events come by themselves
	pollBlind   = 200 * time.Millisecond // none do
	leastPause  = 50 * time.Millisecond  // between two looks for events alone (SPEC 3)
)

// newWaiter watches the grantor's folder. Watch first, then look: what happens in between is not lost.
func newWaiter(c *Composition) *waiter {
	w := &waiter{dir: c.grantorDir(), wake: make(chan struct{}, 1)}
	w.watch = stream.NewWatcher(func(string) {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}, func(reason string) { c.app.say("polling: %s", reason) },
		stream.WatcherMinding(func(_, name string) bool { return name == "facts.jsonl" }))
	w.watch.Add(w.dir)
	return w
}

func (w *waiter) close() { _ = w.watch.Close() }

// next waits for a reason to look again. The error is the cause for which ctx ended.
func (w *waiter) next(ctx context.Context) error {
	defer func() { w.woken = time.Now() }()
	if err := pause(ctx, leastPause-time.Since(w.woken)); err != nil {
		return err
	}
	most := pollWatched
	if w.watch.Polling(w.dir) {
		most = pollBlind
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-w.wake:
		return nil
	case <-timer.C:
		w.watch.Check()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errWaited ends a context when a command has waited as long as it may.
var errWaited = errors.New("timed out waiting")

// within bounds a wait: as given on the command line, or by most where nothing is given.
func (s *spanFlag) within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	switch {
	case s.Inf:
		return context.WithCancel(ctx)
	case s.Given:
		most = s.D
	}
	return context.WithTimeoutCause(ctx, most, errWaited)
}

// interrupted is the signal that ended a command which has something to give back first.
type interrupted struct{ sig os.Signal }

// Error names the signal.
func (i *interrupted) Error() string { return fmt.Sprintf("interrupted: %v", i.sig) }

// exit is the code that a shell shows of such an end.
func (i *interrupted) exit() error {
	if n, ok := i.sig.(syscall.Signal); ok {
		return exitWith(128 + int(n))
	}
	return exitWith(exitFailure)
}

// interruptible ends a context at the first signal, with an *interrupted as the cause. A second one has the
// system's own effect.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, append([]os.Signal{syscall.SIGINT, syscall.SIGTERM}, hangup()...)...)
	stop := sync.OnceFunc(func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	})
	go func() {
		sig, ok := <-signals
		if ok {
			signal.Stop(signals)
			cancel(&interrupted{sig})
		}
	}()
	return ctx, stop
}

// ended turns the cause for which a wait ended into an error: a signal's code, or exit 5 with this message.
func ended(cause error, hint, format string, args ...any) error {
	var by *interrupted
	switch {
	case errors.As(cause, &by):
		return by.exit()
	case errors.Is(cause, errWaited):
		return fail(exitTimeout, hint, format, args...)
	}
	return cause
}
