package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// life is that of a judge's process. It ends at one of its appends to the ledger or the grantor's stream:
// before that, after it, or in the middle of it.
type life struct {
	left  int
	how   stream.AppendFault // Lost, Unanswered or Torn
	ended bool
}

var errDead = errors.New("the process has been killed")

// append is one append of a living process.
func (l *life) append(values [][]byte, script *stream.Script, do func() (stream.Appended, error)) (stream.Appended, error) {
	if l.ended {
		return stream.Appended{}, fmt.Errorf("%w: %w", stream.ErrTransport, errDead)
	}
	if len(values) > 0 {
		if l.left--; l.left == 0 {
			l.ended = true
			script.Append(l.how)
		}
	}
	return do()
}

// mortal is a medium as a process has it that will be killed.
type mortal struct {
	stream.Medium
	life   *life
	script *stream.Script
	counts bool
}

func (m *mortal) Append(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
	return m.through(ctx, m.Medium, how, values)
}

func (m *mortal) through(ctx context.Context, to stream.Appender, how stream.How, values [][]byte) (stream.Appended, error) {
	counted := values
	if !m.counts {
		counted = nil
	}
	return m.life.append(counted, m.script, func() (stream.Appended, error) { return to.Append(ctx, how, values...) })
}

func (m *mortal) Hold(ctx context.Context) (stream.Appender, func(), error) {
	if m.life.ended {
		return nil, nil, errDead
	}
	under, release, err := m.Medium.Hold(ctx)
	return appender(func(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
		return m.through(ctx, under, how, values)
	}), release, err
}

func (m *mortal) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	if m.life.ended {
		return stream.Answer{State: stream.Transport, Cursor: from, Err: errDead}
	}
	return m.Medium.Read(ctx, from, most, yield)
}

func (m *mortal) Size(ctx context.Context) (int64, error) {
	return m.Medium.(stream.Rewriter).Size(ctx)
}

func (m *mortal) Rewrite(ctx context.Context, expect stream.Cursor, values stream.Values) (stream.Cursor, error) {
	var end stream.Cursor
	lines := judge.Taken(values)
	_, err := m.life.append(lines, m.script, func() (_ stream.Appended, err error) {
		end, err = m.Medium.(stream.Rewriter).Rewrite(ctx, expect, stream.ValuesOf(lines...))
		return stream.Appended{}, err
	})
	return end, err
}

// mortally makes the world's next judges ones that live that long.
func (s *schedule) mortally(l *life) {
	watched := s.around
	s.around = func(name string, m stream.Medium) stream.Medium {
		return &mortal{Medium: watched(name, m), life: l, script: s.scripts[name], counts: name == "ledger" || name == grantor}
	}
	living := s.hooks.do
	s.hooks.do = func(t judge.Task) (judge.Progress, error) {
		if l.ended {
			return judge.Running, nil // there is nobody any more whom it could report to
		}
		return living(t)
	}
}

// mourn has the next judge take over with living media.
func (s *schedule) mourn(around func(string, stream.Medium) stream.Medium, do func(judge.Task) (judge.Progress, error)) {
	s.around, s.hooks.do = around, do
	s.again()
}

// TestKilledAtAnyAppend tells the same short story again and again, and kills the judge at each of its
// appends. The checks of a schedule hold over both lives: pending is on disk before a procedure is asked, no
// procedure is asked after its success, success before lapsed, one lapsed a lease, and no lease lost.
func TestKilledAtAnyAppend(t *testing.T) {
	for _, how := range []stream.AppendFault{stream.Lost, stream.Unanswered, stream.Torn} {
		for at := 2; ; at++ {
			survived := false
			t.Run(fmt.Sprint(how, "/", at), func(t *testing.T) { survived = killedAt(t, at, how) })
			if survived || t.Failed() {
				break
			}
		}
	}
}

// killedAt tells the story; true: the judge got through.
func killedAt(t *testing.T, at int, how stream.AppendFault) bool {
	s := &schedule{world: newWorld(t, "a", "b"), rand: rand.New(rand.NewPCG(uint64(at), 2))}
	s.cfg.Rules, s.cfg.Retention = freely(), 1500
	s.around, s.hooks.do = s.watch, s.procedure
	around, do := s.around, s.hooks.do
	l := &life{left: at, how: how}
	s.mortally(l)
	s.start()
	story := []func(){
		func() { s.propose("a", "p1", "/one"); s.propose("b", "p2", "/two") },
		func() { s.grant("H", "/three", "b", 30) },
		func() { s.release("b", "H"); s.propose("a", "p3", "/three") },
		func() { s.renew("a", "L1"); s.write("policy", `{"daolease/revoke":"L2"}`) },
		func() { s.propose("b", "p4", "/two") },
		func() {},
	}
	for i, happens := range story {
		happens()
		s.tick(int64(10 * (i + 1)))
		s.pass()
		if l.ended {
			s.mourn(around, do)
		}
	}
	if !l.ended {
		return true
	}
	s.hooks.do = nil
	for _, r := range s.judge.Rows() {
		s.judge.Revoke(r.Lease, "the end", false)
	}
	s.okAt(200)
	s.wantLive()
	s.wantOneRecordEach()
	for _, f := range s.of(lease.Grant) {
		s.wantLapsed(f.Lease)
	}
	answers := map[string]int{}
	for _, f := range s.facts(grantor) {
		if f.Kind == lease.Grant || f.Kind == lease.Refusal {
			answers[f.Proposal]++
		}
	}
	for _, p := range []string{"p1", "p2", "p3", "p4"} {
		if answers[p] != 1 {
			t.Errorf("%s has %d answers", p, answers[p])
		}
	}
	return false
}

func (s *schedule) wantLapsed(id string) {
	s.t.Helper()
	for _, f := range s.of(lease.Lapsed) {
		if f.Lease == id {
			return
		}
	}
	s.t.Errorf("lease %s was granted, and no lapsed is there", id)
}

func TestKilledAtRandomInARandomLife(t *testing.T) {
	for seed := range lives(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSchedule(t, seed, false)
			around, do := s.around, s.hooks.do
			faults := []stream.AppendFault{stream.Lost, stream.Unanswered, stream.Torn}
			for range 5 {
				l := &life{left: 2 + s.rand.IntN(12), how: faults[s.rand.IntN(3)]}
				s.mortally(l)
				if s.begin() == nil {
					for range 8 {
						if s.round(); l.ended {
							break
						}
					}
				}
				s.mourn(around, do)
				s.wantReplayed()
			}
		})
	}
}
