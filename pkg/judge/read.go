package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// roundValues is how many lines one medium is read before the next one's turn (SPEC 6).
const roundValues = 1024

// maxGaps is how many gaps one drain goes on through. More than that is a medium that changes faster than
// it can be read: the rest waits.
const maxGaps = 4

// verdict is what became of a fact.
type verdict struct {
	leave  bool   // it stays unread: the drain is cut short here
	reason string // it is inadmissible
}

// reading is one drain of one medium.
type reading struct {
	name   string // as reported
	key    string // among the cursors
	medium stream.Medium
	values int   // budget left
	bytes  int64 // budget left
	gaps   int
	onGap  func()
	onMint func() // reading begins at the oldest: no cursor is known
	take   func(v stream.Value, f lease.Fact) verdict
	lines  func(v stream.Value) // instead of take: lines that are no facts
	// renewal, unless nil, takes what is plainly a renewal before it is made a fact.
	renewal func(v stream.Value, id []byte) verdict
	// inherited: the cursor may be one that a former incarnation noted
	inherited bool

	drained bool
	cut     bool
	end     bool
	err     error
}

func (j *Judge) newReading(name, key string, m stream.Medium) *reading {
	return &reading{name: name, key: key, medium: m, values: j.cfg.DrainBudget, bytes: j.cfg.DrainBytes, onGap: func() {}, onMint: func() {}}
}

// read hands out the facts of one medium until it is drained, cut short or failed, or most lines were read.
// It answers true while there is more to come.
func (j *Judge) read(ctx context.Context, r *reading, most int) bool {
	cursor, err := j.cursor(ctx, r)
	if err != nil {
		r.err = err
		return false
	}
	for r.bytes > 0 {
		t := &turn{judge: j, reading: r, budget: min(most, r.values)}
		answer := r.medium.Read(ctx, cursor, stream.Budget{Values: t.budget, Bytes: r.bytes}, t.value)
		most -= t.counted
		if answer.State == stream.Mismatch || answer.State == stream.Invalid {
			answer = j.unresolved(ctx, r, answer)
		}
		cursor = answer.Cursor
		j.moved(r, cursor)
		switch answer.State {
		case stream.Blocked, stream.End:
			r.drained, r.end = true, answer.State == stream.End
			return false
		case stream.Gap:
			j.gap(r.name, answer.Err)
			r.onGap()
			if r.gaps++; r.gaps > maxGaps {
				r.cut = true
				return false
			}
		case stream.OK:
			switch {
			case t.left, t.handed < t.budget: // not taken, or the bytes are used up
				r.cut = true
				return false
			case most > 0 && r.values > 0:
				continue
			}
			if r.values > 0 {
				return true // the next turn finds out whether there is more
			}
			r.cut = j.more(ctx, r, cursor)
			return false
		default:
			r.err = fmt.Errorf("%v: %w", answer.State, errors.Join(answer.Err, stream.ErrTransport))
			return false
		}
	}
	r.cut = true
	return false
}

// turn is one call to a medium.
type turn struct {
	judge   *Judge
	reading *reading
	budget  int
	handed  int // values that the medium handed out
	counted int // of these, those that cost budget
	left    bool
}

func (t *turn) value(v stream.Value) bool {
	if t.judge.isOwn(t.reading, v) {
		t.handed++
		return true
	}
	if t.left = !t.judge.line(t.reading, v); t.left {
		return false
	}
	t.handed++
	t.counted++
	t.reading.values--
	t.reading.bytes -= int64(len(v.Bytes)) + 1
	return true
}

// unresolved turns a holder's cursor of a former incarnation that its medium does not know into a gap.
func (j *Judge) unresolved(ctx context.Context, r *reading, answer stream.Answer) stream.Answer {
	answer.Cursor = ""
	if !r.inherited {
		return answer
	}
	r.inherited = false
	oldest, err := r.medium.Mint(ctx, stream.Oldest)
	if err != nil {
		return answer
	}
	return stream.Answer{State: stream.Gap, Cursor: oldest, Err: answer.Err}
}

// more says whether anything follows the cursor, without reading it.
func (j *Judge) more(ctx context.Context, r *reading, cursor stream.Cursor) bool {
	more := false
	answer := r.medium.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
		if j.isOwn(r, v) {
			return true
		}
		more = true
		return false
	})
	switch answer.State {
	case stream.Blocked, stream.End:
		r.drained, r.end = true, answer.State == stream.End
		j.moved(r, answer.Cursor)
		return false
	}
	return more || answer.State == stream.Gap
}

// isOwn says that a value of the grantor's stream is one this judge appended: no repeat, and no cost.
func (j *Judge) isOwn(r *reading, v stream.Value) bool {
	if r.key != grantorName {
		return false
	}
	_, mine := j.own[v.Position]
	return mine
}

// cursor is where reading goes on: as noted, or at the oldest.
func (j *Judge) cursor(ctx context.Context, r *reading) (stream.Cursor, error) {
	if c := j.ledger.cursors[r.key]; c != "" {
		return c, nil
	}
	c, err := r.medium.Mint(ctx, stream.Oldest)
	if err == nil {
		r.onMint()
		j.moved(r, c)
	}
	return c, err
}

// moved notes how far a medium was read.
func (j *Judge) moved(r *reading, c stream.Cursor) {
	if c != "" && j.ledger.cursors[r.key] != c {
		j.ledger.setCursor(r.key, c)
		j.cursors.add(r.key)
		j.dirtied = true
	}
}

// line takes one line in. False: it stays unread.
func (j *Judge) line(r *reading, v stream.Value) bool {
	if v.Damage != "" {
		j.drop(r.name, v.Position, v.Damage)
		return true
	}
	if r.lines != nil {
		r.lines(v)
		return true
	}
	verdict, ok := j.understood(r, v)
	if !ok {
		return true
	}
	if verdict.reason != "" {
		j.drop(r.name, v.Position, verdict.reason)
	}
	return !verdict.leave
}

// understood reads a line and has it taken; false: there is nothing to be taken.
func (j *Judge) understood(r *reading, v stream.Value) (verdict, bool) {
	if r.renewal != nil {
		if id, plainly := lease.PlainRenewal(v.Bytes); plainly {
			return r.renewal(v, id), true
		}
	}
	f, err := lease.Decode(v.Bytes, j.ledger.units)
	switch {
	case errors.Is(err, lease.ErrNoFact):
		return verdict{}, false
	case err != nil:
		j.drop(r.name, v.Position, err.Error())
		return verdict{}, false
	}
	return r.take(v, f), true
}
