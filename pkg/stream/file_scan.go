package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// chunk is how many bytes are read at a time.
const chunk = 128 << 10

// errChanged says that the files were cut or exchanged while they were read: what was seen of them may be of two
// moments, and is to be looked at again.
var errChanged = errors.New("the file was changed while it was read")

// tokenKind is what a scanner finds next.
type tokenKind int

const (
	wholeLine tokenKind = iota
	tooLong             // the end of a line that is too long to be a value
	more                // bytes of such a line, and its end not yet
	tail                // no whole line is left before the limit; size is what there is of one
)

// token is what comes next: size bytes, of which line is the line without its newline.
type token struct {
	kind tokenKind
	line []byte
	size int
}

// scanner cuts a part of a file into lines, in constant memory whatever the lines are like. It keeps the bytes
// before the next line that a fingerprint is made of, so that a cursor is made of what was really read.
type scanner struct {
	ctx   context.Context
	r     io.ReaderAt
	buf   []byte // the file's bytes from off on
	off   int64
	at    int   // index of the first byte that was not taken
	least int64 // offset before which no fingerprint reaches
	limit int64
	// skipping is within a line that is too long, which began at offset began.
	skipping bool
	began    int64
	lent     *[]byte // from buffers, to be given back
}

// buffers are what reads fill again and again: a fresh one costs more than what is read into it, and a process
// that starts pays for each of its pages.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 2*windowMost+chunk) // a window, the beginning of a line, and a chunk
	return &b
}}

// done gives the buffer back: no token and no window is good any more.
func (s *scanner) done() {
	if s.lent != nil {
		buffers.Put(s.lent)
		s.lent, s.buf = nil, nil
	}
}

// newScanner makes a scanner of the bytes from off to limit; the part's values begin at least.
func newScanner(ctx context.Context, r io.ReaderAt, least, off, limit int64) (*scanner, error) {
	window := min(windowMost, off-least)
	s := &scanner{ctx: ctx, r: r, off: off - window, least: least, limit: limit}
	s.lent = buffers.Get().(*[]byte)
	s.buf = *s.lent
	if off == limit && window == 0 {
		return s, nil
	}
	err := s.fill()
	if err == nil && int64(len(s.buf)) < window {
		err = errChanged
	}
	s.at = int(window)
	return s, err
}

// offset is that of the first byte that was not taken.
func (s *scanner) offset() int64 { return s.off + int64(s.at) }

// lineOffset is where the next token's line began.
func (s *scanner) lineOffset() int64 {
	if s.skipping {
		return s.began
	}
	return s.offset()
}

// window are the bytes before the next one that a fingerprint is made of.
func (s *scanner) window() []byte {
	n := min(windowMost, s.offset()-s.least)
	return s.buf[s.at-int(n) : s.at]
}

// peek finds what comes next. The token is good until the next call; take makes it the past.
func (s *scanner) peek() (token, error) {
	searched := 0
	for {
		rest := s.buf[s.at:]
		if i := bytes.IndexByte(rest[searched:], '\n'); i >= 0 {
			return s.whole(rest[:searched+i]), nil
		}
		if s.skipping && len(rest) > 0 || len(rest) > MaxValue {
			return token{kind: more, size: len(rest)}, nil
		}
		if s.off+int64(len(s.buf)) >= s.limit {
			return token{kind: tail, size: len(rest)}, nil
		}
		searched = len(rest)
		if err := s.fill(); err != nil {
			return token{}, err
		}
	}
}

func (s *scanner) whole(line []byte) token {
	if s.skipping || len(line) > MaxValue {
		return token{kind: tooLong, size: len(line) + 1}
	}
	return token{kind: wholeLine, line: line, size: len(line) + 1}
}

// take goes past a token.
func (s *scanner) take(t token) {
	if t.kind == more && !s.skipping {
		s.began = s.offset()
	}
	s.skipping = t.kind == more
	s.at += t.size
}

// fill reads a chunk more behind what was not taken, and drops what no fingerprint needs any longer.
func (s *scanner) fill() error {
	if err := s.ctx.Err(); err != nil {
		return context.Cause(s.ctx)
	}
	if drop := s.at - windowMost; drop > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[drop:])]
		s.off += int64(drop)
		s.at -= drop
	}
	have := len(s.buf)
	want := int(min(chunk, s.limit-s.off-int64(have)))
	if cap(s.buf)-have < want {
		grown := make([]byte, have, max(have+want, 2*cap(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
	n, err := s.r.ReadAt(s.buf[have:have+want], s.off+int64(have))
	s.buf = s.buf[:have+n]
	switch {
	case n == want:
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return errChanged
	}
	return err
}
