//go:build unix

package cmd

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// runHold asks for a lease, runs the command under it, and gives it back (SPEC 9, hold).
func runHold(ctx context.Context, app *App, o *holdOptions, word string, argv []string) error {
	subject, err := readSubject(word, o.asJSON)
	if err != nil {
		return err
	}
	h := &holdRun{app: app, o: o, ears: listen()}
	defer h.leaveBench()
	var end context.CancelFunc
	h.life, end = context.WithCancel(ctx)
	defer end()
	if h.sides, err = openSides(app, o.or); err != nil {
		return asHoldFailure(err)
	}
	for _, s := range h.sides {
		if s.comp.Config.external() {
			return fail(exitHoldFailed, "propose, renew and release work there", "hold keeps time itself, and in %s, under ticks: external, whoever appends ticks owns time", s.comp.Dir)
		}
	}
	h.wish = func(s *side) (w wish, err error) {
		w = wish{subject: subject, note: o.note}
		w.ask, err = s.comp.askOf(&o.duration)
		return w, err
	}
	if err := h.depend(ctx); err != nil {
		return err
	}
	return h.run(ctx, argv)
}

// holdRun is one call of hold. It outlives a lease when another grantor gives a fresh one.
type holdRun struct {
	app   *App
	o     *holdOptions
	ears  *ears
	sides []*side // of the grantors that are still to be asked
	wish  func(*side) (wish, error)

	life  context.Context // of this call
	inner *inner          // with --while

	bench      *bench    // with --judge
	complained sync.Once // that this process cannot judge
}

// run holds one lease after another until the command has ended under one, or no grantor is left to be asked.
func (h *holdRun) run(ctx context.Context, argv []string) error {
	var lost error
	for {
		k := newKeeper(h)
		err := k.obtain(ctx)
		if err == nil {
			err = k.keep(argv)
		}
		k.close()
		switch {
		case err != nil && k.child == nil && lost != nil && codeOf(err) <= exitHoldFailed:
			h.app.report(err)
			return lost
		case k.lost == "" || len(h.sides) == 0 || k.stuck:
			return err
		}
		h.app.report(err)
		lost = err
	}
}

// asHoldFailure is an error of before anything was proposed: 125, unless the command line is wrong.
func asHoldFailure(err error) error { return withCode(err, exitHoldFailed, exitUsage) }

// withCode gives an error a code, unless it has one of these.
func withCode(err error, code int, but ...int) error {
	coded := new(exitError)
	if !errors.As(err, &coded) {
		return fail(code, "", "%w", err)
	}
	for _, b := range but {
		if coded.code == b {
			return err
		}
	}
	return fail(code, coded.hint, "%w", err)
}

func newKeeper(h *holdRun) *keeper {
	k := &keeper{holdRun: h, recorded: make(chan struct{}), news: make(chan func()), aliveAt: never}
	k.watching, k.stopWatching = context.WithCancel(context.Background())
	return k
}

func (k *keeper) close() {
	k.stopWatching()
	if k.watch != nil {
		k.watch.close()
	}
}

// waitOf is how long a lease is waited for: like flock, for ever unless something is said.
func (o *holdOptions) waitOf() spanFlag {
	switch {
	case o.noWait:
		return spanFlag{}
	case o.wait.Given:
		return o.wait
	}
	return spanFlag{Given: true, Inf: true}
}

// obtain asks for a lease, and gives back what a signal came too early for.
func (k *keeper) obtain(ctx context.Context) error {
	ctx, over := k.ears.waiting(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := k.judgeUnless(cancel); err != nil {
		over()
		return asHoldFailure(err)
	}
	r := &round{sides: k.sides, wish: k.wish, wait: k.o.waitOf(), taken: k.taken}
	view, a, err := r.obtain(ctx)
	over()
	if err == nil && ctx.Err() != nil {
		err = orSignal(ctx, context.Cause(ctx))
	}
	if err == nil {
		err = k.watchBeside(view, a)
	}
	if err == nil {
		return nil
	}
	if k.drop != nil {
		k.giveBack()
	}
	return k.o.notObtained(err)
}

// watchBeside opens the holder's side once more, for what watches beside the turns. Of the grantors those that
// follow are left to be asked.
func (k *keeper) watchBeside(view leaseView, a *quest) error {
	beside, err := newSide(k.s.comp, k.s.name)
	if err != nil {
		return err
	}
	k.view, k.watch = view, beside.ask(wish{}, spanFlag{})
	k.watch.at = a.at
	k.sides = k.sides[slices.Index(k.sides, a.side)+1:]
	return nil
}

// notObtained is the exit of a lease that was not obtained.
func (o *holdOptions) notObtained(err error) error {
	code := exitHoldFailed
	switch got := codeOf(err); {
	case got > 128:
		return err // a signal's
	case got == exitRefused || got == exitNothingHeld:
		code = exitHeldByElse
	case got == exitTimeout:
		code = exitWaitedOut
	}
	if o.hasOther && code != exitHoldFailed {
		code = o.otherCode
	}
	return withCode(err, code)
}

// taken is what happens in the turn that sees the grant: from then on nobody else renews the lease. One that has
// waited so long that it is due is renewed at once.
func (k *keeper) taken(ctx context.Context, t *turn, id string) error {
	drop, err := t.keep(ctx, id)
	if err != nil {
		return err
	}
	k.drop, k.lease, k.s = drop, id, t.side
	if t.h.Due(id, t.reading, 3) {
		if err := t.renewKept(ctx, id); err != nil {
			return err
		}
	}
	return k.learn(t)
}

// learn takes over the lease's terms and its bound, on the raw clock.
func (k *keeper) learn(t *turn) error {
	bound, known := t.boundOnClock(k.lease)
	if !known {
		return t.notHeld(k.lease, &lease.NotHeld{Lease: k.lease, Why: lease.NoBasis})
	}
	duration, err := t.comp.Config.Units.Count(t.h.State.Leases[k.lease].Duration)
	if err != nil {
		return err
	}
	k.setTerms(t.comp.Config.span(duration))
	k.bound, k.renewAt = bound, t.clock+k.interval()
	return nil
}

// The most that CMD gets between TERM and KILL where nothing is said, and the most that KILL comes before the bound,
// which is what a busy machine has to end the processes.
const (
	graceMost = 5 * time.Second
	leadMost  = 500 * time.Millisecond
)

// setTerms is what follows from the duration. The grace has to leave room for a renewal that is a little late: TERM
// comes after half of the duration at the earliest.
func (k *keeper) setTerms(duration time.Duration) {
	lead := min(leadMost, duration/10)
	grace, most := min(graceMost, duration/6), duration/2-lead
	if k.o.grace.Given {
		grace = k.o.grace.D
		if grace > most {
			k.once("a grace of %s leaves no time to renew a lease of %s: it is %s", formatSpan(grace), formatSpan(duration), formatSpan(most))
			grace = most
		}
	}
	k.duration, k.lead, k.grace = duration.Milliseconds(), lead.Milliseconds(), grace.Milliseconds()
}

// keep runs the command under the lease to the end of both.
func (k *keeper) keep(argv []string) error {
	if sig := k.ears.pending(); sig != nil {
		k.giveBack()
		return (&interrupted{sig}).exit()
	}
	if err := k.start(argv); err != nil {
		k.giveBack()
		return err
	}
	k.loop()
	k.after()
	if k.lost != "" {
		return fail(exitLeaseLost, "", "lease %s on %s is lost: %s", k.lease, k.view.Subject.Text(), k.lost)
	}
	if k.code != 0 {
		return exitWith(k.code)
	}
	return nil
}

// start starts the command, and what watches its lease.
func (k *keeper) start(argv []string) error {
	path, err := shellFinds(k.app, argv[0])
	if err != nil {
		return err
	}
	k.env = k.s.childEnv(k.view)
	if k.o.progress != "" {
		k.seen = markOf(k.o.progress)
	}
	k.tty = openTerminal()
	var given *terminal
	if k.tty.inFront() && !pipesOn() {
		given = k.tty
	}
	if k.child, err = startChild(path, argv, k.env, given); err != nil {
		return startFailed(argv[0], err)
	}
	ignoreBackgroundWrites()
	go k.watchRecord()
	return nil
}

// after is what follows the end of the group: who left it is said, and the lease is given back. Then its record is
// awaited, so that the next hold finds the way free.
func (k *keeper) after() {
	k.tty.takeFrom(k.child.pid)
	for _, pid := range k.child.escaped(k.lease) {
		k.app.say("process %d left the command's group and goes on without the lease", pid)
	}
	if left := k.child.left(); len(left) > 0 {
		k.stuck = true
		k.app.say("lease %s is not given back: processes of the command do not die, and may outlast its bound: %v", k.lease, left)
		return
	}
	if k.ended {
		k.child.bury()
	}
	if !k.giveBack() {
		return
	}
	linger := lingerDefault
	if k.o.linger.Given {
		linger = k.o.linger.D
	}
	over := time.NewTimer(linger)
	defer over.Stop()
	for {
		select {
		case <-k.recorded:
		case <-over.C:
		case sig := <-k.ears.heard:
			if !isEnding(sig) {
				continue
			}
		}
		return
	}
}

// giveBack releases the lease. A file system that does not answer is not waited for: the lease then lapses by
// silence.
func (k *keeper) giveBack() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*lockWait)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- k.s.turn(ctx, func(t *turn) error {
			defer k.drop(t)
			if held := t.h.State.Leases[k.lease]; held == nil || held.Lapsed != "" {
				return nil
			}
			return t.release(ctx, k.lease)
		})
	}()
	select {
	case err := <-done:
		if err != nil {
			k.app.say("lease %s is not released, and will lapse by silence: %v", k.lease, err)
		}
		return err == nil
	case <-time.After(2*lockWait + time.Second):
		k.app.say("lease %s is not released, and will lapse by silence: its files do not answer", k.lease)
		return false
	}
}
