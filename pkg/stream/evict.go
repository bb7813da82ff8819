package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Eviction and rewriting exchange files. What is on disk after each step, x being the medium's file:
//
//	x.tmp is written and synced      x is as it was; a left-over x.tmp is overwritten by the next attempt
//	x is linked to x.1.tmp           likewise
//	x.1.tmp is renamed to x.1        x and x.1 are one file: a reader takes it for x, and what was in the older
//	                                 x.1 is a gap. The next attempt begins anew from here
//	x.tmp is renamed to x            done: x goes on where x.1 ends
//	the folder is synced             and power loss does not undo it
//
// A rewriting has no second and third step, and removes x.1 at last: its identity is another, so that whoever
// meets it before that takes no notice. x is never missing.

// Evict evicts what lies before the present file's values, if the medium has outgrown its capacity and the position
// of upto is at or after the present file's beginning: the file that is lost thereby lies wholly before upto. It
// says whether it did (SPEC 3: the grantor's stream is evicted by the judge alone).
func (f *File) Evict(ctx context.Context, upto Cursor) (bool, error) {
	at, err := parsePlace(upto)
	if err != nil {
		return false, err
	}
	if at.medium != f.medium {
		return false, fmt.Errorf("the cursor is of another medium than %q", f.o.Name)
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	v, err := f.openChecked("")
	if errors.Is(err, ErrClosed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer v.close()
	p := v.now
	if !f.outgrew(p) || at.unborn || at.lasting || at.identity != p.header.identity || at.pos < p.base() {
		return false, nil
	}
	if err := f.evict(p); err != nil {
		return false, f.failed(err)
	}
	return true, nil
}

// outgrew says that a file has outgrown the medium's capacity.
func (f *File) outgrew(p *part) bool {
	c := f.o.Retention.Capacity
	return c > 0 && p.f != nil && !p.blank && p.size > c
}

// evict has the medium go on in a new file; the append lock is held. The old file is synced too, so that after
// power loss it still reaches to where the new one begins.
func (f *File) evict(p *part) error {
	if err := f.sys.sync(p.f, false); err != nil {
		return err
	}
	next := p.header.successor(p.end(), f.o.Format)
	if _, err := f.prepare(f.gather(next.line(), ValuesOf())); err != nil {
		return err
	}
	if err := f.keep(p); err != nil {
		return err
	}
	return f.exchange()
}

func (f *File) temporary() string { return f.path + ".tmp" }

// prepare writes and syncs the file that is to take the medium's place, and answers its size.
func (f *File) prepare(chunks Values) (size int64, err error) {
	file, err := f.createAnew(f.temporary())
	if err != nil {
		return 0, err
	}
	for c, bad := range chunks {
		if err = bad; err == nil {
			err = f.writeAll(file, c)
		}
		if err != nil {
			break
		}
		size += int64(len(c))
	}
	if err == nil {
		err = f.sys.sync(file, true)
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		_ = f.sys.remove(f.temporary())
	}
	return size, err
}

// createAnew creates a temporary file in the place of whatever is left over there.
func (f *File) createAnew(path string) (*os.File, error) {
	if err := f.sys.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return f.create(path, os.O_WRONLY, f.o.Mode)
}

// writeAll writes to a file that nobody reads yet.
func (f *File) writeAll(file *os.File, b []byte) error {
	n, err := f.sys.write(file, b)
	if err == nil && n < len(b) {
		// The second write says why the first was short.
		if n, err = f.sys.write(file, b[n:]); err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
	}
	return err
}

// keep makes the present file x.1, by a second name for it or, where there are none, by a copy.
func (f *File) keep(p *part) error {
	temporary := f.previous() + ".tmp"
	if err := f.sys.remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.sys.link(f.path, temporary); err != nil {
		if err := f.copyTo(p, temporary); err != nil {
			return err
		}
	}
	if err := f.sys.rename(temporary, f.previous()); err != nil {
		return err
	}
	// To rename one of two names of a file to the other does nothing: after an eviction that was stopped, x.1 has
	// been the present file already.
	if err := f.sys.remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyTo copies a part, up to its end, and syncs the copy.
func (f *File) copyTo(p *part, path string) error {
	file, err := f.createAnew(path)
	if err != nil {
		return err
	}
	buf := make([]byte, chunk)
	for off := int64(0); err == nil && off < p.limit; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), p.limit-off)]
		if _, err = p.ReadAt(buf, off); err == nil {
			err = f.writeAll(file, buf)
		}
	}
	if err == nil {
		err = f.sys.sync(file, true)
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		_ = f.sys.remove(path)
	}
	return err
}

// exchange puts the prepared file into the medium's place.
func (f *File) exchange() error {
	if err := f.sys.rename(f.temporary(), f.path); err != nil {
		return err
	}
	return f.sys.syncFolder(f.path)
}
