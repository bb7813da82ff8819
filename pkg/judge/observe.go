package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// grantorFact takes a fact of the grantor's stream in.
func (j *Judge) grantorFact(ctx context.Context, v stream.Value, f lease.Fact) verdict {
	author, err := j.cfg.Resolver.Author(ctx, grantorName, v)
	if err != nil {
		return verdict{leave: true}
	}
	if author != j.cfg.Grantor || author == lease.Nobody {
		return verdict{}
	}
	switch f.Kind {
	case lease.Grant:
		return verdict{reason: j.grantRead(f)}
	case lease.Refusal:
		return verdict{reason: j.refusalRead(f)}
	case lease.Lapsed:
		return verdict{reason: j.lapsedRead(f)}
	}
	return verdict{}
}

// grantRead seeds a lease from a grant on the stream. It answers why the grant is inadmissible.
func (j *Judge) grantRead(f lease.Fact) string {
	l := j.ledger
	switch {
	case l.known(f.Lease):
		return fmt.Sprintf("lease %q was granted before", f.Lease)
	case f.Token != 0 && f.Token <= l.token:
		return fmt.Sprintf("token %d is not above %d, which was drained", f.Token, l.token)
	case f.Token == 0 && l.lostGrants:
		return "a grant without a token, read after a gap"
	}
	if f.Proposal != "" {
		a, settled := l.answer(f.Holder, f.Proposal)
		if l.answering(f.Holder, f.Proposal) != nil || settled && a.Answered {
			return fmt.Sprintf("a second answer to proposal %q of %q", f.Proposal, f.Holder)
		}
	}
	if err := j.seed(f); err != nil {
		return err.Error()
	}
	return ""
}

// growth is room for what an entry gains while it lives, as it is written.
const growth = 64 << 10

// seed enters a grant, read or authored, into the ledger.
func (j *Judge) seed(f lease.Fact) error {
	l := j.ledger
	t := &Entry{
		Lease: f.Lease, Subject: f.Subject, Holder: f.Holder, Duration: f.Duration, Max: f.Max,
		Token: f.Token, Proposal: f.Proposal, TenureStart: j.stamp, LastObservation: j.stamp,
	}
	if t.weight() > lineBytes/2 {
		if text, err := json.Marshal(t); err != nil || len(text) > stream.MaxValue-growth {
			return errors.New("a grant too large to keep")
		}
	}
	e, err := l.put(t)
	if err != nil {
		return err
	}
	j.dirty.reborn(f.Lease)
	j.granted.add(e)
	j.mark(&j.dirty.entries, e)
	j.observed = true
	if f.Proposal != "" {
		a, settled := l.answer(f.Holder, f.Proposal)
		j.settle(f.Holder, answered{Proposal: f.Proposal, Answered: true})
		if settled && a.Withdrawn {
			j.releasedBy(e)
		}
	}
	return nil
}

// settle notes that a holder's proposal wants no answer any more.
func (j *Judge) settle(holder string, a answered) {
	if len(a.Proposal) > maxID {
		return
	}
	j.ledger.settle(holder, a)
	j.holders.add(holder)
	j.dirtied = true
}

func (j *Judge) refusalRead(f lease.Fact) string {
	name := f.Holder
	if name == "" {
		if name = j.proposer(f.Proposal); name == "" {
			return ""
		}
	}
	if a, settled := j.ledger.answer(name, f.Proposal); settled && a.Answered {
		return fmt.Sprintf("a second answer to proposal %q of %q", f.Proposal, name)
	}
	j.settle(name, answered{Proposal: f.Proposal, Answered: true})
	return ""
}

// proposer is the one holder with this proposal in its queue; none when there are several.
func (j *Judge) proposer(proposal string) string {
	found := ""
	for name := range j.ledger.asking {
		if j.ledger.holders[name].queuedAt(proposal) >= 0 {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// lapsedRead takes a record that the judge did not write itself. It ends nothing: the judge still reclaims.
func (j *Judge) lapsedRead(f lease.Fact) string {
	l := j.ledger
	e := l.find(f.Lease)
	_, departed := l.seen[f.Lease]
	switch {
	case departed || e != nil && e.Recorded:
		return fmt.Sprintf("lease %q was recorded as lapsed before", f.Lease)
	case e == nil:
		return ""
	}
	e.Recorded = true
	j.mark(&j.records, e)
	if l.first {
		j.depart(e) // read back from before the first judge: its tenure is over
	}
	return ""
}

// depart lets a lease leave the ledger.
func (j *Judge) depart(e *live) {
	id := j.ledger.idOf(e)
	j.ledger.leave(id)
	delete(j.running, e)
	j.left.add(id)
	j.dirtied = true
}

// holderFact takes a fact of a holder's medium in. What its author may not say leaves no trace.
func (j *Judge) holderFact(ctx context.Context, s *source, v stream.Value, f lease.Fact) verdict {
	if f.Kind != lease.Proposal && f.Kind != lease.Renewal && f.Kind != lease.Release {
		return verdict{}
	}
	author, leave := j.holderAt(ctx, s, v)
	if author == lease.Nobody {
		return verdict{leave: leave}
	}
	if f.Kind == lease.Proposal {
		return j.proposalRead(s, author, f)
	}
	if e := j.ledger.find(f.Lease); e != nil {
		return verdict{reason: j.evidence(s.name, author, e, f.Kind)}
	}
	return j.keep(s, v, author, f.Kind, f.Lease)
}

// renewalRead takes a renewal in by its lease alone: most lines are renewals.
func (j *Judge) renewalRead(ctx context.Context, s *source, v stream.Value, id []byte) verdict {
	author, leave := j.holderAt(ctx, s, v)
	if author == lease.Nobody {
		return verdict{leave: leave}
	}
	if e := j.ledger.heard(id); e != nil {
		return verdict{reason: j.evidence(s.name, author, e, lease.Renewal)}
	}
	return j.keep(s, v, author, lease.Renewal, string(id))
}

// holderAt is the holder who wrote a value, Nobody when it was none; leave says that this cannot be told now.
func (j *Judge) holderAt(ctx context.Context, s *source, v stream.Value) (author string, leave bool) {
	author, err := j.cfg.Resolver.Author(ctx, s.name, v)
	if err != nil || author == j.cfg.Grantor {
		return lease.Nobody, err != nil
	}
	return author, false
}

// evidence is a renewal or release of a live lease.
func (j *Judge) evidence(medium, author string, e *live, kind lease.Kind) string {
	l := j.ledger
	if author != l.heldBy(e) {
		return ""
	}
	if s := j.mixed[medium]; s != nil && l.register(e, medium) {
		j.dirty.mixed = append(j.dirty.mixed, mixedFact{l.idOf(e), medium})
	}
	j.observed, j.dirtied = true, true
	if kind == lease.Renewal {
		l.renew(e, j.stamp)
		j.renewed.add(e)
		j.mark(&j.renewals, e)
		return ""
	}
	if a, _ := l.answer(author, l.proposalOf(e)); a.Withdrawn && e.Released {
		return "" // it was the withdrawal that released it
	}
	if e.Released {
		return fmt.Sprintf("lease %q was released before", l.idOf(e))
	}
	j.releasedBy(e)
	return ""
}

// releasedBy marks a lease as given back by its holder.
func (j *Judge) releasedBy(e *live) {
	if !e.Released {
		j.ledger.release(e)
		j.released.add(e)
		j.mark(&j.releases, e)
	}
}

// register notes a mixed-author medium on which a fact of the lease's holder was read.
func (l *ledger) register(e *live, medium string) bool {
	if slices.Contains(l.rarely(e).Registered, medium) {
		return false
	}
	x := l.makeRare(e)
	x.Registered = append(x.Registered, medium)
	return true
}

// holderGap marks what a medium with a gap may have carried: the leases of its one author; of a mixed one
// those registered there, and those registered nowhere (SPEC 4).
func (j *Judge) holderGap(s *source) {
	s.stale = true
	j.carried(s, j.unknow)
}

// carriedBefore marks what a mixed medium may have carried of which no cursor is known: one that was detached and is
// there again, or is there late. Nobody can tell what stood there before its oldest line. A lease that this pass
// has entered is as young as that line. Of a medium with one author it is the owner's act to take it away.
func (j *Judge) carriedBefore(s *source) {
	if !s.mixed {
		return
	}
	j.carried(s, func(e *live) {
		if e.LastObservation < j.now {
			j.unknow(e)
		}
	})
}

// carried calls fn with every lease of which a medium may carry facts.
func (j *Judge) carried(s *source, fn func(*live)) {
	if !s.mixed {
		for e := range j.ledger.ofHolder(s.sole) {
			fn(e)
		}
		return
	}
	for e := range j.ledger.all() {
		if on := j.ledger.rarely(e).Registered; len(on) == 0 || slices.Contains(on, s.name) {
			fn(e)
		}
	}
}

func (j *Judge) unknow(e *live) {
	j.ledger.unknow(e, j.stamp)
	j.unknown.add(e)
	j.mark(&j.unknowns, e)
	j.observed = true
}
