package cmd

import (
	"context"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// settle gives back what must be given back without ever having been held: grants whose bound had passed when
// they were seen, and what answers a proposal whose withdrawal may not have been written. That it fails is said,
// and tried again by the next command.
func (t *turn) settle(ctx context.Context) {
	for _, id := range t.h.ToRelease() {
		held := t.h.State.Leases[id]
		if held.Late {
			t.sayOnce("lease %s on %s was granted too late: its bound had passed when it was seen; it is released", id, shortened(subjectText(held.Subject)))
		}
		if err := t.release(ctx, id); err != nil {
			t.sayOnce("releasing lease %s: %v", id, err)
		}
	}
	for id, p := range t.h.State.Proposed {
		if p.Withdraw != lease.SetOut || p.Answer != "" || p.Subject.IsZero() {
			continue
		}
		if err := t.withdraw(ctx, id); err != nil {
			t.sayOnce("withdrawing proposal %s: %v", id, err)
		}
	}
}

// release writes the release of a lease, once. It is noted before the append that the holder does not hold it.
func (t *turn) release(ctx context.Context, id string) error {
	write, err := t.h.SetOutRelease(id)
	if err != nil || !write {
		return err
	}
	fact, err := lease.NewRelease(id)
	if err != nil {
		return err
	}
	return t.giveBack(ctx, fact, func() { t.h.Released(id) })
}

// giveBack notes that the holder has set out to give back, appends the fact that says so, and calls done when it is
// on the medium. A withdrawal is synced as a release is: it may be one.
func (t *turn) giveBack(ctx context.Context, fact lease.Fact, done func()) error {
	if err := t.save(); err != nil {
		return err
	}
	if _, err := t.facts.Append(context.WithoutCancel(ctx), stream.How{Sync: true}, fact.Encode()); err != nil {
		return err
	}
	done()
	return nil
}

// withdraw takes a proposal back, and with it the lease that answers it. It is noted before the append.
func (t *turn) withdraw(ctx context.Context, id string) error {
	if !t.h.SetOutWithdraw(id) {
		return nil
	}
	proposal, err := lease.NewProposal(t.comp.Config.Units, id, t.h.State.Proposed[id].Subject, lease.Duration{}, "")
	if err != nil {
		return err
	}
	fact, err := lease.Withdrawal(proposal)
	if err != nil {
		return err
	}
	return t.giveBack(ctx, fact, func() { t.h.Withdrawn(id) })
}
