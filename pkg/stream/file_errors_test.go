//go:build unix

package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// failing is a machine that answers errors to order.
type failing struct {
	osSys
	reads  []error // of the next opens for reading; nil lets one through
	writes []shortWrite
	syncs  []error
	synced []string
	meddle func() // called once, before the next write
}

// shortWrite lets a part of a write through, counted from its end when negative.
type shortWrite struct {
	n   int
	err error
}

func next[T any](queue *[]T) (first T) {
	if len(*queue) > 0 {
		first, *queue = (*queue)[0], (*queue)[1:]
	}
	return first
}

func (s *failing) openRead(path string) (*os.File, error) {
	if err := next(&s.reads); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return s.osSys.openRead(path)
}

func (s *failing) write(f *os.File, p []byte) (int, error) {
	if meddle := s.meddle; meddle != nil {
		s.meddle = nil
		meddle()
	}
	if len(s.writes) == 0 {
		return s.osSys.write(f, p)
	}
	short := next(&s.writes)
	if short.n < 0 {
		short.n += len(p)
	}
	n, err := s.osSys.write(f, p[:short.n])
	return n, errors.Join(err, short.err)
}

func (s *failing) sync(f *os.File, whole bool) error {
	s.synced = append(s.synced, filepath.Base(f.Name()))
	return errors.Join(next(&s.syncs), s.osSys.sync(f, whole))
}

func (s *failing) syncFolder(path string) error {
	s.synced = append(s.synced, "folder")
	return s.osSys.syncFolder(path)
}

func failingFile(t *testing.T, o FileOptions) (*File, *failing) {
	t.Helper()
	s := &failing{}
	return opened(t, filepath.Join(t.TempDir(), "x.jsonl"), o, s), s
}

func TestErrorsOfOpening(t *testing.T) {
	cases := []struct {
		errs []error
		want State
	}{
		{[]error{unix.EACCES}, Gap},
		{[]error{unix.EPERM}, Gap},
		{[]error{unix.ENOENT}, Gap}, // gone between the stat and the open
		{[]error{unix.ELOOP}, Gap},
		{[]error{unix.ENXIO}, Gap},
		{[]error{unix.EAGAIN}, Gap},
		{[]error{unix.ESTALE}, Blocked}, // once: the path leads to it again
		{[]error{unix.ESTALE, unix.ESTALE}, Gap},
		{[]error{unix.EIO}, Transport},
		{[]error{unix.EMFILE}, Transport},
		{[]error{unix.ENFILE}, Transport},
		{[]error{unix.ENOMEM}, Transport},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.errs), func(t *testing.T) {
			f, s := failingFile(t, FileOptions{})
			from := minted(t, f, Oldest)
			appended(t, f, How{}, `{"n":1}`)
			s.reads = slices.Clone(c.errs)
			if c.want == Gap {
				from = appended(t, f, How{Cursor: true}, `{"n":2}`).Cursor
				appended(t, f, How{}, `{"n":3}`)
				s.reads = slices.Clone(c.errs)
			}
			got := takeAll(t, f, from)
			if got.State != c.want || (got.Err == nil) != (c.want == Blocked) {
				t.Fatalf("%v: %v", got.State, got.Err)
			}
			if c.want == Transport && (!errors.Is(got.Err, ErrTransport) || !errors.Is(got.Err, c.errs[0]) || got.Cursor != from) {
				t.Fatalf("%v at %q", got.Err, got.Cursor)
			}
			if c.want != Gap {
				return
			}
			s.reads = slices.Clone(c.errs)
			lasts := takeAll(t, f, got.Cursor)
			if lasts.State != Blocked || lasts.Cursor != got.Cursor {
				t.Fatalf("while it lasts: %v %v", lasts.State, lasts.Err)
			}
			over := takeAll(t, f, lasts.Cursor)
			if over.State != Gap {
				t.Fatalf("at its end: %v %v", over.State, over.Err)
			}
			if all := takeAll(t, f, over.Cursor); len(all.values) != 3 || all.State != Blocked {
				t.Fatalf("after it: %v %v %q", all.State, all.Err, all.values)
			}
		})
	}
}

func TestErrorsOfOpeningTheOlderFile(t *testing.T) {
	f, s := failingFile(t, FileOptions{Retention: Retention{Capacity: 4096}, SelfEvict: true})
	from := appended(t, f, How{Cursor: true}, `{"n":1}`).Cursor
	appended(t, f, How{}, numbered("n", 50, 80)...)
	appended(t, f, How{}, `{"n":2}`)
	s.reads = []error{nil, unix.EMFILE}
	if got := takeAll(t, f, from); got.State != Transport || got.Cursor != from {
		t.Fatalf("EMFILE: %v %v", got.State, got.Err)
	}
	s.reads = []error{nil, unix.EACCES, nil, unix.EACCES}
	if got := takeAll(t, f, from); got.State != Gap {
		t.Fatalf("EACCES: %v %v", got.State, got.Err)
	}
	s.reads = []error{nil, unix.ESTALE}
	if got := takeAll(t, f, from); got.State != Blocked || len(got.values) != 51 {
		t.Fatalf("ESTALE: %v %v", got.State, got.Err)
	}
}

func TestMintAndTheMachine(t *testing.T) {
	f, s := failingFile(t, FileOptions{})
	appended(t, f, How{}, `{"n":1}`)
	s.reads = []error{unix.EIO}
	if _, err := f.Mint(t.Context(), Newest); !errors.Is(err, ErrTransport) || !errors.Is(err, unix.EIO) {
		t.Fatalf("mint: %v", err)
	}
	s.reads = []error{unix.EACCES, unix.EACCES}
	c := minted(t, f, Newest)
	if got := takeAll(t, f, c); got.State != Gap {
		t.Fatalf("then %v %v", got.State, got.Err)
	}
}

func TestShortWrites(t *testing.T) {
	line := len(`{"n":1}` + "\n")
	cases := []struct {
		name  string
		write shortWrite
		want  error
		read  int
	}{
		{"nothing for want of room", shortWrite{0, unix.ENOSPC}, ErrFull, 0},
		{"nothing for want of quota", shortWrite{0, unix.EDQUOT}, ErrFull, 0},
		{"nothing for the limit of a file", shortWrite{0, unix.EFBIG}, ErrFull, 0},
		{"half a value", shortWrite{4, nil}, ErrFull, 0},
		{"all but the newline", shortWrite{line - 1, nil}, ErrFull, 0},
		{"the first value", shortWrite{line, nil}, ErrTransport, 1},
		{"the first value and a half", shortWrite{line + 3, unix.ENOSPC}, ErrTransport, 1},
		{"all but the last newline", shortWrite{-1, nil}, ErrTransport, 2},
		{"nothing for a broken disk", shortWrite{0, unix.EIO}, ErrTransport, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, s := failingFile(t, FileOptions{})
			from := appended(t, f, How{Cursor: true}, `{"n":0}`).Cursor
			s.writes = []shortWrite{c.write}
			_, err := f.Append(t.Context(), How{}, raw([]string{`{"n":1}`, `{"n":2}`, `{"n":3}`})...)
			if !errors.Is(err, c.want) || errors.Is(err, ErrFull) != (c.want == ErrFull) || !strings.Contains(err.Error(), f.path) {
				t.Fatalf("append: %v, want %v", err, c.want)
			}
			appended(t, f, How{}, `{"n":9}`)
			want := append(slices.Clone([]string{`{"n":1}`, `{"n":2}`}[:c.read]), `{"n":9}`)
			got := takeAll(t, f, from)
			if !slices.Equal(got.values, want) || got.State != Blocked {
				t.Fatalf("read %q, want %q; %v", got.values, want, got.Err)
			}
		})
	}
}

func TestWhatIsSynced(t *testing.T) {
	f, s := failingFile(t, FileOptions{Retention: Retention{Capacity: 4096}, SelfEvict: true})
	wants := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(s.synced, want) {
			t.Fatalf("%s synced %q, want %q", what, s.synced, want)
		}
		s.synced = nil
	}
	appended(t, f, How{}, `{"n":0}`)
	wants("the first append", "folder")
	appended(t, f, How{}, `{"n":1}`)
	wants("an append")
	appended(t, f, How{Sync: true}, `{"n":2}`)
	wants("an append with sync", "x.jsonl")
	appended(t, f, How{}, numbered("n", 50, 80)...)
	s.synced = nil
	appended(t, f, How{}, `{"n":3}`)
	wants("an eviction", "x.jsonl", "x.jsonl.tmp", "folder")
	if _, err := f.Rewrite(t.Context(), "", ValuesOf([]byte(`{}`))); err != nil {
		t.Fatal(err)
	}
	wants("a rewriting", "x.jsonl.tmp", "folder")
	f.o.SyncAll = true
	appended(t, f, How{}, `{"n":4}`)
	wants("an append where all are", "x.jsonl")
	s.syncs = []error{unix.EIO}
	if _, err := f.Append(t.Context(), How{}, []byte(`{}`)); !errors.Is(err, ErrTransport) || errors.Is(err, ErrFull) {
		t.Fatalf("an append that could not be synced: %v", err)
	}
}

func TestARewritingWithoutRoomLeavesTheOld(t *testing.T) {
	f, s := failingFile(t, FileOptions{})
	end := appended(t, f, How{Cursor: true}, `{"n":0}`).Cursor
	s.writes = []shortWrite{{10, nil}, {0, unix.ENOSPC}}
	if _, err := f.Rewrite(t.Context(), end, ValuesOf([]byte(`{"n":1}`))); !errors.Is(err, ErrFull) {
		t.Fatalf("rewrite: %v", err)
	}
	if _, err := os.Stat(f.temporary()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the temporary file is left:", err)
	}
	if got := takeAll(t, f, minted(t, f, Oldest)); !slices.Equal(got.values, []string{`{"n":0}`}) {
		t.Fatalf("read %q", got.values)
	}
}

func TestAnIdleReadIsOneStat(t *testing.T) {
	f, s := failingFile(t, FileOptions{})
	appended(t, f, How{}, `{"n":0}`)
	c := minted(t, f, Newest)
	idle := func() {
		if got := f.Read(context.Background(), c, Budget{}, nil); got.State != Blocked || got.Cursor != c {
			t.Fatalf("%v %v", got.State, got.Err)
		}
	}
	if file, err := os.Open(f.path); err != nil || isRemote(file) {
		t.Skip("on a network file system every read opens the file")
	}
	idle()
	s.reads = []error{unix.EMFILE}
	idle()
	if n := testing.AllocsPerRun(100, idle); n > 0 {
		t.Errorf("%v allocations", n)
	}
	appended(t, f, How{}, `{"n":1}`)
	if got := f.Read(t.Context(), c, Budget{}, nil); got.State != Transport {
		t.Fatalf("after a change it was not opened: %v", got.State)
	}
}

func TestSomebodyWritesWithoutTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		theirs string
		ok     bool
		read   []string
	}{
		"a line":             {`{"n":"theirs"}` + "\n", true, []string{`{"n":"theirs"}`, `{"n":1}`, `{"n":2}`}},
		"an unfinished line": {`{"n":"the`, false, []string{`{"n":"the{"n":1}`, `{"n":2}`}},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := failingFile(t, FileOptions{})
			from := appended(t, f, How{Cursor: true}, `{"n":0}`).Cursor
			s.meddle = func() {
				file, err := os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = file.WriteString(c.theirs)
				}
				if err != nil || file.Close() != nil {
					t.Error(err)
				}
			}
			done, err := f.Append(t.Context(), How{Cursor: true}, raw([]string{`{"n":1}`, `{"n":2}`})...)
			if (err == nil) != c.ok || !c.ok && !errors.Is(err, ErrTransport) {
				t.Fatalf("append: %v", err)
			}
			got := takeAll(t, f, from)
			if got.State != Blocked || !slices.Equal(got.values, c.read) {
				t.Fatalf("read %q; %v %v", got.values, got.State, got.Err)
			}
			if c.ok && (done.Cursor != got.Cursor || int(done.Position) != len(`{"n":0}`)+1+len(c.theirs)) {
				t.Fatalf("appended at %v, %q; read to %q", done.Position, done.Cursor, got.Cursor)
			}
		})
	}
}
