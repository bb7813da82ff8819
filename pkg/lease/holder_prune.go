package lease

import (
	"cmp"
	"slices"
)

// kept is how many entries of each sort that no longer matter a state keeps, the newest. The judge remembers as
// many answered proposals of a holder (SPEC 6).
const kept = 256

// prune forgets the oldest of the leases that are past, of the answered proposals and of the open ones. Leases
// that are held, or will be once renewed, stay however many they are: the grantor's limit bounds them.
func (h *Holder) prune() {
	newest(h.State.Leases, func(held *Held) int64 { return held.Seq }, func(held *Held) bool {
		if held.ended(held.Lease) != nil {
			return true
		}
		bound, known := h.bound(held)
		return known && bound <= h.State.Now
	})
	seq := func(p *Proposed) int64 { return p.Seq }
	newest(h.State.Proposed, seq, func(p *Proposed) bool { return !p.open() })
	newest(h.State.Proposed, seq, (*Proposed).open)
}

// newest drops all but the newest of those entries that are of this sort.
func newest[E any](entries map[string]*E, seq func(*E) int64, sort func(*E) bool) {
	var ids []string
	for id, e := range entries {
		if sort(e) {
			ids = append(ids, id)
		}
	}
	if len(ids) <= kept {
		return
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(seq(entries[a]), seq(entries[b])) })
	for _, id := range ids[:len(ids)-kept] {
		delete(entries, id)
	}
}
