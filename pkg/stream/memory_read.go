package stream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Mint implements Medium.
func (m *Memory) Mint(ctx context.Context, at Edge) (Cursor, error) {
	if ctx.Err() != nil {
		return "", memoryStopped(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at == Newest {
		return m.cursorAt(m.end), nil
	}
	return m.cursorAt(m.base), nil
}

// Read implements Medium. What is yielded belongs to the medium: it must not be changed.
func (m *Memory) Read(ctx context.Context, from Cursor, most Budget, yield func(Value) bool) Answer {
	place, err := parseMemoryCursor(from)
	if err != nil {
		return Answer{State: Invalid, Cursor: from, Err: err}
	}
	if place.label != m.label {
		err := fmt.Errorf("the cursor is of %q, the medium is %q", place.label, m.label)
		return Answer{State: Mismatch, Cursor: from, Err: err}
	}
	view, gap := m.viewFrom(place)
	if gap != nil {
		return *gap
	}
	state := view.read(ctx, most, yield)
	answer := Answer{State: state, Cursor: memoryCursor(view.place)}
	if state == Transport {
		answer.Err = memoryStopped(ctx)
	}
	return answer
}

// memoryView is what a reader sees of a memory at one moment, from a place on.
type memoryView struct {
	place memoryPlace // where reading has come to
	lines []memoryLine
	last  State // what follows the lines
}

// viewFrom is what follows a place, or the gap that does.
func (m *Memory) viewFrom(p memoryPlace) (*memoryView, *Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines, last := m.lines, Blocked
	if m.closed {
		// The mark is no value, and a cursor may stand on either side of it.
		lines, last = lines[:len(lines)-1], End
	}
	from, found := slices.BinarySearchFunc(lines, p.at, func(l memoryLine, at Position) int {
		return cmp.Compare(l.at, at)
	})
	atEnd := from == len(lines) && (p.at == m.end || (m.closed && p.at == m.lines[from].at))
	if p.identity == m.identity && (found || atEnd) {
		return &memoryView{place: p, lines: lines[from:], last: last}, nil
	}
	return nil, &Answer{State: Gap, Cursor: m.cursorAt(m.base), Err: m.gapAt(p)}
}

// gapAt says why nothing can be read on from a place.
func (m *Memory) gapAt(p memoryPlace) error {
	switch {
	case p.identity != m.identity:
		return fmt.Errorf("the medium has another identity: %s was read, %s is here", p.identity, m.identity)
	case p.at < m.base:
		return fmt.Errorf("position %s is no longer retained: the oldest is %s", p.at, m.base)
	}
	return fmt.Errorf("nothing begins at position %s: the medium ends at %s", p.at, m.end)
}

// read hands out the view's lines within a budget.
func (v *memoryView) read(ctx context.Context, most Budget, yield func(Value) bool) State {
	start := v.place.at
	for n, line := range v.lines {
		switch {
		case ctx.Err() != nil:
			return Transport
		case most.Values > 0 && n >= most.Values, most.Bytes > 0 && int64(line.at-start) >= most.Bytes:
			return OK
		case !yield(line.value()):
			return OK
		}
		v.place.at = line.next
	}
	if ctx.Err() != nil {
		return Transport
	}
	return v.last
}

// value is the line as it is handed out.
func (l memoryLine) value() Value {
	return Value{Position: l.at, Bytes: slices.Clip(l.text), Damage: l.damage}
}
