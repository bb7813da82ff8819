package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// lookingMost is how long it may take to find out more about the lease that is in the way.
const lookingMost = 5 * time.Second

// refusal is why a proposal was refused, for people. Where it is busy because what was held has yet to be taken back,
// nobody holds it any more, and that is said: it is the grantor who has to be asked then, and not the holder.
func (a *quest) refusal(ctx context.Context, p *lease.Proposed) string {
	if p.Reason == judge.RefusedBusy && p.By != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookingMost)
		defer cancel()
		if ended := a.comp.endedInTheWay(ctx, p); ended != "" {
			return fmt.Sprintf("busy: lease %s on %s is not taken back yet: %s", p.By, shortened(subjectText(p.Subject)), ended)
		}
	}
	return refusalText(p, a.name)
}

// endedInTheWay is how a lease has ended that is still in the way, and how taking it back goes, as far as the caller
// may know; empty where it is held.
func (c *Composition) endedInTheWay(ctx context.Context, p *lease.Proposed) string {
	view, _, err := c.lookAtLedger(ctx)
	if err == nil && view != nil {
		switch row, there := view.Row(p.By); {
		case !there:
			return "" // it was in the way, and has left
		case row.Reclaim.State == statePending:
			return endedWords(&row) + c.takingBackWords(&row)
		}
	}
	if c.hasReleased(ctx, p.HeldBy, p.By) {
		return p.HeldBy + " has released it"
	}
	return ""
}

// endedWords is how a pending lease has ended.
func endedWords(row *judge.Row) string {
	switch row.Reclaim.Cause {
	case lease.ByRelease:
		return row.Holder + " has released it"
	case lease.ByCap:
		return "it has reached its cap under " + row.Holder
	case lease.ByPolicy:
		return "it was revoked from " + row.Holder
	}
	return fmt.Sprintf("%s is gone (%s)", row.Holder, row.Reclaim.Cause)
}

// takingBackWords is how taking back a pending lease goes.
func (c *Composition) takingBackWords(row *judge.Row) string {
	r := row.Reclaim
	switch {
	case r.OK || r.Attempts == 0 && r.Error == "":
		return ""
	case r.Attempts == 0:
		return "; " + r.Error
	}
	return fmt.Sprintf(", and its reclaim has failed %s, the last with: %s; it is tried again %s", times(r.Attempts), r.Error, c.Config.Reclaim.Retry.after(r.Attempts))
}

// after is when a procedure that has failed so often is tried again.
func (r Retry) after(attempts int) string {
	if r.Initial == 0 {
		return "at the next pass"
	}
	delay := r.Initial
	for i := 1; i < attempts && delay < r.Max; i++ {
		delay *= 2
	}
	return "within " + formatSpan(min(delay, r.Max))
}

// hasReleased says that a holder's medium, which everybody may read, has the release of a lease.
func (c *Composition) hasReleased(ctx context.Context, holder, id string) bool {
	facts, err := c.holderStream(holder)
	if err != nil {
		return false
	}
	released := false
	_, err = c.readFacts(ctx, facts, holder, "", func(author string, f lease.Fact) {
		released = released || author == holder && f.Kind == lease.Release && f.Lease == id
	})
	return released && err == nil
}

// quietWait is how long a wait passes without a word where nobody sits at a terminal: what a job prints that cron has
// started is mailed, and jobs that wait for one another now and then are why they take leases.
const quietWait = 5 * time.Second

// sayWaiting says once whom or what is waited for: at a terminal at once, elsewhere when the wait is a long one.
func (a *quest) sayWaiting(ctx context.Context, p *lease.Proposed) {
	if a.inWay != "" || a.app.quiet(a.began) {
		return
	}
	a.inWay = a.refusal(ctx, p)
	a.app.say("waiting%s: %s", briefWords(" for at most ", a.wait.bound()), a.inWay)
}

// quiet says that a wait which began then is not to be spoken of yet.
func (a *App) quiet(began time.Time) bool { return !a.ErrIsTerminal && time.Since(began) < quietWait }

// gaveUp is the error of a wait for a free slot that has ended, with what was in the way at its end.
func (a *quest) gaveUp(ctx context.Context, cause error, p *lease.Proposed) error {
	switch {
	case errors.Is(cause, errWaited):
		a.inWay = a.refusal(ctx, p)
	case a.inWay == "":
		a.inWay = refusalText(p, a.name)
	}
	return ended(cause, a.wayHint(p), "gave up after %s: %s", formatSpan(a.wait.D), a.inWay)
}

func (a *quest) wayHint(p *lease.Proposed) string {
	if p.Reason != judge.RefusedBusy {
		return ""
	}
	return "daolease why " + wordsFor(p) + " says who has it, and how taking it back goes"
}
