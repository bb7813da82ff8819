package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// wish is what a holder asks for.
type wish struct {
	subject lease.Subject
	ask     lease.Duration // zero: whatever the grantor gives
	note    string
}

// quest is one wish on its way to a lease: proposals, answers, and the waits between them (SPEC 9, propose).
type quest struct {
	*side
	wish
	wait   spanFlag      // given: how long to wait for a free slot, in all
	within time.Duration // where it is not given: how long to wait for an answer
	waiter *waiter
	began  time.Time
	at     stream.Cursor // on the grantor's stream: the end of the last look
	inWay  string        // who or what was seen in the way; empty: not said yet
	asked  stream.Cursor // where that was when the newest proposal was made
	rival  string        // the newest lease on the subject that was seen granted, and not seen to lapse
	passed int           // how often another was granted what this one waited for
	// refused is how it was refused last; nil when it was not.
	refused *lease.Proposed
	// taken, unless nil, is called in the turn that sees the grant. An error gives the lease back.
	taken func(ctx context.Context, t *turn, lease string) error
}

// answerWithin is how long an answer is waited for at most when no --wait is given.
const answerWithin = 10 * time.Second

// ask makes a quest that watches from now on. It is to be closed.
func (s *side) ask(w wish, wait spanFlag) *quest {
	return &quest{side: s, wish: w, wait: wait, within: answerWithin, waiter: newWaiter(s.comp), began: time.Now()}
}

func (a *quest) close() { a.waiter.close() }

// obtain asks until the lease is granted, refused for good, or the wait is over. What was proposed and not
// granted is withdrawn then.
func (a *quest) obtain(ctx context.Context) (leaseView, error) {
	over, cancel := a.wait.within(ctx, a.within)
	defer cancel()
	released, err := a.clear(ctx)
	if err == nil {
		err = a.cleared(over, released)
	}
	if err != nil {
		return leaseView{}, orSignal(ctx, err)
	}
	for {
		id, err := a.submit(ctx)
		if err != nil {
			return leaseView{}, orSignal(ctx, err)
		}
		p, view, err := a.await(over, id)
		if err == nil && ctx.Err() != nil {
			_, _, err = a.giveUp(ctx, id, context.Cause(ctx)) // a signal came with the answer
		}
		if err != nil || p.Answer == lease.Granted {
			return view, err
		}
		if a.refused = &p; !a.wait.Given || !retriable(p.Reason) {
			return leaseView{}, a.comp.refusedError(id, &p, a.name, a.refusal(ctx, &p))
		}
		if err := a.freed(over, id, &p); err != nil {
			return leaseView{}, a.gaveUp(ctx, err, &p)
		}
	}
}

// orSignal is the exit of the signal that ended a context, else the error.
func orSignal(ctx context.Context, err error) error {
	if by := (*interrupted)(nil); errors.As(context.Cause(ctx), &by) {
		return by.exit()
	}
	return err
}

// clear gives back what void notes name on the subject, before anything new is proposed there (SPEC 7). It answers
// the leases that it released.
func (a *quest) clear(ctx context.Context) (leases []string, err error) {
	return leases, a.turn(ctx, func(t *turn) error {
		var proposals []string
		leases, proposals = t.h.Leftover(a.subject)
		a.at = t.h.State.Cursor
		for _, id := range leases {
			a.app.say("releasing lease %s on %s, which notes name that are void", id, shortened(subjectText(a.subject)))
			if err := t.release(ctx, id); err != nil {
				return err
			}
		}
		for _, id := range proposals {
			a.app.say("withdrawing proposal %s on %s, which notes name that are void", id, shortened(subjectText(a.subject)))
			if err := t.withdraw(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// cleared waits until leases that were released are taken back, since they would be in the way of the proposal.
// If the wait ends first, the proposal will be told so.
func (a *quest) cleared(ctx context.Context, leases []string) error {
	for _, id := range leases {
		if err := a.lapsed(ctx, id); err != nil && !errors.Is(err, errWaited) {
			return err
		}
	}
	return nil
}

// submit appends a proposal. It is noted before the append, so that its answer is known for what it is whatever
// the append answers; one that did not answer ok is withdrawn, by a later command if not by this one.
func (a *quest) submit(ctx context.Context) (id string, err error) {
	id = rand.Text()[:16]
	fact, err := lease.NewProposal(a.comp.Config.Units, id, a.subject, a.wish.ask, a.note)
	if err != nil {
		return "", usagef("", "no such proposal can be made: %w", err)
	}
	return id, a.turn(ctx, func(t *turn) error {
		t.h.Proposed(id, a.subject, t.reading)
		a.at = t.h.State.Cursor
		a.asked = a.at
		if err := t.save(); err != nil {
			return err
		}
		if _, err := t.facts.Append(ctx, stream.How{}, fact.Encode()); err != nil {
			return errors.Join(err, t.withdraw(ctx, id))
		}
		return nil
	})
}

// await waits for the answer to a proposal, and withdraws it when that does not come in time.
func (a *quest) await(ctx context.Context, id string) (lease.Proposed, leaseView, error) {
	for {
		news, err := a.anything(ctx)
		if err == nil && news {
			var p lease.Proposed
			var view leaseView
			p, view, err = a.answer(ctx, id)
			if ctx.Err() == nil && err != nil || err == nil && p.Answer != "" {
				return p, view, err
			}
			err = context.Cause(ctx)
		}
		a.watchJudge(ctx)
		if err == nil {
			err = a.waiter.next(ctx)
		}
		if err != nil {
			a.watchJudge(context.WithoutCancel(ctx))
			return a.giveUp(ctx, id, err)
		}
	}
}

// watchJudge says, once this command has waited for a cadence, that no judge passes.
func (a *quest) watchJudge(ctx context.Context) {
	if time.Since(a.began) >= a.comp.Config.Cadence {
		a.vigil.look(ctx, a.facts.Path())
	}
}

// anything says that the grantor's stream has something new.
func (a *quest) anything(ctx context.Context) (bool, error) {
	if a.at == "" {
		return true, nil
	}
	answer := a.grantor.Read(ctx, a.at, stream.Budget{Values: 1}, func(stream.Value) bool { return false })
	if answer.State == stream.Transport && ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return answer.State != stream.Blocked, nil
}

// answer looks for the answer to a proposal.
func (a *quest) answer(ctx context.Context, id string) (p lease.Proposed, view leaseView, err error) {
	err = a.turn(ctx, func(t *turn) error {
		a.at = t.h.State.Cursor
		if known := t.h.State.Proposed[id]; known != nil {
			p = *known
		}
		if p.Answer != lease.Granted {
			return nil
		}
		view, err = a.granted(ctx, t, p.Lease)
		return err
	})
	return p, view, err
}

// granted is the lease that answers the proposal, unless it can never be held: then it is given back.
func (a *quest) granted(ctx context.Context, t *turn, id string) (leaseView, error) {
	held := t.h.State.Leases[id]
	if held == nil {
		return leaseView{}, fail(exitNothingHeld, proposeHint, "lease %s was granted and is not known any more", id)
	}
	if held.Unfit != "" {
		return leaseView{}, errors.Join(fail(exitNothingHeld, "ask for more with --duration", "lease %s was granted and is given back: %s", id, held.Unfit), t.release(ctx, id))
	}
	if why := (*lease.NotHeld)(nil); errors.As(t.h.Holding(id, t.reading), &why) && why.Why != lease.NoBasis {
		return leaseView{}, errors.Join(t.notHeld(id, why), t.release(ctx, id))
	}
	a.shorter(held)
	if a.taken != nil {
		if err := a.taken(ctx, t, id); err != nil {
			return leaseView{}, errors.Join(err, t.release(ctx, id))
		}
	}
	return t.view(held), nil
}

// shorter says that less was granted than was asked.
func (a *quest) shorter(held *lease.Held) {
	u := a.comp.Config.Units
	asked, err := u.Count(a.wish.ask)
	granted, unknown := u.Count(held.Duration)
	if err == nil && unknown == nil && granted < asked {
		a.app.say("granted %s, which is shorter than the %s that was asked", a.forPeople(held.Duration), a.forPeople(a.wish.ask))
	}
}

func (s *side) forPeople(d lease.Duration) string {
	n, err := s.comp.Config.Units.Count(d)
	if err != nil {
		return d.String()
	}
	return formatSpan(s.comp.Config.span(n))
}

// giveUp ends a wait for an answer: it looks a last time and withdraws. A lease that was granted just in time is
// kept, unless it was a signal that ended the wait.
func (a *quest) giveUp(ctx context.Context, id string, cause error) (p lease.Proposed, view leaseView, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*lockWait)
	defer cancel()
	err = a.turn(ctx, func(t *turn) error {
		if known := t.h.State.Proposed[id]; known != nil {
			p = *known
		}
		switch {
		case p.Answer == lease.Granted && errors.Is(cause, errWaited):
			view, err = a.granted(ctx, t, p.Lease)
			return err
		case p.Answer == lease.Refused:
			return nil
		}
		return t.withdraw(ctx, id)
	})
	if err != nil || p.Answer == lease.Granted && errors.Is(cause, errWaited) {
		return p, view, err
	}
	if p.Answer == lease.Refused && errors.Is(cause, errWaited) && !a.wait.Given {
		return p, view, nil
	}
	p.Answer = ""
	return p, view, a.unanswered(cause)
}

// unanswered is the error of a proposal that nobody has answered in time.
func (a *quest) unanswered(cause error) error {
	hint := "a judge answers within a cadence, " + formatSpan(a.comp.Config.Cadence)
	if rule, found := a.comp.Config.rule(a.subject); found && rule.Answer == "never" {
		hint = "proposals on this subject are answered by hand: propose with --async or --wait, and the grantor grants with daolease grant --proposal"
	}
	return ended(cause, hint, "no answer within %s; the proposal is withdrawn", formatAge(time.Since(a.began).Truncate(time.Millisecond)))
}
