package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// errOrdered is what an ordered fault says about itself.
var errOrdered = errors.New("a fault that was ordered")

// NewFaulty puts a script of faults before a medium, for tests and for those who embed this package. What it
// returns is a Rewriter or a Notifier when the medium is one. Without an order it changes nothing.
func NewFaulty(m Medium, script *Script) Medium {
	f := &faulty{Medium: m, script: script}
	r, rewrites := m.(Rewriter)
	n, notifies := m.(Notifier)
	switch {
	case rewrites && notifies:
		return struct {
			*faulty
			faultyRewriter
			faultyNotifier
		}{f, faultyRewriter{r, script}, faultyNotifier{n, script}}
	case rewrites:
		return struct {
			*faulty
			faultyRewriter
		}{f, faultyRewriter{r, script}}
	case notifies:
		return struct {
			*faulty
			faultyNotifier
		}{f, faultyNotifier{n, script}}
	}
	return f
}

// Tearer is a medium on which the beginning of a value can be left unfinished, as by a writer that is killed.
type Tearer interface {
	Tear(beginning []byte)
}

// faulty is a medium whose answers a script spoils.
type faulty struct {
	Medium
	script *Script
}

// Append implements Appender.
func (f *faulty) Append(ctx context.Context, how How, values ...[]byte) (Appended, error) {
	return f.appendTo(ctx, f.Medium, how, values)
}

// Hold implements Medium; the script goes on under the lock.
func (f *faulty) Hold(ctx context.Context) (Appender, func(), error) {
	under, release, err := f.Medium.Hold(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &faultyAppender{medium: f, under: under}, release, nil
}

// Read implements Medium.
func (f *faulty) Read(ctx context.Context, from Cursor, most Budget, yield func(Value) bool) Answer {
	fault, ordered := f.script.nextRead()
	if !ordered {
		return f.Medium.Read(ctx, from, most, yield)
	}
	n := 0
	answer := f.Medium.Read(ctx, from, most, func(v Value) bool {
		if n == fault.After {
			return false
		}
		n++
		return yield(v)
	})
	if n < fault.After || (answer.State != OK && answer.State != Blocked && answer.State != End) {
		return answer // it never came to that
	}
	return f.spoil(ctx, fault, answer)
}

// spoil is the answer that a read fault makes of one.
func (f *faulty) spoil(ctx context.Context, fault ReadFault, answer Answer) Answer {
	answer.State = fault.State
	switch fault.State {
	case Transport:
		answer.Err = fmt.Errorf("%w: %w", ErrTransport, errOrdered)
	case Gap:
		answer.Err = errOrdered
		recovery, err := f.Mint(ctx, fault.Recover)
		if err != nil {
			return Answer{State: Transport, Cursor: answer.Cursor, Err: err}
		}
		answer.Cursor = recovery
	}
	return answer
}

// appendTo appends as the script has it. An append of nothing is none, and uses up no fault.
func (f *faulty) appendTo(ctx context.Context, to Appender, how How, values [][]byte) (Appended, error) {
	fault := Intact
	if len(values) > 0 {
		fault = f.script.nextAppend()
	}
	switch fault {
	case Full:
		return Appended{}, fmt.Errorf("%w: %w", ErrFull, errOrdered)
	case Lost:
		return Appended{}, fmt.Errorf("%w: %w", ErrTransport, errOrdered)
	case Torn:
		return Appended{}, f.tear(ctx, to, how, values)
	}
	done, err := to.Append(ctx, how, values...)
	if err == nil && fault == Unanswered {
		return Appended{}, fmt.Errorf("%w: %w", ErrTransport, errOrdered)
	}
	return done, err
}

// tear appends all values but the last, and of that one a half.
func (f *faulty) tear(ctx context.Context, to Appender, how How, values [][]byte) error {
	last := values[len(values)-1]
	if _, err := to.Append(ctx, how, values[:len(values)-1]...); err != nil {
		return err
	}
	if t, tears := f.Medium.(Tearer); tears {
		t.Tear(bytes.Clone(last[:len(last)/2]))
	}
	return fmt.Errorf("%w: %w", ErrTransport, errOrdered)
}

// faultyAppender is the appender under a lock.
type faultyAppender struct {
	medium *faulty
	under  Appender
}

// Append implements Appender.
func (a *faultyAppender) Append(ctx context.Context, how How, values ...[]byte) (Appended, error) {
	return a.medium.appendTo(ctx, a.under, how, values)
}

// faultyRewriter is what a Rewriter has beyond a Medium. A rewrite is the old or the new, never torn.
type faultyRewriter struct {
	rewriter Rewriter
	script   *Script
}

// Rewrite implements Rewriter; it uses up an append fault.
func (r faultyRewriter) Rewrite(ctx context.Context, expect Cursor, values Values) (Cursor, error) {
	fault := r.script.nextAppend()
	switch fault {
	case Full:
		return "", fmt.Errorf("%w: %w", ErrFull, errOrdered)
	case Lost, Torn:
		return "", fmt.Errorf("%w: %w", ErrTransport, errOrdered)
	}
	cursor, err := r.rewriter.Rewrite(ctx, expect, values)
	if err == nil && fault == Unanswered {
		return "", fmt.Errorf("%w: %w", ErrTransport, errOrdered)
	}
	return cursor, err
}

// Size implements Rewriter.
func (r faultyRewriter) Size(ctx context.Context) (int64, error) { return r.rewriter.Size(ctx) }

// faultyNotifier is what a Notifier has beyond a Medium. A read fault is something new.
type faultyNotifier struct {
	notifier Notifier
	script   *Script
}

// Notify implements Notifier.
func (n faultyNotifier) Notify(fn func()) {
	n.script.notify(fn)
	n.notifier.Notify(fn)
}
