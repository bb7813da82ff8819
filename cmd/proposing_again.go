package cmd

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// Between proposals at most one in so many cadences, and in so long, is made where nothing says that the way is
// free (SPEC 9).
const (
	retryCadences = 10
	retryLeast    = 10 * time.Second
)

// freed waits until it makes sense to propose again: when the lease in the way lapses, else after a while.
func (a *quest) freed(ctx context.Context, id string, p *lease.Proposed) error {
	a.sayWaiting(ctx, p)
	if p.Reason == judge.RefusedStale {
		return pause(ctx, a.comp.Config.Cadence)
	}
	least := max(retryCadences*a.comp.Config.Cadence, retryLeast)
	again, cancel := context.WithTimeoutCause(ctx, least+rand.N(least/4), errRetry)
	defer cancel()
	err := a.untilMine(again, id, p)
	if errors.Is(err, errRetry) {
		return nil
	}
	return err
}

// untilMine waits until the lease in the way has lapsed, and lets those go first who have waited for longer: the
// more often one was passed over, the less one hesitates. Where only one lease is granted at a time, whoever sees
// that another was quicker waits for that one instead, so that a crowd does not propose in vain.
func (a *quest) untilMine(ctx context.Context, id string, p *lease.Proposed) error {
	rule, found := a.comp.Config.rule(a.subject)
	oneAtATime := found && rule.Slots == 1 && p.Reason == judge.RefusedBusy
	// The look that saw the refusal may have gone on beyond the end of what was in the way: read it once more.
	a.at, a.rival = a.asked, ""
	refused := false
	others := map[string]bool{}
	if !oneAtATime {
		// Whichever of them lapses makes room, and not only the one that was named.
		if _, err := a.comp.readGrantor(ctx, a.grantor, "", func(f lease.Fact) { a.onSubject(f, others) }); err != nil && ctx.Err() == nil {
			return err
		}
	}
	for inWay := p.By; ; inWay = a.rival {
		err := a.anyLapsed(ctx, func(f lease.Fact) bool {
			a.onSubject(f, others)
			refused = refused || f.Kind == lease.Refusal && f.Proposal == id
			return refused && (f.Lease == inWay || others[f.Lease])
		})
		if err != nil {
			return err
		}
		a.passed++
		hesitation := a.comp.Config.Cadence / time.Duration(2*(1+a.passed))
		if err := pause(ctx, rand.N(hesitation+1)); err != nil {
			return err
		}
		if err := a.readOn(ctx, func(lease.Fact) {}); err != nil && ctx.Err() == nil {
			return err
		}
		if a.rival == "" || !oneAtATime {
			return context.Cause(ctx)
		}
	}
}

// errRetry ends a wait for a lease to lapse: it is time to ask again.
var errRetry = errors.New("time to ask again")

// onSubject notes a lease that is granted on the subject.
func (a *quest) onSubject(f lease.Fact, noted map[string]bool) {
	if f.Kind == lease.Grant && f.Subject.Text() == a.subject.Text() {
		noted[f.Lease] = true
	}
}

// lapsed waits until the grantor records that a lease has lapsed, reading on from the end of the last look. An
// empty id never does.
func (a *quest) lapsed(ctx context.Context, id string) error {
	return a.anyLapsed(ctx, func(f lease.Fact) bool { return f.Lease == id })
}

// anyLapsed waits until the grantor records the end of a lease that counts. counts is asked about every fact.
func (a *quest) anyLapsed(ctx context.Context, counts func(lease.Fact) bool) error {
	for over := false; ; {
		err := a.readOn(ctx, func(f lease.Fact) { over = counts(f) && f.Kind == lease.Lapsed || over })
		if over {
			return nil
		}
		a.watchJudge(ctx)
		if err == nil || ctx.Err() != nil {
			err = a.waiter.next(ctx)
		}
		if err != nil {
			a.watchJudge(context.WithoutCancel(ctx))
			return err
		}
	}
}

// readOn reads the grantor's stream from the end of the last look, and notes what it says of the subject.
func (a *quest) readOn(ctx context.Context, each func(lease.Fact)) (err error) {
	a.at, err = a.comp.readGrantor(ctx, a.grantor, a.at, func(f lease.Fact) {
		switch {
		case f.Kind == lease.Grant && f.Subject.Text() == a.subject.Text():
			a.rival = f.Lease
		case f.Kind == lease.Lapsed && f.Lease == a.rival:
			a.rival = ""
		}
		each(f)
	})
	return err
}
