//go:build unix

package cmd

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// interval is how long until the next renewal: a third of the duration, jittered downwards, in ms.
func (k *keeper) interval() int64 {
	third := lease.RenewalInterval(k.duration)
	return third - rand.Int64N(third/8+1)
}

// renewIfDue begins a renewal, or the probe that has to come before it. A command that has ended, or was asked to,
// is no evidence any more.
func (k *keeper) renewIfDue() {
	now := k.now()
	if k.ended || k.killAt > 0 || k.killed > 0 || k.renewing || now < k.retryAt {
		return
	}
	third := lease.RenewalInterval(k.duration)
	if k.o.alive != "" && now-k.aliveAt > third {
		if !k.probing && now >= k.probeAt() {
			k.beginProbe(now, time.Duration(third)*time.Millisecond)
		}
		return
	}
	if now >= k.renewAt {
		k.renewing = true
		go func() {
			r := k.renewal()
			k.tell(func() { k.renewed(r) })
		}()
	}
}

// probeAt is when the probe before the next renewal begins. It has a whole interval from there, and the renewal is
// still at less than half of the duration.
func (k *keeper) probeAt() int64 { return k.renewAt - lease.RenewalInterval(k.duration)/2 }

// never is when a probe began that has yet to succeed.
const never = math.MinInt64 / 2

// renewing is what came of a renewal.
type renewing struct {
	bound, clock int64 // the new bound, and when the reading was taken
	mark         fileMark
	err          error
}

// errNoProgress is a file that has not changed since the last renewal.
var errNoProgress = errors.New("it has not changed since the last renewal")

// renewal renews the lease in a turn of its own.
func (k *keeper) renewal() (r renewing) {
	if file := k.o.progress; file != "" {
		if r.mark = markOf(file); r.mark == k.seen {
			r.err = &fs.PathError{Op: "no progress", Path: file, Err: errNoProgress}
			return r
		}
	}
	if k.inner != nil {
		if r.err = k.inner.fresh(); r.err != nil {
			return r
		}
	}
	r.err = k.s.turn(k.watching, func(t *turn) error {
		if err := t.renewKept(k.watching, k.lease); err != nil {
			return err
		}
		r.bound, _ = t.boundOnClock(k.lease)
		r.clock = t.clock
		return nil
	})
	return r
}

// renewed takes in what came of a renewal. One that failed is tried again while there is time.
func (k *keeper) renewed(r renewing) {
	k.renewing = false
	var gone *lease.NotHeld
	switch {
	case errors.As(r.err, &gone):
		k.lose(k.s.comp.notHeldWords(gone), k.kill)
	case r.bound > 0: // it was appended, whatever became of the notes
		k.bound, k.renewAt, k.seen, k.aliveAt = max(k.bound, r.bound), r.clock+k.interval(), r.mark, never
		if k.said != "" {
			k.said = ""
			k.app.say("lease %s is renewed again", k.lease)
		}
	case r.err != nil:
		k.once("lease %s is not renewed: %v", k.lease, r.err)
	}
	if r.err != nil {
		k.again()
	}
}

// again puts the next try a little off.
func (k *keeper) again() { k.retryAt = k.now() + min(1000, max(20, k.duration/24)) }

// renewKept renews a lease that this process keeps.
func (t *turn) renewKept(ctx context.Context, id string) error {
	_, why, err := t.heldNow(ctx, id)
	if err != nil {
		return err
	}
	if why != nil && why.Why != lease.NoBasis {
		return why
	}
	_, err = t.append(ctx, t.h.State.Leases[id], why != nil)
	return err
}

// boundOnClock is the bound of a lease on the raw clock, in ms: as far from the reading of this turn as that was
// taken.
func (t *turn) boundOnClock(id string) (int64, bool) {
	bound, known := t.h.Bound(id)
	return t.clock + t.comp.Config.span(bound-t.reading).Milliseconds(), known
}

// beginProbe runs what --alive says.
func (k *keeper) beginProbe(now int64, within time.Duration) {
	k.probing = true
	go func() {
		err := k.probe(within)
		k.tell(func() {
			k.probing = false
			if err == nil {
				k.aliveAt = now
				return
			}
			k.once("lease %s is not renewed: --alive %q: %v", k.lease, k.o.alive, err)
			k.again()
		})
	}()
}

// probeMark is a variable by which a probe's processes are told from CMD's.
const probeMark = "DAOLEASE_PROBE"

// probe runs a line of sh, which must exit 0 in time. Its output is nobody's, and what it leaves in its group is
// killed.
func (k *keeper) probe(within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(k.watching, within, errTooLong)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", k.o.alive)
	cmd.Env = append(slices.Clone(k.env), probeMark+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// errTooLong is a probe that outlasted the renewal interval.
var errTooLong = errors.New("it took longer than the renewal interval")

// watchRecord waits until the grantor has recorded the lease's end.
func (k *keeper) watchRecord() {
	for {
		err := k.watch.lapsed(k.watching, k.lease)
		if err == nil {
			close(k.recorded)
			return
		}
		if k.watching.Err() != nil || pause(k.watching, pollWatched) != nil {
			return
		}
	}
}

// fileMark is what changes when a file does.
type fileMark struct {
	size  int64
	mtime time.Time
	inode string
}

// markOf looks at a file. One that cannot be looked at has the zero mark.
func markOf(path string) fileMark {
	fi, err := os.Stat(path)
	if err != nil {
		return fileMark{}
	}
	return fileMark{fi.Size(), fi.ModTime(), inodeOf(fi)}
}
