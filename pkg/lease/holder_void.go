package lease

import (
	"maps"
	"slices"
)

// Void is the state that is left of void notes, as after a reboot: nothing is held, no look was taken, and the
// cursor is none (mint it at newest, and call that a completed look). Kept are the names of leases and open
// proposals with their subjects, so that propose can first give back what stands in its own way, and what only
// ever makes a holder more careful: the highest token, ids seen, the greatest reading. s is unchanged.
func (s State) Void() State {
	void := State{Now: s.Now, Token: s.Token, Seq: s.Seq, Others: slices.Clone(s.Others),
		Proposed: maps.Clone(s.Proposed), Leases: maps.Clone(s.Leases)}
	for id, p := range void.Proposed {
		if p == nil {
			delete(void.Proposed, id)
			continue
		}
		voided := *p
		voided.Reading, voided.Void = nil, true
		void.Proposed[id] = &voided
	}
	for id, held := range void.Leases {
		if held == nil {
			delete(void.Leases, id)
			continue
		}
		voided := *held
		voided.Basis, voided.Renewed, voided.Late, voided.Void = nil, nil, false, true
		void.Leases[id] = &voided
	}
	return void
}

// Leftover are the leases and proposals that void notes name on a subject and that were not given back: they are
// to be released and withdrawn before anything new is proposed there (SPEC 7).
func (h *Holder) Leftover(subject Subject) (leases, proposals []string) {
	leases = h.pick(func(held *Held) bool {
		return held.Void && held.Release != Done && held.Lapsed == "" && held.Subject.Text() == subject.Text()
	})
	for _, id := range h.Open(subject) {
		if h.State.Proposed[id].Void {
			proposals = append(proposals, id)
		}
	}
	return leases, proposals
}
