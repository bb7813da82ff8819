package judge

import (
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
)

// Why a proposal is refused (SPEC 8, Admission).
const (
	RefusedSubject = "subject" // nothing is granted on it
	RefusedHolder  = "holder"  // not to this holder
	RefusedShort   = "short"   // the duration is under twice the cadence plus the tolerance
	RefusedLimit   = "limit"   // the holder has as many leases as it may
	RefusedStale   = "stale"   // read after a gap: it may be an old one
	RefusedBusy    = "busy"    // no slot is free
)

// proposalRead queues a proposal that is to be answered, or takes one back.
func (j *Judge) proposalRead(s *source, author string, f lease.Fact) verdict {
	if len(f.Proposal) > maxID {
		return verdict{reason: fmt.Sprintf("a proposal id over %d bytes is not answered", maxID)}
	}
	if f.Withdrawn {
		j.withdrawn(author, f.Proposal)
		return verdict{}
	}
	h := j.ledger.holders[author]
	if h == nil {
		h = &holder{}
	}
	if _, settled := h.answer(f.Proposal); settled || h.queuedAt(f.Proposal) >= 0 {
		return verdict{}
	}
	q, wanted := j.admission(s, f)
	if !wanted {
		return verdict{}
	}
	if len(h.Queue) >= maxQueued {
		return verdict{leave: true}
	}
	j.ledger.enqueue(author, q)
	j.holders.add(author)
	j.observed, j.dirtied = true, true
	return verdict{}
}

// admission decides what can be decided of a proposal when it is read; false: it is not the judge's to
// answer.
func (j *Judge) admission(s *source, f lease.Fact) (queued, bool) {
	if j.cfg.Rules == nil {
		return queued{}, false
	}
	q := queued{Proposal: f.Proposal, Subject: f.Subject, Ask: f.Duration}
	rule, known := j.cfg.Rules.Rule(f.Subject)
	switch {
	case !known || len(f.Subject.Text()) > maxSubject:
		q.Refuse, q.Subject = RefusedSubject, lease.Subject{}
	case !rule.Answer:
		return q, false
	case s.stale:
		q.Refuse = RefusedStale
	}
	return q, true
}

// withdrawn takes a proposal back: it is never answered, and a lease that answers it is released.
func (j *Judge) withdrawn(holder, proposal string) {
	j.settle(holder, answered{Proposal: proposal, Withdrawn: true})
	j.observed = true
	if e := j.ledger.answering(holder, proposal); e != nil {
		j.releasedBy(e)
	}
}

// refusal is why the terms are not granted, if they are not. It fills in what the rule gives.
func (g *granting) refusal(t *Terms) (string, *Busy, error) {
	j := g.judge
	rule, known := j.cfg.Rules.Rule(t.Subject)
	switch {
	case !known || len(t.Subject.Text()) > maxSubject:
		return RefusedSubject, nil, nil
	case t.Holder == j.cfg.Grantor || rule.Holder != nil && !rule.Holder(t.Holder):
		return RefusedHolder, nil, nil
	}
	duration, err := j.within(rule, t)
	if err != nil {
		return "", nil, err
	}
	if duration < 2*j.ledger.cadence+j.ledger.tolerance {
		return RefusedShort, nil, nil
	}
	if rule.Limit > 0 && g.heldUnder(rule, t.Holder) >= rule.Limit {
		return RefusedLimit, nil, nil
	}
	if busy := g.busy(rule.Slots, t.Subject); busy != nil {
		return RefusedBusy, busy, nil
	}
	return "", nil, nil
}

// within settles the duration: the smaller of what is asked and the longest, or what is granted unasked.
func (j *Judge) within(rule Rule, t *Terms) (int64, error) {
	u := j.ledger.units
	t.fillIn(rule)
	duration, err := u.Count(t.Duration)
	if err != nil {
		return 0, err
	}
	if rule.Longest.IsZero() {
		rule.Longest = rule.Duration
	}
	longest, err := u.Count(rule.Longest)
	if err != nil {
		return 0, err
	}
	if duration > longest {
		t.Duration, duration = rule.Longest, longest
	}
	return duration, nil
}

// heldUnder counts a holder's live leases under an entry.
func (g *granting) heldUnder(rule Rule, name string) int {
	count := g.granted[[2]string{rule.Name, name}]
	for e := range g.judge.ledger.ofHolder(name) {
		if r, known := g.judge.cfg.Rules.Rule(g.judge.ledger.subjectOf(e)); known && r.Name == rule.Name {
			count++
		}
	}
	return count
}

// busy is who is in the way when no slot of a subject is free. Every lease that has not left counts.
func (g *granting) busy(slots int, subject lease.Subject) *Busy {
	if slots == 0 {
		return nil
	}
	l, text := g.judge.ledger, subject.Text()
	fresh, count, first := g.taken[text], 0, (*live)(nil)
	for e := range l.onSubject(text) {
		if count++; first == nil || l.byID(e, first) < 0 {
			first = e
		}
	}
	switch {
	case count+len(fresh) < slots:
		return nil
	case first != nil:
		return &Busy{Subject: text, Lease: l.idOf(first), Holder: l.heldBy(first)}
	}
	return &Busy{Subject: text, Lease: fresh[0].Lease, Holder: fresh[0].Holder}
}
