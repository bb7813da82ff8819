package cmd

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"time"
)

// vigil tells people, once a command, that nobody judges: what a command wrote for a judge, or waits for, may
// wait long (SPEC 9). A judge appends a tick at each of its passes, and a tick says where the clock of its boot
// stood. On another machine, whose clock cannot be compared, the times of files on the same file system are.
// Under ticks: external it says nothing, since ticks tell nothing of passes there.
type vigil struct {
	comp    *Composition
	adapter *adapter // of the judge's tick stream, for reading only
	said    bool

	newest int64     // the newest reading, and since when it has been that
	since  time.Time // zero: not looked yet
	before time.Duration
}

func newVigil(c *Composition) *vigil { return &vigil{comp: c} }

// noJudgeRemedy is what to do where no judge passes.
const noJudgeRemedy = "daolease judge runs passes; daolease hold --judge does while it holds"

// vigilCadences is for how many cadences no judge may have passed.
const vigilCadences = 3

// look says it, if that is so. ref is a file that this command has just written. Whatever fails is nobody's
// concern here.
func (v *vigil) look(ctx context.Context, ref string) {
	if v.said || v.comp.Config.external() {
		return
	}
	ago, known := v.ago(ctx, ref)
	if !known || ago <= vigilCadences*v.comp.Config.Cadence {
		return
	}
	v.said = true
	what := "no judge has passed here yet"
	if ago != math.MaxInt64 {
		what = "no judge has passed here for " + formatSpan(ago.Truncate(roundTo(ago)))
	}
	v.comp.app.complain(what+": nothing is granted or taken back until one does",
		"the grantor runs it: "+shellQuote(v.comp.app.Program)+" -C "+shellQuote(v.comp.Dir)+" judge; or, on one machine, daolease hold --judge needs none")
}

// roundTo is the precision in which a span is told to people.
func roundTo(d time.Duration) time.Duration {
	if d >= time.Second {
		return time.Second
	}
	return time.Millisecond
}

// ago is how long ago a judge has passed; the longest span when none ever did.
func (v *vigil) ago(ctx context.Context, ref string) (time.Duration, bool) {
	if v.adapter == nil && v.begin(ctx) != nil {
		return 0, false
	}
	a := v.adapter
	if a.catchUp(ctx) != nil {
		return 0, false
	}
	if a.greatest == 0 {
		return math.MaxInt64, v.comp.grantorSeen()
	}
	clock := v.comp.app.Clock
	if elapsed, same := a.marked.elapsed(clock.Running(), clock.BootID()); same {
		return time.Duration(min(elapsed, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond, true
	}
	if v.since.IsZero() || a.greatest != v.newest {
		v.newest, v.since = a.greatest, time.Now()
		v.before = v.comp.olderThan(v.comp.path("grantor", "ticks.jsonl"), ref)
	}
	return v.before + time.Since(v.since), true
}

// newestTicks is about how many bytes of the judge's ticks are read for the newest: a few of those that it writes.
const newestTicks = 1024

// begin opens the judge's tick stream where the newest are. All that are retained would be most of what a renewal
// reads.
func (v *vigil) begin(ctx context.Context) error {
	medium, err := v.comp.ticks()
	if err != nil {
		return err
	}
	a, err := v.comp.judgeAdapter()
	if err != nil {
		return err
	}
	a.cursor, err = medium.MintNear(ctx, newestTicks)
	v.adapter = a
	return err
}

// grantorSeen says that the grantor's folder is not there, or can be looked into: only then is it known that there
// is no tick.
func (c *Composition) grantorSeen() bool {
	_, err := os.ReadDir(c.grantorDir())
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// olderThan is by how much one file is older than another on the same file system; 0 where that cannot be told.
func (c *Composition) olderThan(path, ref string) time.Duration {
	old, err := os.Stat(path)
	if err != nil {
		return 0
	}
	fresh, err := os.Stat(ref)
	if err != nil {
		return 0
	}
	return max(0, fresh.ModTime().Sub(old.ModTime()))
}
