package lease

import (
	"cmp"
	"maps"
	"slices"
)

// Proposed notes a proposal, with the reading taken before its append. The grant that answers it proves that the
// append took effect, so it is noted whatever the append answered. A proposal appended again under its id keeps
// the first reading, which is the earlier bound.
func (h *Holder) Proposed(id string, subject Subject, reading int64) {
	h.See(reading)
	p := h.State.Proposed[id]
	if p == nil {
		p = &Proposed{Seq: h.next()}
		h.State.Proposed[id] = p
	}
	if p.Subject.IsZero() {
		p.Subject = subject
	}
	if p.Reading == nil && !p.Void && usable(reading) {
		p.Reading = &reading
	}
}

// Renewed notes a renewal whose append answered ok, at the reading taken before the append. It returns a
// *NotHeld, and moves nothing, when the lease can no longer be renewed: it ended, or its bound was reached by
// this reading or by any that was seen meanwhile. The bound is terminal.
func (h *Holder) Renewed(lease string, before int64) error {
	if e, ok := h.Holding(lease, before).(*NotHeld); ok && e.Why != NoBasis {
		return e
	}
	held := h.State.Leases[lease]
	held.Renewed = later(held.Renewed, &before)
	if held.Basis == nil {
		held.Basis = later(nil, &before)
	}
	return nil
}

// SetOutRelease notes that the holder is about to append its release of a lease: from now on it does not hold
// it, whatever the append answers. One may release what one was granted, also past the bound and after it
// lapsed; what was never granted is a *NotHeld. A release that was already appended with ok is not to be written
// again: write is false then.
func (h *Holder) SetOutRelease(lease string) (write bool, err error) {
	held := h.State.Leases[lease]
	if held == nil {
		return false, &NotHeld{Lease: lease, Why: NotGranted}
	}
	if held.Release == Done {
		return false, nil
	}
	held.Release = SetOut
	return true, nil
}

// Released notes that the append of a release answered ok.
func (h *Holder) Released(lease string) {
	if held := h.State.Leases[lease]; held != nil {
		held.Release = Done
	}
}

// SetOutWithdraw notes that the holder is about to append its withdrawal of a proposal: from now on it holds no
// lease that answers it, be it granted already or later. It is false when the withdrawal is already written. A
// proposal that the state does not know can be withdrawn too.
func (h *Holder) SetOutWithdraw(proposal string) (write bool) {
	p := h.State.Proposed[proposal]
	if p == nil {
		p = &Proposed{Seq: h.next()}
		h.State.Proposed[proposal] = p
	}
	if p.Withdraw == Done {
		return false
	}
	p.Withdraw = SetOut
	h.giveBack(proposal, SetOut)
	return true
}

// Withdrawn notes that the append of a withdrawal answered ok. That also releases what answers the proposal
// (SPEC 8), so no release of its own is needed.
func (h *Holder) Withdrawn(proposal string) {
	if p := h.State.Proposed[proposal]; p != nil {
		p.Withdraw = Done
		h.giveBack(proposal, Done)
	}
}

// giveBack carries a withdrawal over to the leases that answer the proposal.
func (h *Holder) giveBack(proposal string, e Ending) {
	for _, held := range h.State.Leases {
		if held.Proposal == proposal && held.Release != Done {
			held.Release = e
		}
	}
}

// ToRelease are the leases that were granted and must be given back without ever having been held, the oldest
// first: their bound had passed when the grant was observed, or they answer a proposal whose withdrawal may not
// have been written. A lease leaves the list once its release is written or it has lapsed.
func (h *Holder) ToRelease() []string {
	return h.pick(func(held *Held) bool {
		p := h.State.Proposed[held.Proposal]
		withdrawing := held.Proposal != "" && p != nil && p.Withdraw == SetOut
		return held.Release != Done && held.Lapsed == "" && (held.Late || withdrawing)
	})
}

// pick are the ids of the leases for which want is true, the oldest first.
func (h *Holder) pick(want func(*Held) bool) []string {
	var ids []string
	for id, held := range h.State.Leases {
		if want(held) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(h.State.Leases[a].Seq, h.State.Leases[b].Seq), cmp.Compare(a, b))
	})
	return ids
}

// Open are the ids of the proposals on a subject that are neither answered nor withdrawn with ok, sorted.
func (h *Holder) Open(subject Subject) []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(h.State.Proposed)) {
		if p := h.State.Proposed[id]; p.open() && p.Subject.Text() == subject.Text() {
			ids = append(ids, id)
		}
	}
	return ids
}

func (p *Proposed) open() bool { return p.Answer == "" && p.Withdraw != Done }
