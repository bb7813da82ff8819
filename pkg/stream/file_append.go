package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json/jsontext"
)

// Append implements Appender.
func (f *File) Append(ctx context.Context, how How, values ...[]byte) (Appended, error) {
	if err := checkValues(f.path, values...); err != nil {
		return Appended{}, err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return Appended{}, err
	}
	defer unlock()
	return f.appendLocked(how, values)
}

// checkValues refuses what can be no value of any medium.
func checkValues(medium string, values ...[]byte) error {
	for _, v := range values {
		why := ""
		switch {
		case len(v) > MaxValue:
			why = fmt.Sprintf("%d bytes, the most is %d", len(v), MaxValue)
		case bytes.IndexByte(v, '\n') >= 0:
			why = "it has a newline"
		case !jsontext.Value(v).IsValid():
			why = fmt.Sprintf("%.80q is no JSON", v)
		case isClosing(v):
			why = "it is the closing mark"
		default:
			continue
		}
		return fmt.Errorf("%s: %w: %s", medium, ErrInvalidValue, why)
	}
	return nil
}

// appendLocked appends lines; the append lock is held.
func (f *File) appendLocked(how How, values [][]byte) (Appended, error) {
	v, err := f.openChecked(how.Expect)
	if err != nil {
		return Appended{}, err
	}
	defer func() { v.close() }()
	if len(values) == 0 {
		return f.nothing(v, how)
	}
	if f.o.SelfEvict && f.outgrew(v.now) {
		// An eviction that fails costs room and nothing else: the next append tries again. How far it came
		// decides which file is the present one.
		_ = f.evict(v.now)
		v.close()
		again, err := f.openForAppend()
		if err != nil {
			return Appended{}, f.transport(err)
		}
		v = again
	}
	if v.now.f == nil {
		if err := f.createPresent(v); err != nil {
			return Appended{}, err
		}
	}
	return f.write(v, how, values)
}

// createPresent creates the present file, which was missing a moment ago.
func (f *File) createPresent(v *view) error {
	file, err := f.create(f.path, os.O_RDWR|os.O_APPEND, f.o.Mode)
	if err != nil {
		return f.failed(err)
	}
	v.now.f = file
	return nil
}

// nothing is an append without a value, of which only the expectation was asked.
func (f *File) nothing(v *view, how How) (Appended, error) {
	at, err := v.newest()
	if err != nil {
		return Appended{}, f.transport(err)
	}
	done := Appended{Position: Position(at.pos)}
	if how.Cursor {
		done.Cursor = at.cursor()
	}
	return done, nil
}

// openForAppend opens the present file for reading and appending. One that is missing is a blank part without a
// file. The append lock is held, so nobody exchanges the files.
func (f *File) openForAppend() (*view, error) {
	v := &view{file: f, now: &part{blank: true}}
	st, err := pathStamp(f.path, f.terminated)
	if err != nil {
		return nil, err
	}
	if st.missing {
		return v, nil
	}
	if st.kind != 0 {
		return nil, notRegular(f.path, st.kind)
	}
	file, err := f.sys.open(f.path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	p, err := f.partOf(file, anyFile)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	v.now = p
	return v, nil
}

// openChecked opens the present file, unless the medium is closed or has moved on from what is expected.
func (f *File) openChecked(expect Cursor) (*view, error) {
	v, err := f.openForAppend()
	if err != nil {
		return nil, f.transport(err)
	}
	closed, err := v.closed()
	switch {
	case err != nil:
		err = f.transport(err)
	case closed:
		err = fmt.Errorf("%s: %w", f.path, ErrClosed)
	default:
		err = v.expects(expect)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// closed says that the last line is the closing mark. What somebody writes behind that by hand hides it.
func (v *view) closed() (bool, error) {
	p := v.now
	off, err := closingBefore(p, p.limit)
	return off < p.limit, err
}

// expects says that nothing follows a cursor, or answers ErrMoved. What is unfinished is nothing.
func (v *view) expects(expect Cursor) error {
	if expect == "" {
		return nil
	}
	moved := func(why any) error { return fmt.Errorf("%s: %w: %v", v.file.path, ErrMoved, why) }
	at, err := parsePlace(expect)
	if err != nil {
		return moved(err)
	}
	if at.medium != v.file.medium || at.lasting {
		return moved("the cursor expected is of another medium, or of one that could not be read")
	}
	if at.unborn {
		if at, err = v.oldest(); err == nil && at.unborn {
			return nil
		}
	}
	var s *scanner
	if err == nil {
		var p *part
		if p, s, err = v.resume(context.Background(), at); err == nil && p != v.now {
			err = lostf("position %d is in the file before", at.pos)
		}
	}
	var t token
	for err == nil {
		if t, err = s.peek(); t.kind != more {
			break
		}
		s.take(t)
	}
	if gone := (*lost)(nil); errors.As(err, &gone) || errors.Is(err, errChanged) {
		return moved(err)
	}
	if err != nil {
		return v.file.transport(err)
	}
	if t.kind != tail {
		return moved(fmt.Sprintf("a line follows position %d", at.pos))
	}
	return nil
}
