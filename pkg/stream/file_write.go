package stream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
)

// closeTail is what ends a line that its writer left unfinished: the NUL makes it no value, so that it spoils
// only itself (SPEC 3).
const closeTail = "\x00\n"

// write appends lines by one write, the closing of an unfinished line and the header of a new file before them.
func (f *File) write(v *view, how How, values [][]byte) (Appended, error) {
	p := v.now
	if err := f.begin(v); err != nil {
		return Appended{}, f.transport(err)
	}
	buf, lead, err := f.lines(p, values)
	if err != nil {
		return Appended{}, f.transport(err)
	}
	n, err := f.sys.write(p.f, buf)
	if err != nil || n < len(buf) {
		return Appended{}, f.short(n, lead+len(values[0])+1, err)
	}
	off, err := f.written(p, buf)
	if err != nil {
		return Appended{}, f.transport(err)
	}
	if err := f.persist(p, how.Sync); err != nil {
		return Appended{}, f.transport(err)
	}
	done := Appended{Position: Position(p.position(off + int64(lead)))}
	if how.Cursor {
		at, err := v.placeAt(p, off+int64(len(buf)))
		if err != nil {
			return Appended{}, f.transport(err)
		}
		done.Cursor = at.cursor()
	}
	return done, nil
}

// begin gives an empty file its header: it goes on at the end of the file before, or has a new identity (SPEC 3).
func (f *File) begin(v *view) error {
	p := v.now
	if p.size > 0 {
		if p.blank {
			// A first line that is unfinished stays one, as a damaged line of a file without a header.
			p.header, p.start, p.blank = header{}, 0, false
		}
		return nil
	}
	// One that a crash left empty may not have its mode yet; one that somebody else made is his.
	_ = p.f.Chmod(f.o.Mode)
	before, err := f.openPart(f.previous(), false)
	if err != nil && asCondition(err) == nil {
		return err
	}
	defer before.close()
	if err != nil || before.blank {
		p.header = header{identity: newIdentity(), format: f.o.Format}
		return nil
	}
	p.header = before.header.successor(before.end(), f.o.Format)
	return nil
}

// lines is what is to be written, and where in it the first value begins.
func (f *File) lines(p *part, values [][]byte) (buf []byte, lead int, err error) {
	size := headerMost
	for _, v := range values {
		size += len(v) + 1
	}
	buf = make([]byte, 0, size)
	if p.size == 0 {
		buf = append(buf, p.header.line()...)
		p.start, p.blank = int64(len(buf)), false
	} else {
		last := make([]byte, 1)
		if _, err := p.ReadAt(last, p.size-1); err != nil {
			return nil, 0, cutShort(err)
		}
		if last[0] != '\n' {
			buf = append(buf, closeTail...)
		}
	}
	lead = len(buf)
	for _, v := range values {
		buf = append(append(buf, v...), '\n')
	}
	return buf, lead, nil
}

// short is the error of a write that wrote n bytes only, of which whole would have been the first value's line. A
// value that can be read must not be called missing.
func (f *File) short(n, whole int, err error) error {
	if n >= whole {
		return f.transport(fmt.Errorf("only the first %d bytes were written: %w", n, cmp.Or(err, io.ErrShortWrite)))
	}
	if err == nil {
		return fmt.Errorf("%s: %w: only %d bytes were written", f.path, ErrFull, n)
	}
	return f.failed(err)
}

// failed is the answer to an error of creating or writing.
func (f *File) failed(err error) error {
	if isFull(err) {
		return fmt.Errorf("%s: %w: %w", f.path, ErrFull, err)
	}
	return f.transport(err)
}

// written is the offset at which buf came to lie: the end, unless somebody without the lock has written there too.
func (f *File) written(p *part, buf []byte) (int64, error) {
	fi, err := p.f.Stat()
	if err != nil {
		return 0, err
	}
	end := min(fi.Size(), math.MaxInt64-MaxBase)
	if end == p.size+int64(len(buf)) {
		return p.size, nil
	}
	if end < p.size {
		return 0, errChanged
	}
	since := make([]byte, min(end-p.size, int64(len(buf))+MaxValue))
	if _, err := p.ReadAt(since, p.size); err != nil {
		return 0, cutShort(err)
	}
	i := bytes.Index(since, buf)
	if i < 0 || i > 0 && since[i-1] != '\n' && buf[0] != 0 {
		return 0, errors.New("somebody wrote at the same time without the lock")
	}
	return p.size + int64(i), nil
}

// persist forces what was appended to disk when that is asked for, and the name of a new file always.
func (f *File) persist(p *part, asked bool) error {
	if asked || f.o.SyncAll || isRemote(p.f) {
		if err := f.sys.sync(p.f, false); err != nil {
			return err
		}
	}
	if p.size == 0 {
		return f.sys.syncFolder(f.path)
	}
	return nil
}
