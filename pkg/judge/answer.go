package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// maxAnswers is how many proposals of one holder one pass answers (SPEC 8, Admission).
const maxAnswers = 16

// ErrMistaken is a grant that the judge would find inadmissible, or that the terms do not allow.
var ErrMistaken = errors.New("not granted")

// Busy is a grant for which no slot is free.
type Busy struct {
	Subject       string
	Lease, Holder string // in the way
}

// Error names the holder in the way.
func (b *Busy) Error() string {
	return fmt.Sprintf("no slot of %q is free: %s holds lease %s", b.Subject, b.Holder, b.Lease)
}

// Terms are a grant to make.
type Terms struct {
	Subject  lease.Subject
	Holder   string
	Duration lease.Duration // zero: as the rule says
	Max      lease.Duration // zero: as the rule says
	Proposal string         // the proposal that it answers
	Note     string
}

// answer is step 3. What cannot be answered now is tried again by the next pass.
func (j *Judge) answer(ctx context.Context) {
	if j.grantorFailed || j.report.Err != nil || j.ledger.lostGrants || len(j.ledger.asking) == 0 {
		return
	}
	err := j.underLock(ctx, func(under stream.Appender) error { return j.answerAll(ctx, under) })
	if err != nil {
		j.unwritten(fmt.Errorf("answering: %w", err))
	}
}

// errLate means that the grantor's stream has more to read than one pass may: nothing is written there now.
var errLate = errors.New("the grantor's stream could not be read to its end")

// underLock holds the append lock of the grantor's stream around fn, with that stream read to its end.
func (j *Judge) underLock(ctx context.Context, fn func(under stream.Appender) error) error {
	under, release, err := j.cfg.Facts.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := j.sole(ctx); err != nil {
		return err
	}
	for range maxRereads {
		if !j.drainGrantor(ctx) || j.grantorFailed {
			return nil // the next pass goes on
		}
		if err = fn(under); !isMoved(err) || errors.Is(err, errUsurped) {
			return err
		}
	}
	return nil // somebody writes there without the lock, faster than we read
}

// maxRereads is how often an append that found the stream moved is tried again in one pass.
const maxRereads = 4

// unwritten notes an append to the grantor's stream that did not answer ok. Without room it is tried again
// by the next pass; a machine that fails ends this one.
func (j *Judge) unwritten(err error) {
	if errors.Is(err, stream.ErrFull) || errors.Is(err, stream.ErrClosed) || errors.Is(err, errLate) {
		j.report.Failed = append(j.report.Failed, Failure{Medium: grantorName, Error: err.Error()})
		return
	}
	j.fail(err)
}

// answerAll answers the queued proposals, at most so many a holder, in one append. Of those who want the same,
// whoever was granted something last comes last.
func (j *Judge) answerAll(ctx context.Context, under stream.Appender) error {
	g, err := j.beginGranting(ctx)
	if err != nil {
		return err
	}
	for _, name := range j.ledger.inTurn() {
		queue := j.ledger.holders[name].Queue
		for _, q := range queue[:min(len(queue), maxAnswers)] {
			if err := g.decide(name, q); err != nil {
				return err
			}
		}
	}
	if err := g.append(ctx, under); err != nil {
		return err
	}
	for _, f := range g.facts {
		if f.Kind == lease.Refusal {
			j.report.Refused = append(j.report.Refused, f.Proposal)
			j.report.Refusals = append(j.report.Refusals, f)
		}
	}
	return nil
}

// granting is one batch of answers: what it has promised counts as taken.
type granting struct {
	judge   *Judge
	token   int64 // highest given
	first   int64 // highest before
	facts   []lease.Fact
	ids     set                     // of this batch
	taken   map[string][]lease.Fact // grants of this batch by subject
	granted map[[2]string]int       // of this batch, by rule and holder
}

func (j *Judge) beginGranting(ctx context.Context) (*granting, error) {
	g := &granting{judge: j, token: j.ledger.token, ids: set{}, taken: map[string][]lease.Fact{}, granted: map[[2]string]int{}}
	if j.cfg.Tokens != nil {
		highest, err := j.cfg.Tokens.Highest(ctx)
		if err != nil {
			return nil, fmt.Errorf("the highest token: %w", err)
		}
		g.token = max(g.token, highest)
	}
	g.first = g.token
	return g, nil
}

// decide answers one proposal with a grant or a refusal.
func (g *granting) decide(name string, q queued) error {
	terms := Terms{Subject: q.Subject, Holder: name, Duration: q.Ask, Proposal: q.Proposal}
	reason, busy := q.Refuse, (*Busy)(nil)
	if reason == "" {
		var err error
		if reason, busy, err = g.refusal(&terms); err != nil {
			return err
		}
	}
	if reason == "" {
		return g.grant(terms)
	}
	refusal := lease.RefusalTerms{Proposal: q.Proposal, Holder: name, Reason: reason}
	if busy != nil {
		refusal.By, refusal.HeldBy = busy.Lease, busy.Holder
	}
	f, err := lease.NewRefusal(g.judge.ledger.units, refusal)
	if err != nil {
		return err
	}
	g.facts = append(g.facts, f)
	return nil
}

// grant adds a grant to the batch, with the next token.
func (g *granting) grant(t Terms) error {
	id, err := g.freshID()
	if err != nil {
		return err
	}
	f, err := lease.NewGrant(g.judge.ledger.units, lease.GrantTerms{
		Lease: id, Subject: t.Subject, Holder: t.Holder, Duration: t.Duration, Max: t.Max,
		Proposal: t.Proposal, Token: g.token + 1, Note: t.Note,
	})
	if err != nil {
		return err
	}
	g.token++
	g.facts = append(g.facts, f)
	g.taken[t.Subject.Text()] = append(g.taken[t.Subject.Text()], f)
	if g.judge.cfg.Rules != nil {
		if rule, known := g.judge.cfg.Rules.Rule(t.Subject); known {
			g.granted[[2]string{rule.Name, t.Holder}]++
		}
	}
	return nil
}

// freshID is an id that no lease bears or bore, as far as is remembered.
func (g *granting) freshID() (string, error) {
	for range maxRereads {
		if id := g.judge.cfg.NewID(); !g.judge.ledger.known(id) && g.ids.add(id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("%w: all new ids are those of leases", ErrMistaken)
}

// append writes the batch, its highest token first, and enters it into the ledger.
func (g *granting) append(ctx context.Context, under stream.Appender) error {
	j := g.judge
	if len(g.facts) == 0 {
		return nil
	}
	if g.token > g.first && j.cfg.Tokens != nil {
		if err := j.cfg.Tokens.Raise(ctx, g.token); err != nil {
			return fmt.Errorf("raising the token: %w", err)
		}
	}
	values := make([][]byte, len(g.facts))
	for i, f := range g.facts {
		values[i] = f.Encode()
	}
	if err := j.appendAnswers(ctx, under, values); err != nil {
		return err
	}
	for _, f := range g.facts {
		if f.Kind != lease.Grant {
			j.settle(f.Holder, answered{Proposal: f.Proposal, Answered: true})
		} else if err := j.seed(f); err != nil {
			return err
		} else if h := j.ledger.holders[f.Holder]; h != nil {
			h.newest = f.Token
		}
	}
	j.observed = true
	return nil
}

// appendAnswers appends only where nothing follows what was read: a slot taken meanwhile must be seen first.
// Refusals alone are synced too. The ledger, once synced, knows a cursor behind them: without them a power
// loss would leave the grantor's stream shorter than that, which is a gap, and nothing is granted after one.
func (j *Judge) appendAnswers(ctx context.Context, under stream.Appender, values [][]byte) error {
	done, err := under.Append(ctx, stream.How{Sync: true, Expect: j.ledger.cursors[grantorName], Cursor: true}, values...)
	if err != nil {
		return err
	}
	j.ledger.setCursor(grantorName, done.Cursor)
	j.cursors.add(grantorName)
	j.dirtied = true
	return nil
}

func isMoved(err error) bool { return errors.Is(err, stream.ErrMoved) }
