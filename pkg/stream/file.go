package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// leastCapacity is the least capacity that a medium can be declared with (SPEC 3).
const leastCapacity = 4096

// defaultLockWait is how long an append waits for the lock (SPEC 3).
const defaultLockWait = 5 * time.Second

// Retention is what a medium keeps (SPEC 3). The zero Retention is complete: everything. With a capacity, in
// bytes and at least 4 KiB, the oldest is evicted once the file has outgrown it; the file before it is kept.
type Retention struct{ Capacity int64 }

// FileOptions are how a file medium differs from a plain one.
type FileOptions struct {
	// Name names the medium in its cursors: a cursor of another name is a mismatch. Default: the path.
	Name      string
	Retention Retention
	// SelfEvict has Append evict once the file has outgrown the capacity. Without it only Evict does.
	SelfEvict bool
	// Mode is that of the file, whatever the umask. Default: 0644.
	Mode fs.FileMode
	// Format, when above 0, is written into the header of every file begun, for its reader to ask for.
	Format int
	// SyncAll syncs every append, as a network file system wants it. On Linux those are recognized besides.
	SyncAll bool
	// Admit, unless nil, is asked with the stat of every descriptor that was opened for reading. Its error says
	// why this file is not to be read: a condition that lasts, hence a gap.
	Admit func(path string, fi fs.FileInfo) error
	// Created, unless nil, is called with every file that the medium creates (itself, its lock, temporary ones)
	// before anything is written to it.
	Created func(f *os.File) error
	// LockWait is how long an append waits for the lock. Default: 5 s.
	LockWait time.Duration
}

// File is the JSONL file medium (SPEC 3): one value a line. Beside its file x it has the lock x.lock, and x.1 with
// what was evicted last. No descriptor is kept open between calls.
type File struct {
	path       string
	terminated []byte // the path with a NUL after it, for pathStamp
	medium     [8]byte
	o          FileOptions
	sys        sys
	gate       chan struct{} // full while a goroutine of this process has the lock or waits for it

	mu    sync.Mutex // guards what follows: hints, each of which is checked before it is used
	idle  idle
	news  stamp  // how the file looked when Idle said that it had changed
	local stamp  // the file that was found on no network file system, see stamp.file
	first string // a first line that was read last
	head  header // what it says
	// changed: news was not read yet
	changed bool
}

// idle is the answer of the last read that came to the end, and how the file looked before that read.
type idle struct {
	text  Cursor
	state State
	stamp stamp
}

var _ Rewriter = (*File)(nil)

// OpenFile makes the medium of a path. It opens and starts nothing: an error is a misuse.
func OpenFile(path string, o FileOptions) (*File, error) {
	switch c := o.Retention.Capacity; {
	case path == "" || strings.ContainsRune(path, 0):
		return nil, fmt.Errorf("%q is no path of a medium", path)
	case c < 0 || c > 0 && c < leastCapacity:
		return nil, fmt.Errorf("%s: a capacity of %d bytes, the least is %d", path, c, leastCapacity)
	case o.SelfEvict && c == 0:
		return nil, fmt.Errorf("%s: to evict by itself wants a capacity", path)
	case o.Mode&^fs.ModePerm != 0 || o.Format < 0 || o.LockWait < 0:
		return nil, fmt.Errorf("%s: mode %v, format %d, wait %v: out of range", path, o.Mode, o.Format, o.LockWait)
	}
	if o.Name == "" {
		o.Name = path
	}
	if o.Mode == 0 {
		o.Mode = 0o644
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	return &File{
		path:       path,
		terminated: append([]byte(path), 0),
		medium:     mediumHash(o.Name),
		o:          o,
		sys:        osSys{},
		gate:       make(chan struct{}, 1),
	}, nil
}

// Path is the path of the medium's file.
func (f *File) Path() string { return f.path }

// previous is the path of the file before the present one.
func (f *File) previous() string { return f.path + ".1" }

// Format is the format that the present file's header names, 0 when it names none. A medium that is missing or
// empty answers an error that is fs.ErrNotExist.
func (f *File) Format(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, f.transport(err)
	}
	v, err := f.look()
	if err != nil {
		return 0, f.transport(err)
	}
	defer v.close()
	if v.cond != nil && !v.cond.missing {
		return 0, f.transport(v.cond)
	}
	if v.now.blank {
		return 0, fmt.Errorf("%s: nothing in it yet: %w", f.path, fs.ErrNotExist)
	}
	return v.now.header.format, nil
}

// Size implements Rewriter: the bytes of the present file and of the one before it.
func (f *File) Size(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, f.transport(err)
	}
	var sum int64
	for _, path := range []string{f.path, f.previous()} {
		st, err := pathStamp(path, append([]byte(path), 0))
		if err != nil {
			return 0, f.transport(err)
		}
		if st.kind == 0 {
			sum += st.size
		}
	}
	return sum, nil
}

// Close implements Medium. Closing what is closed is done already.
func (f *File) Close(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = f.appendLocked(How{Sync: true}, [][]byte{[]byte(closingMark)})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// transport says that the machine failed, or that the caller's context is over.
func (f *File) transport(err error) error {
	return fmt.Errorf("%s: %w: %w", f.path, ErrTransport, err)
}

// headerOf is what a first line says. Most files are read again and again, so the last one is remembered.
func (f *File) headerOf(line []byte) (header, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(line) > 0 && string(line) == f.first {
		return f.head, true
	}
	h, ok := parseHeader(line)
	if ok {
		f.first, f.head = string(line), h
	}
	return h, ok
}
