//go:build unix

package cmd

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// runHold asks for a lease, runs the command under it, and gives it back (SPEC 9, hold).
func runHold(ctx context.Context, app *App, o *holdOptions, word string, argv []string) error {
	subject, err := readNew(word, o.asJSON)
	if err != nil {
		return err
	}
	app.sayAside()
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
	beside.vigil.said = k.s.vigil.said
	k.view, k.watch = view, beside.ask(wish{}, spanFlag{})
	k.watch.at = a.at
	k.sides = k.sides[slices.Index(k.sides, a.side)+1:]
	return nil
}

// notObtained is the exit of a lease that was not obtained; a wish that no fact can carry is a wrong command line.
func (o *holdOptions) notObtained(err error) error {
	code := exitHoldFailed
	switch got := codeOf(err); {
	case got > 128:
		return err // a signal's
	case got == exitNothingHeld:
		return withCode(err, exitLeaseLost) // it was granted, and gone before CMD could start: nobody else was first
	case got == exitRefused:
		code = exitHeldByElse
	case got == exitTimeout:
		code = exitWaitedOut
	}
	if o.hasOther && code != exitHoldFailed {
		code = o.otherCode
	}
	return withCode(err, code, exitUsage)
}
