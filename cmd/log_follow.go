package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// follow reads all media again and again until a signal, and shows what is new. Events make it prompt; it looks
// at its own pace in any case.
func follow(ctx context.Context, r *historyReader, o *logOptions, p *logPrinter) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	ctx, done := r.comp.app.whileRead(ctx)
	defer done()
	w := newFollower(r)
	defer w.close()
	for {
		err := o.choose(r)
		if err == nil {
			w.watch(r)
			p.align(r)
			err = r.round(ctx)
		}
		if ctx.Err() != nil {
			return errors.Join(p.flush(), endOfOutput(ctx))
		}
		if err := errors.Join(err, p.flush()); err != nil {
			return err
		}
		p.sayNothing()
		if w.next(ctx) != nil {
			return endOfOutput(ctx)
		}
	}
}

// follower wakes a reader when something may be new.
type follower struct {
	watcher *stream.Watcher
	holders string
	watched map[string]bool
	wake    chan struct{}
	every   time.Duration
}

// The most and the least between two looks where no event comes.
const (
	followMost  = time.Second
	followLeast = 100 * time.Millisecond
)

func newFollower(r *historyReader) *follower {
	w := &follower{
		holders: r.comp.holdersDir(), watched: map[string]bool{}, wake: make(chan struct{}, 1),
		every: min(max(r.comp.Config.Cadence/2, followLeast), followMost),
	}
	w.watcher = stream.NewWatcher(func(string) {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}, func(reason string) {
		r.comp.app.say("polling, which costs latency and nothing else: %s", reason)
	})
	return w
}

// watch watches the folders of all media, and the one in which new ones appear. Watch first, then read.
func (w *follower) watch(r *historyReader) {
	dirs := []string{w.holders, r.grantor.dir}
	for _, m := range r.media {
		dirs = append(dirs, m.dir)
	}
	for _, dir := range dirs {
		if !w.watched[dir] {
			w.watched[dir] = true
			w.watcher.Add(dir)
		}
	}
}

// next waits for a reason to look again. Looks for events alone are some way apart.
func (w *follower) next(ctx context.Context) error {
	if err := pause(ctx, leastPause); err != nil {
		return err
	}
	timer := time.NewTimer(w.every)
	defer timer.Stop()
	select {
	case <-w.wake:
		return nil
	case <-timer.C:
		w.watcher.Check()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *follower) close() { _ = w.watcher.Close() }
