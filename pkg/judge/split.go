package judge

import (
	"maps"
	"slices"

	"github.com/daolease/daolease/pkg/stream"
)

// split cuts a delta into several that carry the same in the same order, none much longer than one line
// may be. Most are small and stay whole.
func (d *delta) split() []*delta {
	if d.weight() <= lineBytes {
		return []*delta{d}
	}
	return d.cutUp()
}

// cutUp does so in any case. The first part is what is neither a list nor a map.
func (d *delta) cutUp() []*delta {
	head := *d
	head.Cursors, head.Known, head.Holders = nil, nil, nil
	head.Seen, head.Entries, head.Unknown, head.Renewed, head.Released, head.Recorded = nil, nil, nil, nil, nil, nil
	head.Succeeded, head.Left, head.Revoked, head.Pending, head.Attempts, head.Mixed = nil, nil, nil, nil, nil, nil
	parts := []*delta{&head}
	add := func(part *delta) { part.At = d.At; parts = append(parts, part) }

	cutMap(d.Cursors, func(_ string) int { return 600 }, func(m map[string]stream.Cursor) { add(&delta{Cursors: m}) })
	cutMap(d.Known, knownWeight, func(m map[string]string) { add(&delta{Known: m}) })
	cut(d.Seen, idWeight, func(s []string) { add(&delta{Seen: s}) })
	cut(d.Entries, (*Entry).weight, func(s []*Entry) { add(&delta{Entries: s}) })
	cut(d.Renewed, idWeight, func(s []string) { add(&delta{Renewed: s}) })
	cut(d.Unknown, idWeight, func(s []string) { add(&delta{Unknown: s}) })
	cut(d.Released, idWeight, func(s []string) { add(&delta{Released: s}) })
	cut(d.Recorded, idWeight, func(s []string) { add(&delta{Recorded: s}) })
	cut(d.Revoked, func(r revoked) int { return len(r.Lease) + len(r.Reason) + 64 }, func(s []revoked) { add(&delta{Revoked: s}) })
	small, large := d.Holders.apart()
	cutMap(small, func(n string) int { return small[n].weight() + len(n) }, func(m map[string]*holder) { add(&delta{Holders: m}) })
	for _, name := range sortedKeys(large) {
		for _, h := range large[name].split() {
			add(&delta{Holders: holders{name: h}})
		}
	}
	cut(d.Mixed, func(m mixedFact) int { return len(m.Lease) + len(m.Medium) + 32 }, func(s []mixedFact) { add(&delta{Mixed: s}) })
	cut(d.Pending, func(c caused) int { return len(c.Lease) + 64 }, func(s []caused) { add(&delta{Pending: s}) })
	cut(d.Attempts, func(a attempt) int { return len(a.Lease) + len(a.Error) + 96 }, func(s []attempt) { add(&delta{Attempts: s}) })
	cut(d.Succeeded, idWeight, func(s []string) { add(&delta{Succeeded: s}) })
	cut(d.Left, idWeight, func(s []string) { add(&delta{Left: s}) })
	return parts
}

// weight is about how many bytes the delta takes when written, never much less.
func (d *delta) weight() int {
	total := 512 + 64*len(d.Stalls) + 600*len(d.Cursors) + 128*len(d.Known)
	for _, ids := range [...][]string{d.Seen, d.Unknown, d.Renewed, d.Released, d.Recorded, d.Succeeded, d.Left} {
		for _, id := range ids {
			total += idWeight(id)
		}
	}
	for _, e := range d.Entries {
		total += e.weight()
	}
	for name, h := range d.Holders {
		total += len(name) + h.weight()
	}
	for _, r := range d.Revoked {
		total += len(r.Lease) + len(r.Reason) + 64
	}
	for _, a := range d.Attempts {
		total += len(a.Lease) + len(a.Error) + 96
	}
	for _, c := range d.Pending {
		total += len(c.Lease) + 64
	}
	for _, m := range d.Mixed {
		total += len(m.Lease) + len(m.Medium) + 32
	}
	return total
}

// weight is about how many bytes a snapshot of the ledger takes.
func (l *ledger) weight(base string) int64 {
	total := l.snapshotHead(base).weight()
	for e := range l.all() {
		total += leastEntry + int(e.lens[textLease]+e.lens[textHolder]+e.lens[textProposal]+e.lens[textSubject])
	}
	return int64(total)
}

// leastEntry is about what a lease takes without its texts.
const leastEntry = 400

func (e *Entry) weight() int {
	total := leastEntry + len(e.Lease) + len(e.Holder) + len(e.Proposal) + len(e.Reason) + len(e.LastError) + len(e.Subject.JSON())
	for _, m := range e.Registered {
		total += len(m) + 4
	}
	return total
}

func (h *holder) weight() int {
	total := 64
	for _, q := range h.Queue {
		total += q.weight()
	}
	for _, a := range h.Answered {
		total += a.weight()
	}
	return total
}

func (q queued) weight() int {
	return len(q.Proposal) + len(q.Subject.JSON()) + len(q.Refuse) + 96
}

func (a answered) weight() int { return len(a.Proposal) + 64 }

// apart tells the holders that fit into a line with others from those of whom too much is remembered.
func (h holders) apart() (small, large holders) {
	small, large = holders{}, holders{}
	for name, one := range h {
		if one.weight() > lineBytes {
			large[name] = one
		} else {
			small[name] = one
		}
	}
	return small, large
}

// split cuts what is remembered of one holder into parts that continue one another.
func (h *holder) split() []*holder {
	parts := []*holder{{}}
	add := func(part *holder) { part.More = true; parts = append(parts, part) }
	cut(h.Queue, queued.weight, func(q []queued) { add(&holder{Queue: q}) })
	cut(h.Answered, answered.weight, func(a []answered) { add(&holder{Answered: a}) })
	return parts
}

func knownWeight(string) int { return 128 }

func idWeight(id string) int { return len(id) + 8 }

// cut hands out runs of a list, each of about lineBytes and at least one long.
func cut[T any](list []T, weight func(T) int, add func([]T)) {
	for from := 0; from < len(list); {
		to, total := from, 0
		for to < len(list) && (to == from || total+weight(list[to]) <= lineBytes) {
			total += weight(list[to])
			to++
		}
		add(list[from:to])
		from = to
	}
}

func cutMap[V any](m map[string]V, weight func(string) int, add func(map[string]V)) {
	cut(sortedKeys(m), weight, func(keys []string) {
		part := make(map[string]V, len(keys))
		for _, k := range keys {
			part[k] = m[k]
		}
		add(part)
	})
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
