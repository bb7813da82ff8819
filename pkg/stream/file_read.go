package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// racesMost is how often one Read begins again because the files changed under it. Only a writer who does
// nothing else can use that up: for him it is a gap.
const racesMost = 16

// reading is one Read.
type reading struct {
	file  *File
	ctx   context.Context
	most  Budget
	yield func(Value) bool

	text Cursor // of at; empty once reading has moved on
	at   place

	values int
	bytes  int64
	stale  bool // a network file system has lost the file once
}

// Read implements Medium.
func (f *File) Read(ctx context.Context, from Cursor, most Budget, yield func(Value) bool) Answer {
	if ctx.Err() != nil {
		return Answer{State: Transport, Cursor: from, Err: f.transport(context.Cause(ctx))}
	}
	if state, ok := f.stillIdle(from); ok {
		return Answer{State: state, Cursor: from}
	}
	at, err := parsePlace(from)
	if err != nil {
		return Answer{State: Invalid, Cursor: from, Err: err}
	}
	if at.medium != f.medium {
		return Answer{State: Mismatch, Cursor: from, Err: fmt.Errorf("the cursor is of another medium than %q", f.o.Name)}
	}
	r := &reading{file: f, ctx: ctx, most: most, yield: yield, text: from, at: at}
	for range racesMost {
		if answer, done := r.once(); done {
			return answer
		}
	}
	return r.lasting(fmt.Errorf("%s does not keep still", f.path))
}

// Idle implements Idler: this very cursor was answered last, and the file has not changed since. How it looks when
// it has changed is kept for the read that follows.
func (f *File) Idle(from Cursor) (State, bool) {
	f.mu.Lock()
	last := f.idle
	f.mu.Unlock()
	if last.text == "" || last.text != from {
		return 0, false
	}
	st, err := pathStamp(f.path, f.terminated)
	if err != nil || st == last.stamp {
		return last.state, err == nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.news, f.changed = st, !st.missing && st.kind == 0
	return 0, false
}

// Settled says that this very cursor was answered last, so that Idle can tell whether the file is as it was then.
func (f *File) Settled(from Cursor) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.idle.text != "" && f.idle.text == from
}

// stillIdle is Idle, unless that has already said that the file has changed.
func (f *File) stillIdle(from Cursor) (State, bool) {
	f.mu.Lock()
	changed := f.changed
	f.mu.Unlock()
	if changed {
		return 0, false
	}
	return f.Idle(from)
}

// latest is the path's stamp: the one that Idle has just seen, once, or a new one. An older stamp than what is
// read makes the next read look again, and no more than that.
func (f *File) latest() (stamp, error) {
	f.mu.Lock()
	st, changed := f.news, f.changed
	f.changed = false
	f.mu.Unlock()
	if changed {
		return st, nil
	}
	return pathStamp(f.path, f.terminated)
}

// once reads what one view of the medium shows. It is not done when the files were changed under it.
func (r *reading) once() (Answer, bool) {
	v, err := r.file.look()
	if err != nil {
		return r.broken(err), true
	}
	defer v.close()
	answer, err := r.within(v)
	if gone := (*lost)(nil); errors.As(err, &gone) {
		answer, err = r.gap(v, gone)
	}
	switch {
	case err == nil:
		return answer, true
	case errors.Is(err, errChanged):
		return Answer{}, false
	case isStale(err) && !r.stale:
		r.stale = true
		return Answer{}, false
	case isStale(err) || asCondition(err) != nil:
		return r.lasting(err), true
	}
	return r.broken(err), true
}

// within reads a view. Its error is a *lost for a gap.
func (r *reading) within(v *view) (Answer, error) {
	switch {
	case v.cond != nil && (r.at.lasting || r.at.unborn && v.cond.missing):
		return r.over(v, Blocked), nil
	case v.cond != nil:
		return r.lasting(v.cond), nil
	case r.at.lasting:
		return Answer{}, lostf("%s can be read again", r.file.path)
	case r.at.unborn:
		at, err := v.oldest()
		if err != nil || at.unborn {
			return r.over(v, Blocked), err
		}
		if at.pos > 0 {
			return Answer{}, lostf("%s: what came before position %d is no longer retained", r.file.path, at.pos)
		}
		// Whatever appears first is what this cursor was minted for.
		r.moved(at)
	}
	if err := r.anew(v); err != nil {
		return Answer{}, err
	}
	return r.parts(v)
}

// parts reads on through the older file, where the cursor is in that, and the present one.
func (r *reading) parts(v *view) (Answer, error) {
	p, s, err := v.resume(r.ctx, r.at)
	if err != nil {
		return Answer{}, err
	}
	defer func() { s.done() }()
	if v.tooFar(r.at.pos) {
		return Answer{}, lostf("%s: %d bytes were unread, more than twice its capacity", r.file.path, v.now.end()-r.at.pos)
	}
	if !r.outgrown(p) {
		return r.over(v, OK), nil
	}
	for {
		state, err := r.drain(p, s, p == v.now)
		r.settle(v, p, s)
		if err != nil {
			return Answer{}, err
		}
		if state != Blocked || p == v.now {
			return r.over(v, state), nil
		}
		if !r.leftover(p, s) {
			return r.over(v, OK), nil
		}
		p = v.now
		r.moved(v.placed(p, p.start, nil))
		s.done()
		if s, err = newScanner(r.ctx, p, p.start, p.start, p.limit); err != nil {
			return Answer{}, err
		}
	}
}

// drain hands out the lines of one part: OK when it was stopped, Blocked at the part's end, End at the closing
// mark. In an older part that mark means nothing, the medium having gone on.
func (r *reading) drain(p *part, s *scanner, present bool) (State, error) {
	for n := 1; !r.spent(); n++ {
		if n%64 == 0 && r.ctx.Err() != nil {
			return OK, context.Cause(r.ctx)
		}
		t, err := s.peek()
		if err != nil {
			return OK, err
		}
		closing := t.kind == wholeLine && isClosing(t.line)
		switch {
		case t.kind == tail:
			return Blocked, nil
		case closing && present:
			return End, nil
		case t.kind != more && !closing && !r.hand(p.position(s.lineOffset()), t):
			return OK, nil
		}
		s.take(t)
		r.bytes += int64(t.size)
	}
	return OK, nil
}

func (r *reading) spent() bool {
	return r.most.Values > 0 && r.values >= r.most.Values || r.most.Bytes > 0 && r.bytes >= r.most.Bytes
}

// What is said of lines that are no values.
const (
	damageTooLong    = "a line over 1 MiB"
	damageNUL        = "a line with a NUL: left unfinished, or junk"
	damageUnfinished = "a line left unfinished"
)

// hand hands out a line that begins at a position.
func (r *reading) hand(pos int64, t token) bool {
	switch {
	case t.kind == tooLong:
		return r.give(Value{Position: Position(pos), Damage: damageTooLong})
	case bytes.IndexByte(t.line, 0) >= 0:
		return r.give(Value{Position: Position(pos), Damage: damageNUL})
	}
	return r.give(Value{Position: Position(pos), Bytes: t.line})
}

func (r *reading) give(v Value) bool {
	if !r.yield(v) {
		return false
	}
	r.values++
	return true
}

// leftover hands out what an older part ends with that is no whole line: nobody will finish it any more.
func (r *reading) leftover(p *part, s *scanner) bool {
	damage := damageUnfinished
	if s.skipping {
		damage = damageTooLong
	} else if s.offset() == p.limit {
		return true
	}
	return r.give(Value{Position: Position(p.position(s.lineOffset())), Damage: damage})
}

// outgrown hands out a line that was being skipped, where eviction has ended it just at the cursor.
func (r *reading) outgrown(p *part) bool {
	if r.at.skip == notSkipping || r.at.skip >= p.base() {
		return true
	}
	if !r.give(Value{Position: Position(r.at.skip), Damage: damageTooLong}) {
		return false
	}
	at := r.at
	at.skip = notSkipping
	r.moved(at)
	return true
}

// settle notes how far a scanner has come.
func (r *reading) settle(v *view, p *part, s *scanner) {
	if p.position(s.offset()) == r.at.pos {
		return
	}
	at := v.placed(p, s.offset(), s.window())
	if s.skipping {
		at.skip = p.position(s.began)
	}
	r.moved(at)
}

func (r *reading) moved(at place) { r.at, r.text = at, "" }

func (r *reading) cursor() Cursor {
	if r.text == "" {
		r.text = r.at.cursor()
	}
	return r.text
}

// over is the answer at the end of a read. When nothing was left to read, it holds for as long as the file looks
// as it did before; not so on network file systems, where only opening a file tells how it looks.
func (r *reading) over(v *view, state State) Answer {
	text := r.cursor()
	if state == OK || v.cond != nil && v.cond.unsure || v.remote() {
		return Answer{State: state, Cursor: text}
	}
	r.file.mu.Lock()
	r.file.idle = idle{text: text, state: state, stamp: v.stamp}
	r.file.mu.Unlock()
	return Answer{State: state, Cursor: text}
}

// gap is the answer when what followed the cursor is lost.
func (r *reading) gap(v *view, why error) (Answer, error) {
	at, err := v.recovery()
	if err != nil {
		return Answer{}, err
	}
	return Answer{State: Gap, Cursor: at.cursor(), Err: why}, nil
}

// lasting is the gap with which a condition begins; while it lasts, the medium is blocked.
func (r *reading) lasting(why error) Answer {
	if r.at.lasting {
		return Answer{State: Blocked, Cursor: r.cursor()}
	}
	at := r.at
	at.lasting = true
	return Answer{State: Gap, Cursor: at.cursor(), Err: why}
}

// broken is the answer when the machine failed, or the caller's context is over.
func (r *reading) broken(err error) Answer {
	return Answer{State: Transport, Cursor: r.cursor(), Err: r.file.transport(err)}
}
