//go:build unix

package cmd

import (
	"context"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

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
