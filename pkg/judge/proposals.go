package judge

import (
	"cmp"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
)

// holder is what is remembered of one holder's proposals.
type holder struct {
	Queue    []queued   `json:"queue,omitempty"`
	Answered []answered `json:"answered,omitempty"`
	More     bool       `json:"more,omitempty"` // in the journal: this continues what stood before

	newest int64 // token of the last answer that was a grant; of this incarnation, and not kept
}

// queued is a proposal that the judge is to answer.
type queued struct {
	Proposal string         `json:"proposal"`
	Subject  lease.Subject  `json:"subject,omitzero"`
	Ask      lease.Duration `json:"ask,omitzero"`
	Refuse   string         `json:"refuse,omitempty"` // decided already: the reason
}

// answered is the id of a proposal that is not answered any more: it was, or it was withdrawn, or both.
type answered struct {
	Proposal  string `json:"proposal"`
	Answered  bool   `json:"answered,omitempty"`
	Withdrawn bool   `json:"withdrawn,omitempty"`
}

// holderOf is what is remembered of a holder, made when there is nothing yet.
func (l *ledger) holderOf(name string) *holder {
	h := l.holders[name]
	if h == nil {
		h = &holder{}
		l.holders[name] = h
	}
	return h
}

// answer looks up whether a holder's proposal was answered or withdrawn.
func (l *ledger) answer(name, proposal string) (answered, bool) {
	if h := l.holders[name]; h != nil {
		return h.answer(proposal)
	}
	return answered{}, false
}

// inTurn are the holders whose proposals wait, those granted nothing or the longest ago first.
func (l *ledger) inTurn() []string {
	names := sortedKeys(l.asking)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(l.holders[a].newest, l.holders[b].newest) })
	return names
}

// enqueue has a proposal wait for its answer.
func (l *ledger) enqueue(name string, q queued) {
	h := l.holderOf(name)
	h.Queue = append(h.Queue, q)
	l.asking.add(name)
}

// settle notes that a holder's proposal wants no answer any more.
func (l *ledger) settle(name string, a answered) {
	h := l.holderOf(name)
	h.settle(a)
	if len(h.Queue) == 0 {
		delete(l.asking, name)
	}
}

// setHolder takes over what the journal says of a holder.
func (l *ledger) setHolder(name string, h *holder) {
	if old := l.holders[name]; h.More && old != nil {
		h = &holder{Queue: append(old.Queue, h.Queue...), Answered: append(old.Answered, h.Answered...)}
	}
	l.holders[name] = h
	delete(l.asking, name)
	if len(h.Queue) > 0 {
		l.asking.add(name)
	}
}

// queuedAt is the place of a proposal in the queue, or -1.
func (h *holder) queuedAt(proposal string) int {
	return slices.IndexFunc(h.Queue, func(q queued) bool { return q.Proposal == proposal })
}

// answer looks up whether a proposal was answered or withdrawn.
func (h *holder) answer(proposal string) (answered, bool) {
	i := slices.IndexFunc(h.Answered, func(a answered) bool { return a.Proposal == proposal })
	if i < 0 {
		return answered{}, false
	}
	return h.Answered[i], true
}

// settle notes that a proposal wants no answer any more.
func (h *holder) settle(a answered) {
	if i := h.queuedAt(a.Proposal); i >= 0 {
		h.Queue = slices.Delete(h.Queue, i, i+1)
	}
	if i := slices.IndexFunc(h.Answered, func(b answered) bool { return b.Proposal == a.Proposal }); i >= 0 {
		b := &h.Answered[i]
		b.Answered, b.Withdrawn = b.Answered || a.Answered, b.Withdrawn || a.Withdrawn
		return
	}
	h.Answered = append(h.Answered, a)
	if len(h.Answered) > maxAnswered {
		h.Answered = slices.Delete(h.Answered, 0, 1)
	}
}
