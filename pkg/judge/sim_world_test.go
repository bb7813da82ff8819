package judge_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// sim is one simulated composition, with a model of it that is told of every append and every read, and asks
// the judge nothing.
type sim struct {
	*world
	*model
	seed    uint64
	trace   func(format string, args ...any)
	failure string

	now        int64 // the true reading: ticks tell the judge, holders see it
	stampFails int   // so many of the next second ticks cannot be had
	enough     int   // rounds after which a drain of holders' media has read enough; 0: any number
	rounds     int
	mids       []mid // what happens in the middle of a pass
	reads      int   // of this pass

	life        *life // of the judge's process
	boot        int
	incarnation uint64
	mixed       []string
	down        bool // the resolver cannot tell now
	polled      bool // holders' media do not notify
	party       map[string]*lease.Holder
	asked       map[string]int  // how often a procedure was asked for
	spoiled     map[string]bool // media of which lines may be skipped
	torn        bool            // the grantor's stream may end in an unfinished line
	lostTail    bool            // of the ledger, by the reboot before this process
	byHand      int             // grants written by hand
	proposals   int
	calm        bool // the end of the life: procedures succeed
}

// mid is something that happens right before the n-th read of a pass.
type mid struct {
	at int
	do func()
}

var simHolders = []string{"a", "b", "c"}

func newSim(t *testing.T, seed uint64) *sim {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &sim{seed: seed, now: 1, party: map[string]*lease.Holder{}, asked: map[string]int{}, spoiled: map[string]bool{}}
	s.mixed = []string{"m1", "m2"}[:min(2, r.IntN(5))]
	s.world = newWorld(t, append(append([]string{}, simHolders...), s.mixed...)...)
	s.model = newModel()
	for _, name := range append([]string{"ticks"}, s.holders...) {
		if r.IntN(4) == 0 {
			s.media[name] = stream.NewMemory(name, stream.MemoryCapacity(300+r.Int64N(600)))
		}
	}
	for _, name := range simHolders {
		s.party[name] = lease.NewHolder(name, grantor, lease.DefaultUnits(), lease.State{})
		s.look(s.party[name]) // without a look before its grant a holder may reckon the cap from too late
	}
	c := &s.cfg
	s.cadence, s.tolerance = 5+r.Int64N(8), r.Int64N(3)*r.Int64N(6)
	c.Cadence, c.Tolerance, c.Resolver = ms(s.cadence), ms(s.tolerance), simResolver{s}
	s.slots = r.IntN(3)
	rule := freely()
	rule.Slots, rule.Duration, rule.Max = s.slots, ms(2*s.cadence+s.tolerance+r.Int64N(40)), lease.Duration{}
	if r.IntN(3) == 0 {
		rule.Max = ms(40 + r.Int64N(100))
	}
	c.Rules, c.Parallel = rule, r.IntN(4)
	c.Retry = judge.Retry{Initial: r.Int64N(4), Max: 15}
	if r.IntN(2) == 0 {
		c.Retention = 2000 + r.Int64N(8000)
	}
	if r.IntN(2) == 0 {
		c.DrainBudget = 4 + r.IntN(6)
	}
	if r.IntN(4) == 0 {
		s.enough = 1 + r.IntN(3)
		c.Draining = func() { s.rounds = 0 }
		c.Enough = func() bool { s.rounds++; return s.enough > 0 && s.rounds >= s.enough }
	}
	if s.stamped = r.IntN(2) == 0; s.stamped {
		c.Stamp = s.stamp
	}
	c.Hinted, s.polled = r.IntN(3) == 0, r.IntN(2) == 0
	return s
}

// stamp is the adapter's second tick.
func (s *sim) stamp(context.Context) error {
	if s.stampFails > 0 {
		s.stampFails--
		return errors.New("no second tick")
	}
	s.now += int64(s.reads % 2)
	s.tick(s.now)
	return nil
}

func (s *sim) fail(format string, args ...any) {
	if s.failure == "" {
		s.failure = fmt.Sprintf(format, args...)
	}
}

func (s *sim) say(format string, args ...any) {
	if s.trace != nil {
		s.trace("%6d  "+format, append([]any{s.now}, args...)...)
	}
}

// draw is a number that depends on the life and on what it is for, and on nothing that happened before.
func (s *sim) draw(what string, n int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, what, n)
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// simResolver tells authors on mixed-author media by a member, unless it is down.
type simResolver struct{ s *sim }

func (r simResolver) Sole(medium string) (string, bool) { return signed(r.s.mixed).Sole(medium) }

func (r simResolver) Author(ctx context.Context, medium string, v stream.Value) (string, error) {
	if _, sole := r.Sole(medium); !sole && r.s.down {
		return "", lease.ErrUnresolved
	}
	return signed(r.s.mixed).Author(ctx, medium, v)
}

// simProcedures take resources back for one process: they succeed, fail, or take several passes, as drawn for each
// attempt.
type simProcedures struct {
	s    *sim
	life *life
	runs map[string]string // subject to the lease whose procedure runs
}

func (p *simProcedures) Reclaim(_ context.Context, t judge.Task) (judge.Progress, error) {
	s, on := p.s, t.Subject.Text()
	running := p.runs[on] == t.Lease
	switch {
	case p.life.ended || s.failure != "":
		return judge.Running, nil
	case p.life != s.life && running: // it may report: that must have no effect
		return judge.Done, nil
	case p.life != s.life:
		s.fail("a usurped judge asks for a procedure of %s", t.Lease)
	case !running:
		p.mayStart(t)
		if p.life.left--; p.life.left == 0 {
			p.life.ended = true // killed right before it starts
			return judge.Running, nil
		}
	}
	delete(p.runs, on)
	s.asked[t.Lease]++
	how := s.draw(t.Lease, s.asked[t.Lease]).IntN(6)
	switch {
	case how == 0 && !s.calm:
		s.say("procedure of %s fails", t.Lease)
		return judge.Failed, errors.New("no luck")
	case how < 3 && !s.calm:
		p.runs[on] = t.Lease
		return judge.Running, nil
	}
	s.say("procedure of %s (%s) is done", t.Lease, t.Cause)
	s.leases[t.Lease].done = true
	return judge.Done, nil
}

// mayStart holds the start of a procedure against what is on the ledger's medium, synced.
func (p *simProcedures) mayStart(t judge.Task) {
	s := p.s
	on, l := s.disk.synced[t.Lease], s.leases[t.Lease]
	switch now := s.disk.whole[t.Lease]; {
	case l == nil:
		s.fail("a procedure for %s, which was never granted", t.Lease)
	case on.cause == "":
		s.fail("the procedure of %s starts before its pending is on disk", t.Lease)
	case on.cause != t.Cause || l.cause != t.Cause:
		s.fail("the procedure of %s is told %s, on disk is %s, concluded was %s", t.Lease, t.Cause, on.cause, l.cause)
	case now.succeeded:
		s.fail("the procedure of %s starts again after its success was on disk", t.Lease)
	case p.runs[t.Subject.Text()] != "":
		s.fail("procedures of %s and %s overlap on %s", t.Lease, p.runs[t.Subject.Text()], t.Subject.Text())
	case !t.ByHand:
		p.hitsNobody(l)
	}
}

// hitsNobody: a lease that was recorded is not taken from the one who was granted its only slot afterwards.
func (p *simProcedures) hitsNobody(l *simLease) {
	if p.s.slots != 1 || l.lapsed == 0 || p.s.grantorLost {
		return
	}
	for _, id := range sorted(p.s.leases) {
		next := p.s.leases[id]
		later := next.subject == l.subject && next.proposal != "" && next.token > l.token
		if later && next.cause == "" && !next.gone() {
			p.s.fail("the procedure of %s takes %s from %s", l.id, l.subject, next.id)
		}
	}
}
