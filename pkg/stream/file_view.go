package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// condition is what keeps a file from being read for as long as it lasts, by its writer's doing: it is missing,
// something else lies in its place, it may not be opened, or it is not admitted (SPEC 3).
type condition struct {
	err     error
	missing bool
	// unsure says that the condition may end without the path's stamp changing.
	unsure bool
}

func (c *condition) Error() string { return c.err.Error() }
func (c *condition) Unwrap() error { return c.err }

// asCondition tells what a writer can do to a file from what is the machine's failure: nil.
func asCondition(err error) *condition {
	var c *condition
	switch {
	case errors.As(err, &c):
		return c
	case isMissing(err):
		return &condition{err: err, missing: true, unsure: true}
	case isWriters(err):
		return &condition{err: err, unsure: true}
	}
	return nil
}

// part is one of the two files that a medium lies in, opened.
type part struct {
	f      *os.File // nil when it is missing
	header header
	start  int64 // offset of the first byte after the header
	limit  int64 // offset at which its values end
	size   int64 // the file's, when it was opened
	blank  bool  // nothing in it says yet what it is: it is missing, empty, or its first line is unfinished
}

// base and end are the positions between which the part's values lie.
func (p *part) base() int64              { return p.header.base }
func (p *part) end() int64               { return p.position(p.limit) }
func (p *part) position(off int64) int64 { return p.header.base + off - p.start }
func (p *part) offset(pos int64) int64   { return p.start + pos - p.header.base }

// ReadAt reads from the file; a missing one is empty.
func (p *part) ReadAt(b []byte, off int64) (int, error) {
	if p.f == nil {
		return 0, io.EOF
	}
	return p.f.ReadAt(b, off)
}

func (p *part) close() {
	if p != nil && p.f != nil {
		_ = p.f.Close()
	}
}

// openPart opens a file for reading. Its error may be a condition.
func (f *File) openPart(path string, admit bool) (*part, error) {
	file, err := f.sys.openRead(path)
	if err != nil {
		return nil, err
	}
	asked := anyFile
	if admit && f.o.Admit != nil {
		asked = func(fi fs.FileInfo) error { return f.admitted(path, fi) }
	}
	p, err := f.partOf(file, asked)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return p, nil
}

func (f *File) admitted(path string, fi fs.FileInfo) error {
	if err := f.o.Admit(path, fi); err != nil {
		return &condition{err: fmt.Errorf("%s is not to be read: %w", path, err), unsure: true}
	}
	return nil
}

// partOf finds out what an open file is, if that is admitted.
func (f *File) partOf(file *os.File, admit func(fs.FileInfo) error) (*part, error) {
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &condition{err: notRegular(file.Name(), fi.Mode())}
	}
	if err := admit(fi); err != nil {
		return nil, err
	}
	p := &part{f: file, size: min(fi.Size(), math.MaxInt64-MaxBase)}
	p.limit = p.size
	return p, f.readHeader(p)
}

// anyFile admits every file.
func anyFile(fs.FileInfo) error { return nil }

func notRegular(path string, mode fs.FileMode) error {
	return fmt.Errorf("%s is no regular file: %v", path, mode.Type())
}

// readHeader reads a part's first line.
func (f *File) readHeader(p *part) error {
	for _, most := range [...]int64{256, headerMost} {
		buf := make([]byte, min(most, p.size))
		n, err := p.ReadAt(buf, 0)
		if err != nil && err != io.EOF {
			return err
		}
		i := bytes.IndexByte(buf[:n], '\n')
		switch {
		case i >= 0:
			if h, ok := f.headerOf(buf[:i]); ok {
				p.header, p.start = h, int64(i)+1
			}
			return nil
		case int64(n) == p.size || n < len(buf):
			p.blank, p.start = true, p.limit
			return nil
		}
	}
	return nil
}

// view is a medium as one call sees it.
type view struct {
	file  *File
	stamp stamp // of the path, from before it was opened
	cond  *condition
	now   *part // the present file; blank when there is a condition
	old   *part // the one before it; nil when there is none that now goes on after
	asked bool  // whether old has been looked for
	admit bool  // whether old is opened for handing out values, so that Admit is asked
}

// look opens the present file for reading. A condition is part of the view; an error is the machine's.
func (f *File) look() (*view, error) {
	v := &view{file: f, now: &part{blank: true}, admit: true}
	err := v.open()
	if isStale(err) {
		// A network file system has lost the file: the path may lead to another one (SPEC 3).
		err = v.open()
	}
	if isStale(err) {
		err = &condition{err: err, unsure: true}
	}
	if err == nil {
		return v, nil
	}
	if v.cond = asCondition(err); v.cond == nil {
		return nil, err
	}
	return v, nil
}

func (v *view) open() (err error) {
	f := v.file
	if v.stamp, err = f.latest(); err != nil {
		return err
	}
	if v.stamp.missing {
		return &condition{err: fmt.Errorf("%s is missing", f.path), missing: true}
	}
	if v.stamp.kind != 0 {
		// To open a device can be an act by itself, so what is no regular file is not even opened.
		return &condition{err: notRegular(f.path, v.stamp.kind)}
	}
	p, err := f.openPart(f.path, true)
	if err == nil {
		v.now = p
	}
	return err
}

// remote says that the present file lies on a network file system. One file does not move between file systems,
// so it is asked once.
func (v *view) remote() bool {
	f := v.file
	if v.now.f == nil {
		return false
	}
	f.mu.Lock()
	local := f.local
	f.mu.Unlock()
	if local.ino != 0 && local == v.stamp.file() {
		return false
	}
	if isRemote(v.now.f) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.local = v.stamp.file()
	return false
}

func (v *view) close() {
	v.now.close()
	v.old.close()
}

// older is the file before the present one, read up to where that begins, or nil when nothing of it is to be had.
// An eviction since the present one was opened is no matter: then what lies there now does not go before it, and
// what did is gone.
// A blank present file is taken for what it will be begun as: one that goes on at the older one's end (SPEC 3).
func (v *view) older() (*part, error) {
	if v.asked {
		return v.old, nil
	}
	p, err := v.file.openPart(v.file.previous(), v.admit)
	if err != nil && asCondition(err) == nil {
		return nil, err
	}
	v.asked = true
	if err != nil || p.blank {
		p.close()
		return nil, nil
	}
	next := v.now.header
	if v.now.blank {
		next = header{identity: p.header.identity, base: p.end()}
	}
	limit := p.offset(next.base)
	if !next.follows(p.header) || limit > p.limit {
		p.close()
		return nil, nil
	}
	p.limit, v.now.header, v.old = limit, next, p
	return p, nil
}
