package judge_test

import (
	"context"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// A medium, as a simulated judge's process has it, is three things around a memory: what lands is noted
// (tracked), faults are ordered (stream.Faulty), the process may be dead (mortal), and what it tries and is
// handed is noted (observed).

// tracked notes what a judge's appends have really left on the medium.
type tracked struct {
	*stream.Memory
	s    *sim
	name string
	life *life
}

func (m *tracked) Append(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
	done, err := m.Memory.Append(ctx, how, values...)
	return done, m.landed(how, values, err)
}

func (m *tracked) landed(how stream.How, values [][]byte, err error) error {
	if err == nil && len(values) > 0 {
		m.s.landed(m, how.Sync, values)
	}
	return err
}

func (m *tracked) Hold(ctx context.Context) (stream.Appender, func(), error) {
	under, release, err := m.Memory.Hold(ctx)
	return appender(func(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
		done, err := under.Append(ctx, how, values...)
		return done, m.landed(how, values, err)
	}), release, err
}

func (m *tracked) Rewrite(ctx context.Context, expect stream.Cursor, values stream.Values) (stream.Cursor, error) {
	lines := judge.Taken(values)
	end, err := m.Memory.Rewrite(ctx, expect, stream.ValuesOf(lines...))
	if err == nil {
		m.s.disk.lines = nil
		m.s.landed(m, true, lines)
	}
	return end, err
}

// observed notes what a judge tries to append to its ledger, and what it is handed of the others.
type observed struct {
	*mortal
	s    *sim
	name string
}

func (o *observed) Append(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
	if o.name == "ledger" && !o.life.ended {
		o.s.tries(o.life, values)
	}
	return o.mortal.Append(ctx, how, values...)
}

func (o *observed) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	if o.name == "ledger" || o.life.ended || o.life != o.s.life {
		return o.mortal.Read(ctx, from, most, yield)
	}
	o.s.midway()
	o.s.reading(o.name)
	answer := o.mortal.Read(ctx, from, most, func(v stream.Value) bool {
		if !yield(v) {
			return false
		}
		o.s.handed(o.name, v)
		return true
	})
	o.s.answered(o.name, answer.State)
	return answer
}

// notified is one that says by itself when there is something new.
type notified struct {
	*observed
	stream.Notifier
}

// dress is a medium as this process has it.
func (s *sim) dress(name string, l *life) stream.Medium {
	faulty := stream.NewFaulty(&tracked{s.media[name], s, name, l}, s.scripts[name])
	counts := name == "ledger" || name == grantor
	o := &observed{&mortal{Medium: faulty, life: l, script: s.scripts[name], counts: counts}, s, name}
	if s.polled || counts {
		return o
	}
	return notified{o, faulty.(stream.Notifier)}
}

// midway lets happen what is to happen before this read of the pass.
func (s *sim) midway() {
	s.reads++
	for len(s.mids) > 0 && s.mids[0].at <= s.reads {
		do := s.mids[0].do
		s.mids = s.mids[1:]
		do()
	}
}
