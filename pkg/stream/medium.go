package stream

import (
	"context"
	"errors"
	"iter"
	"strconv"
)

// MaxValue is the most bytes one value may have, its newline not counted (SPEC 3).
const MaxValue = 1 << 20

// MaxCursor is the most bytes the text of a cursor may have (SPEC 3).
const MaxCursor = 512

// MaxBase is the greatest base a header may name; a line that names a greater one is no header (SPEC 3).
const MaxBase = 1 << 52

// What Append answers when it does not answer ok (SPEC 3). Anything else that it returns wraps ErrTransport.
var (
	// ErrFull means that the medium has no room: nothing of the value can be read.
	ErrFull = errors.New("the medium is full")
	// ErrInvalidValue means that the value can be no value of any medium: nothing was written.
	ErrInvalidValue = errors.New("not a value")
	// ErrClosed means that the medium was closed: nothing was written.
	ErrClosed = errors.New("the medium is closed")
	// ErrMoved means that something follows what was expected to be the end: certainly nothing was written.
	ErrMoved = errors.New("the medium has moved on")
	// ErrTransport means that the machine failed: the append may have taken effect.
	ErrTransport = errors.New("transport error")
)

// Position is where a value begins on its medium. Positions of one medium can be compared, stored and
// printed; what lies between two of them is the medium's own business.
type Position int64

// String prints the position as a decimal number.
func (p Position) String() string { return strconv.FormatInt(int64(p), 10) }

// Cursor is a place to read on from, as a self-contained text of at most MaxCursor bytes. It is valid in
// another process, names its medium's identity and fingerprints what was read last. The zero Cursor stands
// for none. Only its medium can make sense of it.
type Cursor string

// Edge is where a cursor is minted.
type Edge int

// The two ends of a medium.
const (
	Oldest Edge = iota
	Newest
)

// Value is one value as a medium hands it out.
type Value struct {
	Position Position
	// Bytes is the line without its newline. It is valid until the function it was handed to returns.
	Bytes []byte
	// Damage says why this line can be no value (too long, left unfinished, NULs); empty for a value.
	// Damaged lines are handed out so that a reader can count them; Bytes is nil then.
	Damage string
}

// Budget bounds one Read. A zero field is no bound.
type Budget struct {
	Values int   // values and damaged lines handed out
	Bytes  int64 // bytes read
}

// State is what a Read came to.
type State int

// The answers of Read (SPEC 3).
const (
	// OK: the budget is used up or yield stopped it; there may be more.
	OK State = iota
	// Blocked: everything that is there now has been read.
	Blocked
	// End: the medium was closed, and everything before that has been read.
	End
	// Gap: what followed the cursor is lost; the answer's cursor is the one to recover with.
	Gap
	// Mismatch: the cursor is one of another medium: a misuse.
	Mismatch
	// Invalid: the text is no cursor.
	Invalid
	// Transport: the machine failed; the answer's cursor is where reading had come to.
	Transport
)

// String names the state as SPEC 3 does.
func (s State) String() string {
	names := [...]string{"ok", "blocked", "end", "gap", "cursor mismatch", "invalid cursor", "transport error"}
	if s < 0 || int(s) >= len(names) {
		return "state " + strconv.Itoa(int(s))
	}
	return names[s]
}

// Answer is what Read came to, and where to read on.
type Answer struct {
	State  State
	Cursor Cursor // where to read on: the successor, or after a gap the recovery cursor
	Err    error  // why, for Gap, Mismatch, Invalid and Transport
}

// How says in what way to append.
type How struct {
	// Sync asks that ok means on disk, not only in the file.
	Sync bool
	// Expect, unless empty, makes the append conditional: it answers ErrMoved unless nothing follows this
	// cursor on the same medium (same identity, same bytes before it). An unfinished tail is nothing.
	Expect Cursor
	// Cursor asks for the cursor that follows what was appended.
	Cursor bool
}

// Appended is an append that answered ok.
type Appended struct {
	Position Position // of the first value
	Cursor   Cursor   // what follows the last one; only when asked for
}

// Appender is what can be written to. Several values given at once are written as one: a crash leaves a
// prefix of them. Without a value it only checks the expectation.
type Appender interface {
	Append(ctx context.Context, how How, values ...[]byte) (Appended, error)
}

// Medium is an append-only sequence of values that many can write and read (SPEC 3). All methods may be
// called from any goroutine.
type Medium interface {
	Appender
	// Mint makes a cursor at one end.
	Mint(ctx context.Context, at Edge) (Cursor, error)
	// Read hands out the values after a cursor, in order, until the budget is used up, yield answers false
	// (the value then stays unread: the answer's cursor is before it), or there are no more. At a gap it
	// stops at once: the caller reads on with the recovery cursor.
	Read(ctx context.Context, from Cursor, most Budget, yield func(Value) bool) Answer
	// Hold takes the append lock, which keeps every other writer out until release is called. Appends
	// under it go through the Appender it returns.
	Hold(ctx context.Context) (under Appender, release func(), err error)
	// Close appends the closing mark: appends answer ErrClosed from then on, and readers reach End.
	Close(ctx context.Context) error
}

// Values are values one after the other. An error is the last of them.
type Values = iter.Seq2[[]byte, error]

// ValuesOf are these values.
func ValuesOf(values ...[]byte) Values {
	return func(yield func([]byte, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Rewriter is a medium whose whole content can be replaced at once, as a compaction does.
type Rewriter interface {
	Medium
	// Rewrite replaces everything by these values under a new identity and syncs them, unless something
	// follows expect (ErrMoved). It returns the cursor that follows them. A crash leaves the old or the new.
	// The values are taken one at a time, each is the caller's again when the next one is asked for, and an
	// error among them leaves the old.
	Rewrite(ctx context.Context, expect Cursor, values Values) (Cursor, error)
	// Size is about how many bytes are retained.
	Size(ctx context.Context) (int64, error)
}

// Notifier is a medium that says by itself when it has something new, and never fails to. Others are asked.
type Notifier interface {
	// Notify has fn called after every append, from whichever goroutine appended.
	Notify(fn func())
}

// Idler is a medium that can tell, for less than a Read costs, that nothing has come.
type Idler interface {
	// Idle says that a Read from this cursor would hand out nothing, and answer this state and the cursor. It may
	// not know, and then says no.
	Idle(from Cursor) (State, bool)
}
