package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Conclusion is what a pass would conclude of one lease, and why.
type Conclusion struct {
	Lease   string        `json:"lease"`
	Subject lease.Subject `json:"subject"`
	Holder  string        `json:"holder"`
	Cause   lease.Cause   `json:"cause"`
	Why     string        `json:"why"`
	Pending bool          `json:"pending"` // concluded before, and not taken back yet
}

// Observe reads a ledger back without becoming its judge: nothing is written, and no incarnation begins. What
// it answers is a view: Conclude and the package function Grant are for it, Pass is not.
func Observe(ctx context.Context, cfg Config) (*Judge, error) {
	cfg.Media = unheard(cfg.Media)
	j, err := assemble(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Ledger == nil {
		j.ledger.first = true
		return j, nil
	}
	if _, err := j.load(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// unheard is the same media in a set of its own, so that a view takes no hint from a judge beside it.
func unheard(media *stream.Set) *stream.Set {
	own := stream.NewSet(nil)
	if media != nil {
		for _, name := range media.Names() {
			own.Add(name, struct{ stream.Medium }{media.Get(name)})
		}
	}
	return own
}

// viewRounds bounds how long a view reads on through media that are longer than a pass may read.
const viewRounds = 1 << 12

// Conclude drains all media into the view and answers what a pass at this reading would report of them, and
// what it would conclude. The reading counts only if it is above the newest tick; 0 stands for that tick.
func (j *Judge) Conclude(ctx context.Context, reading int64) (Report, []Conclusion) {
	j.pass = newPass()
	defer j.close()
	l := j.ledger
	l.pass++
	if err := j.drainTicks(ctx); err != nil {
		j.fail(err)
	}
	if reading > l.now || reading > 0 && !l.ticked {
		l.now, l.ticked, j.fresh = reading, true, true
	}
	j.report.Outcome = Idle
	if !l.ticked {
		j.fill(&j.report)
		return j.report, nil
	}
	j.now, j.stamp = l.now, l.now
	j.report.Outcome = j.drainView(ctx)
	var list []Conclusion
	if j.report.Outcome == OK {
		list = j.conclusions()
	}
	j.fill(&j.report)
	return j.report, list
}

// drainView drains until nothing is left, or the machine fails.
func (j *Judge) drainView(ctx context.Context) Outcome {
	for range viewRounds {
		clear(j.truncated)
		j.report.Truncated = nil
		whole := j.drainFacts(ctx)
		switch {
		case j.abort != nil:
			return Aborted
		case whole && len(j.again) == 0 || ctx.Err() != nil:
			return OK
		case whole && len(j.truncated) == 0:
			return OK // what is left cannot be read
		}
	}
	return Cut
}

func (j *Judge) conclusions() []Conclusion {
	list := []Conclusion{}
	l := j.ledger
	add := func(e *live, cause lease.Cause, why string) {
		list = append(list, Conclusion{l.idOf(e), l.subjectOf(e), l.heldBy(e), cause, why, e.Pending()})
	}
	for _, e := range slices.SortedFunc(maps.Keys(l.pending), l.byID) {
		add(e, e.Cause(), l.pendingWhy(e))
	}
	for _, c := range j.classify() {
		add(c.entry, c.cause, c.why)
	}
	return list
}

func (l *ledger) pendingWhy(e *live) string {
	x := l.rarely(e)
	switch {
	case e.Reclaimed:
		return "taken back; its lapsed is to be recorded"
	case x.LastError != "":
		return fmt.Sprintf("attempt %d: %s", x.Attempts, x.LastError)
	}
	return "its procedure has not reported"
}

// OpenProposal is a proposal that waits for an answer by the judge.
type OpenProposal struct {
	Proposal string         `json:"proposal"`
	Holder   string         `json:"holder"`
	Subject  lease.Subject  `json:"subject"`
	Ask      lease.Duration `json:"ask,omitzero"`
}

// Proposals are the proposals that the judge has read and not answered, by holder in order of arrival.
func (j *Judge) Proposals() []OpenProposal {
	list := []OpenProposal{}
	for _, name := range sortedKeys(j.ledger.asking) {
		for _, q := range j.ledger.holders[name].Queue {
			list = append(list, OpenProposal{q.Proposal, name, q.Subject, q.Ask})
		}
	}
	return list
}

// Answered says whether a holder's proposal wants no answer any more: it was answered, or taken back.
func (j *Judge) Answered(holder, proposal string) bool {
	_, settled := j.ledger.answer(holder, proposal)
	return settled
}

// Grant writes a grant beside the judge (SPEC 8, Slots and tokens): under the append lock of the grantor's
// stream it reads the ledger and everything after the ledger's cursor, and grants only what the judge would
// find admissible. Errors: Busy, ErrMistaken, ErrLost, ErrPlace, or an append that did not answer ok.
func Grant(ctx context.Context, cfg Config, t Terms) (lease.Fact, error) {
	under, release, err := cfg.Facts.Hold(ctx)
	if err != nil {
		return lease.Fact{}, err
	}
	defer release()
	j, err := Observe(ctx, cfg)
	if err != nil {
		return lease.Fact{}, err
	}
	return j.grantUnder(ctx, under, t)
}

// Grant grants from within the judge's own process, between passes. The lease enters the ledger at once and
// is stamped by the next pass.
func (j *Judge) Grant(ctx context.Context, t Terms) (lease.Fact, error) {
	under, release, err := j.cfg.Facts.Hold(ctx)
	if err != nil {
		return lease.Fact{}, err
	}
	defer release()
	if err := j.sole(ctx); err != nil {
		return lease.Fact{}, err
	}
	return j.grantUnder(ctx, under, t)
}

func (j *Judge) grantUnder(ctx context.Context, under stream.Appender, t Terms) (lease.Fact, error) {
	j.pass = newPass()
	j.now, j.stamp = j.ledger.now, j.ledger.now
	defer func() {
		j.carryOver()
		j.close()
	}()
	for range maxRereads {
		if err := j.readToEnd(ctx); err != nil {
			return lease.Fact{}, err
		}
		g, err := j.beginGranting(ctx)
		if err != nil {
			return lease.Fact{}, err
		}
		if err := g.check(&t); err != nil {
			return lease.Fact{}, err
		}
		if err := g.grant(t); err != nil {
			return lease.Fact{}, err
		}
		if err = g.append(ctx, under); !isMoved(err) {
			return g.facts[0], err
		}
	}
	return lease.Fact{}, fmt.Errorf("%w: others write to the grantor's stream without its lock", stream.ErrMoved)
}

// readToEnd drains the grantor's stream to its end, under its append lock.
func (j *Judge) readToEnd(ctx context.Context) error {
	for range viewRounds {
		whole := j.drainGrantor(ctx)
		if j.abort != nil {
			return j.abort
		}
		if j.ledger.lostGrants {
			return fmt.Errorf("%w: the grantor's stream has a gap, and nothing is granted until it is recovered", ErrLost)
		}
		if whole {
			return nil
		}
	}
	return errLate
}

// check is what stands against a grant by hand: slots, a second answer, terms that are none.
func (g *granting) check(t *Terms) error {
	j := g.judge
	if t.Holder == j.cfg.Grantor {
		return fmt.Errorf("%w: %q is the grantor, who holds nothing", ErrMistaken, t.Holder)
	}
	if len(t.Subject.Text()) > maxSubject {
		return fmt.Errorf("%w: a subject over %d bytes", ErrMistaken, maxSubject)
	}
	if t.Proposal != "" {
		if a, settled := j.ledger.answer(t.Holder, t.Proposal); settled {
			how := "was answered before"
			if a.Withdrawn {
				how = "was withdrawn"
			}
			return fmt.Errorf("%w: proposal %q of %q %s", ErrMistaken, t.Proposal, t.Holder, how)
		}
	}
	if j.cfg.Rules == nil {
		return nil
	}
	if rule, known := j.cfg.Rules.Rule(t.Subject); known {
		t.fillIn(rule)
		if busy := g.busy(rule.Slots, t.Subject); busy != nil {
			return busy
		}
	}
	return nil
}

// fillIn takes from the rule what the terms leave open.
func (t *Terms) fillIn(rule Rule) {
	if t.Max.IsZero() {
		t.Max = rule.Max
	}
	if t.Duration.IsZero() {
		t.Duration = rule.Duration
	}
}

// carryOver has what a grant between passes changed written, stamped and reported by the next pass.
func (j *Judge) carryOver() {
	j.newborn = append(j.newborn, j.granted.list...)
	j.aside.Dropped += j.report.Dropped
	j.aside.Drops = append(j.aside.Drops, j.report.Drops...)
	j.aside.Gaps = append(j.aside.Gaps, j.report.Gaps...)
	j.carry(j.changes())
}
