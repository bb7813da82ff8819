//go:build unix

package cmd

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// ears takes the signals that hold heeds. They are taken from before the proposal to the end, so that none gets lost
// around the moment of the grant.
type ears struct{ heard chan os.Signal }

// listen begins to take signals. One that was ignored when this program was started stays so, for CMD too: nohup
// works.
func listen() *ears {
	e := &ears{make(chan os.Signal, 32)}
	for _, sig := range append(ending(), syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH) {
		if !signal.Ignored(sig) && !startedIgnored(sig) {
			signal.Notify(e.heard, sig)
		}
	}
	return e
}

// ending are the signals that end hold while it waits, and that are forwarded while CMD runs.
func ending() []os.Signal {
	return []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
}

func isEnding(sig os.Signal) bool { return slices.Contains(ending(), sig) }

// waiting ends a context at the first signal that ends hold, with an *interrupted as its cause. A second one has the
// system's own effect. over has signals stay in the channel again, and leaves the context as it is.
func (e *ears) waiting(ctx context.Context) (_ context.Context, over func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case sig := <-e.heard:
				if e.end(sig, cancel) {
					return
				}
			case <-stop:
				return
			}
		}
	}()
	return ctx, func() {
		close(stop)
		<-stopped
	}
}

// end heeds a signal while nothing runs.
func (e *ears) end(sig os.Signal, cancel context.CancelCauseFunc) bool {
	switch {
	case isEnding(sig):
		signal.Stop(e.heard)
		cancel(&interrupted{sig})
		return true
	case sig == syscall.SIGTSTP:
		stopSelf()
	}
	return false
}

// pending is an ending signal that has come already; nil when there is none.
func (e *ears) pending() os.Signal {
	for {
		select {
		case sig := <-e.heard:
			if isEnding(sig) {
				return sig
			}
		default:
			return nil
		}
	}
}

// stopSelf stops this process as the terminal would: with its group, unless nobody could continue it.
func stopSelf() {
	if !orphaned() {
		_ = syscall.Kill(0, syscall.SIGSTOP)
	}
}

// orphaned says that no shell looks after this process's group, so that a stop would be for ever: the first
// ancestor outside of the group is in another session.
func orphaned() bool {
	group, session := syscall.Getpgrp(), sessionOf(0)
	for at := os.Getppid(); at > 1; at = parentOf(at) {
		of, err := syscall.Getpgid(at)
		if err != nil {
			return true
		}
		if of != group {
			return sessionOf(at) != session
		}
	}
	return true
}
