package cmd

import (
	"context"
	"errors"
	mathrand "math/rand/v2"
	"time"
)

// round asks several grantors for a lease, one after the other (SPEC 9, propose and hold with --or). Each lease is a
// fresh one of whoever grants it; nothing passes from one grantor to another.
type round struct {
	sides []*side
	wish  func(*side) (wish, error)
	wait  spanFlag
	taken func(ctx context.Context, t *turn, lease string) error

	asked []*quest
}

// openSides opens the composition that the command names, and those of --or. One that cannot be reached is said and
// left out; when none can, the first one's error tells.
func openSides(app *App, or []string) (sides []*side, err error) {
	for i, dir := range append([]string{""}, or...) {
		at := *app
		if i > 0 {
			at.dirFlag = dir
		}
		s, failed := openSide(&at, true)
		switch {
		case failed == nil:
			sides = append(sides, s)
			continue
		case len(or) > 0:
			app.report(failed)
		}
		if err == nil {
			err = failed
		}
	}
	if len(sides) > 0 {
		return sides, nil
	}
	return nil, err
}

// obtain asks until one grants. A single grantor is waited for as SPEC 9 says. Several are asked in turn, none being
// waited for longer than an answer takes, or than its share of the wait; with a wait, they are asked again when a lease that was in the way lapses,
// or after a while. The quest that was granted the lease tells whose it is.
func (r *round) obtain(ctx context.Context) (leaseView, *quest, error) {
	defer r.close()
	if len(r.sides) == 1 {
		return r.ask(ctx, r.sides[0], r.wait, answerWithin)
	}
	over, cancel := r.wait.within(ctx, time.Duration(len(r.sides)+1)*answerWithin)
	defer cancel()
	for began, said := time.Now(), false; ; {
		view, a, err := r.each(over)
		if err == nil || over.Err() != nil || !r.wait.Given || !r.retriable() {
			return view, a, orSignal(ctx, err)
		}
		if !said && !r.sides[0].app.quiet(began) {
			said = true
			r.sides[0].app.say("waiting%s: the last of %d grantors says: %v", briefWords(" for at most ", r.wait.bound()), len(r.sides), err)
		}
		if again := r.freed(over); again != nil {
			return view, a, ended(again, "", "gave up after %s; the last of %d grantors says: %v", formatSpan(r.wait.D), len(r.sides), err)
		}
		r.close()
	}
}

// each asks every grantor once. The error is the last one's.
func (r *round) each(ctx context.Context) (view leaseView, a *quest, err error) {
	for i, s := range r.sides {
		if view, a, err = r.ask(ctx, s, spanFlag{}, share(ctx, len(r.sides)-i)); err == nil {
			s.app.say("granted by %s", s.comp.Dir)
			return view, a, nil
		}
		if ctx.Err() != nil {
			return view, a, err
		}
		if i < len(r.sides)-1 {
			s.app.say("not granted by %s: %v; asking the next grantor", s.comp.Dir, err)
		}
	}
	return view, a, err
}

// share is how long the next of so many grantors may take to answer: what is left of the wait is shared among them, so
// that one without a judge does not use up the time of those that follow.
func share(ctx context.Context, grantors int) time.Duration {
	end, bounded := ctx.Deadline()
	if !bounded {
		return answerWithin
	}
	return min(answerWithin, time.Until(end)/time.Duration(grantors))
}

// ask asks one grantor, and waits for its answer so long at most where no wait is given.
func (r *round) ask(ctx context.Context, s *side, wait spanFlag, within time.Duration) (leaseView, *quest, error) {
	w, err := r.wish(s)
	if err != nil {
		return leaseView{}, nil, err
	}
	a := s.ask(w, wait)
	a.taken, a.within = r.taken, within
	r.asked = append(r.asked, a)
	view, err := a.obtain(ctx)
	return view, a, err
}

// retriable says that any of them may answer differently later: it is busy, or did not answer.
func (r *round) retriable() bool {
	for _, a := range r.asked {
		if a.refused == nil || retriable(a.refused.Reason) {
			return true
		}
	}
	return false
}

// freed waits until it makes sense to ask again: when a lease that was in the way lapses, else after a while.
func (r *round) freed(ctx context.Context) error {
	least := retryLeast
	for _, a := range r.asked {
		least = max(least, retryCadences*a.comp.Config.Cadence)
	}
	again, cancel := context.WithTimeoutCause(ctx, least+mathrand.N(least/4), errRetry)
	defer cancel()
	woken := make(chan error)
	for _, a := range r.asked {
		by := ""
		if a.refused != nil {
			by = a.refused.By
		}
		go func() { woken <- a.lapsed(again, by) }()
	}
	var first error
	for i := range r.asked {
		err := <-woken
		if i == 0 {
			first = err
		}
		if err == nil {
			first = nil
			cancel() // the others need not wait on
		}
	}
	if errors.Is(first, errRetry) {
		return nil
	}
	return first
}

func (r *round) close() {
	for _, a := range r.asked {
		a.close()
	}
	r.asked = nil
}
