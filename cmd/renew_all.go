package cmd

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
)

// renewalBatch is how many renewals are appended by one write: whoever waits for the medium's lock waits for no
// more than that.
const renewalBatch = 1024

// oneRenewal is one of the leases that renew --all is about.
type oneRenewal struct {
	held  *lease.Held
	due   bool // it is to be renewed
	first bool // only that lets it be held
	done  bool
}

// renewAll renews every lease that is held and is not kept renewed by a hold, many by one write. It answers the
// gravest error, the others being said: an append that did not answer ok, then a lease that was lost.
func (t *turn) renewAll(ctx context.Context, ifDue bool) (views []leaseView, gravest error) {
	grave := func(err error) {
		switch {
		case gravest == nil:
			gravest = err
		case codeOf(err) == exitNotAppended && codeOf(gravest) != exitNotAppended:
			t.app.report(gravest)
			gravest = err
		default:
			t.app.report(err)
		}
	}
	list, found := t.allRenewable(ctx, grave)
	if !found && ifDue && t.nothingLost() {
		return nil, exitWith(exitNothingHeld) // all is well, and whoever calls from cron wants no word
	}
	if !found {
		return nil, fail(exitNothingHeld, proposeHint, "holder %q holds nothing", t.name)
	}
	reading, err := t.now(ctx) // looking may have taken long
	if err != nil {
		grave(err)
		return nil, gravest
	}
	list = t.stillHeld(list, reading, ifDue, grave)
	t.renewDue(ctx, list, grave)
	for _, r := range list {
		switch view, err := t.renewed(r); {
		case err != nil:
			grave(err)
		case r.done || !r.due:
			views = append(views, view)
		}
	}
	return views, gravest
}

// allRenewable are the leases that are held, or were lost just now, in the order of their ids, but those that a
// hold keeps. found says that there is any, kept ones among them.
func (t *turn) allRenewable(ctx context.Context, grave func(error)) (list []*oneRenewal, found bool) {
	for _, id := range slices.Sorted(maps.Keys(t.h.State.Leases)) {
		held := t.h.State.Leases[id]
		if !t.renewable(held) && !t.lostNow(held) {
			continue
		}
		found = true
		switch kept, err := t.kept(ctx, id); {
		case err != nil:
			grave(err)
		case !kept:
			list = append(list, &oneRenewal{held: held})
		}
	}
	return list, found
}

// stillHeld leaves out what is not held at a reading, and says of the others whether they are to be renewed.
func (t *turn) stillHeld(list []*oneRenewal, reading int64, ifDue bool, grave func(error)) []*oneRenewal {
	return slices.DeleteFunc(list, func(r *oneRenewal) bool {
		var why *lease.NotHeld
		if errors.As(t.h.Holding(r.held.Lease, reading), &why) && why.Why != lease.NoBasis {
			grave(t.notHeld(r.held.Lease, why))
			return true
		}
		r.first = why != nil
		r.due = !ifDue || t.h.Due(r.held.Lease, reading, 6)
		return false
	})
}

// renewDue appends the renewals of those that are to be renewed. Nothing follows an append that did not answer ok.
func (t *turn) renewDue(ctx context.Context, list []*oneRenewal, grave func(error)) {
	var due []*oneRenewal
	for _, r := range list {
		if r.due {
			due = append(due, r)
		}
	}
	for batch := range slices.Chunk(due, renewalBatch) {
		leases := make([]*lease.Held, len(batch))
		for i, r := range batch {
			leases[i] = r.held
		}
		if err := t.appendRenewals(ctx, leases...); err != nil {
			grave(err)
			return
		}
		for _, r := range batch {
			r.done = true
		}
	}
}

// renewed is what is left of a lease, whose renewal is noted if there was one.
func (t *turn) renewed(r *oneRenewal) (leaseView, error) {
	if r.done {
		return t.noteRenewal(r.held, r.first)
	}
	return t.view(r.held), nil
}

// nothingLost says that the holder has itself given back the lease that it was granted last, or had none.
func (t *turn) nothingLost() bool {
	var last *lease.Held
	for _, held := range t.h.State.Leases {
		if last == nil || held.Seq > last.Seq {
			last = held
		}
	}
	return last == nil || last.Release != ""
}

// lostNow says that a lease was lost without its holder's doing: its bound has passed and nobody has recorded
// its end, or that was recorded just now.
func (t *turn) lostNow(held *lease.Held) bool {
	if past(held) && !held.Void {
		return true
	}
	return held.Lapsed != "" && held.Release == "" && slices.ContainsFunc(t.news, func(o lease.Observation) bool {
		return o.What == lease.HasLapsed && o.Lease == held.Lease
	})
}
