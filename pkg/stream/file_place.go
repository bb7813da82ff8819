package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// lost says what has become of what followed a cursor: the reason of a gap.
type lost struct{ why string }

func (l *lost) Error() string { return l.why }

func lostf(format string, args ...any) error { return &lost{fmt.Sprintf(format, args...)} }

// oldest is the place of the oldest value retained, or an unborn one where there is nothing yet.
func (v *view) oldest() (place, error) {
	old, err := v.older()
	switch {
	case err != nil:
		return place{}, err
	case old != nil:
		return v.placeAt(old, old.start)
	case v.now.blank:
		return v.unborn(), nil
	}
	return v.placeAt(v.now, v.now.start)
}

func (v *view) unborn() place {
	return place{medium: v.file.medium, skip: notSkipping, unborn: true}
}

// placeAt is the place of an offset between two lines of a part.
func (v *view) placeAt(p *part, off int64) (place, error) {
	window := make([]byte, min(windowMost, off-p.start))
	if _, err := p.ReadAt(window, off-int64(len(window))); err != nil && len(window) > 0 {
		return place{}, cutShort(err)
	}
	return v.placed(p, off, window), nil
}

func (v *view) placed(p *part, off int64, window []byte) place {
	at := place{medium: v.file.medium, identity: p.header.identity, pos: p.position(off), skip: notSkipping, window: len(window)}
	if len(window) > 0 {
		at.sum = fingerprint(window)
	}
	return at
}

// cutShort tells the end of a file that was longer before from the machine's failures.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return errChanged
	}
	return err
}

// recovery is where to read on after a gap: at the oldest retained or, where that is more than twice the
// capacity away, about one capacity before the end.
func (v *view) recovery() (place, error) {
	at, err := v.oldest()
	if err != nil || at.unborn || !v.tooFar(at.pos) {
		return at, err
	}
	target := v.now.end() - v.file.o.Retention.Capacity
	p := v.now
	if v.old != nil && target < p.base() {
		p = v.old
	}
	off, err := nextLine(p, max(p.offset(target), p.start))
	if err != nil {
		return place{}, err
	}
	if off < 0 && p == v.now {
		// One unfinished line reaches over all of it: its end is to come.
		at, err = v.placeAt(p, p.limit)
		at.skip = max(target, p.base())
		return at, err
	}
	if off < 0 {
		return v.placeAt(v.now, v.now.start)
	}
	return v.placeAt(p, off)
}

// tooFar says that more is unread than a medium with a capacity lets a reader be behind (SPEC 3).
func (v *view) tooFar(pos int64) bool {
	c := v.file.o.Retention.Capacity
	return c > 0 && v.now.end()-pos > 2*c
}

// nextLine is the first offset from off on at which a line begins, or -1.
func nextLine(p *part, off int64) (int64, error) {
	if off == p.start {
		return off, nil
	}
	buf := make([]byte, min(64<<10, p.limit-off+1))
	for off--; off < p.limit; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), p.limit-off)]
		if _, err := p.ReadAt(buf, off); err != nil {
			return 0, cutShort(err)
		}
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			return off + int64(i) + 1, nil
		}
	}
	return -1, nil
}

// resume finds the part that a place lies in, and a scanner that goes on there. The error is a *lost when what
// followed is no longer to be had, or when it cannot be told that it is the same.
func (v *view) resume(ctx context.Context, at place) (*part, *scanner, error) {
	p, err := v.partAt(at)
	if err != nil {
		return nil, nil, err
	}
	off := p.offset(at.pos)
	s, err := newScanner(ctx, p, p.start, off, p.limit)
	if err != nil {
		return nil, nil, err
	}
	if off == p.start {
		if err := v.verifyBefore(p, at); err != nil {
			return nil, nil, err
		}
	} else if w := s.window(); len(w) != at.window || fingerprint(w) != at.sum {
		return nil, nil, lostf("%s: what was read before position %d is no longer there", v.file.path, at.pos)
	}
	if at.skip != notSkipping && at.skip >= p.base() {
		s.skipping, s.began = true, p.offset(at.skip)
	}
	return p, s, nil
}

// partAt is the part that a place lies in.
func (v *view) partAt(at place) (*part, error) {
	path, now := v.file.path, v.now
	if now.blank {
		if _, err := v.older(); err != nil {
			return nil, err
		}
	}
	adopted := at.identity == "" && now.header.adopts && at.pos <= now.base()
	switch {
	case at.identity != now.header.identity && !adopted:
		return nil, lostf("%s: its identity was %q, now it is %q", path, at.identity, now.header.identity)
	case at.pos > now.end():
		return nil, lostf("%s: it was read to position %d, now it ends at %d", path, at.pos, now.end())
	case at.pos >= now.base():
		return now, nil
	}
	old, err := v.older()
	if err == nil && (old == nil || at.pos < old.base() || at.identity != old.header.identity) {
		err = lostf("%s: position %d is no longer retained", path, at.pos)
	}
	return old, err
}

// verifyBefore checks the fingerprint of a place at the very beginning of a part: what it was made of lies at the
// end of the file before, if that is still there.
func (v *view) verifyBefore(p *part, at place) error {
	if at.window == 0 || p != v.now {
		return nil
	}
	old, err := v.older()
	if err != nil || old == nil {
		return err
	}
	before, err := v.placeAt(old, old.limit)
	if err == nil && (before.window != at.window || before.sum != at.sum) {
		err = lostf("%s: what was read before position %d is no longer there", v.file.path, at.pos)
	}
	return err
}
