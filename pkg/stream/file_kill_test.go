package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var errDied = errors.New("the process has died")

// A mortal is a machine whose process dies at its step-th change: before it, after it, or within it where that can
// be. From then on nothing is changed any more.
type mortal struct {
	osSys
	step    int
	moment  string
	noLinks bool

	steps int
	names []string
	dead  bool
}

func moments() []string { return []string{"before", "within", "after"} }

// change makes one change, or dies about it. half, unless nil, makes it in part.
func (m *mortal) change(name string, whole, half func() error) error {
	if m.dead {
		return errDied
	}
	m.steps++
	m.names = append(m.names, name)
	if m.steps != m.step {
		return whole()
	}
	m.dead = true
	var err error
	switch {
	case m.moment == "after":
		err = whole()
	case m.moment == "within" && half != nil:
		err = half()
	}
	return errors.Join(errDied, err)
}

func (m *mortal) openRead(path string) (*os.File, error) {
	if m.dead {
		return nil, errDied
	}
	return m.osSys.openRead(path)
}

func (m *mortal) open(path string, flag int, mode fs.FileMode) (f *os.File, err error) {
	if flag&os.O_CREATE == 0 && !m.dead {
		return m.osSys.open(path, flag, mode)
	}
	err = m.change("create", func() error {
		f, err = m.osSys.open(path, flag, mode)
		return err
	}, nil)
	if err != nil && f != nil {
		_ = f.Close()
	}
	return f, err
}

func (m *mortal) write(f *os.File, p []byte) (n int, err error) {
	part := func(size int) func() error {
		return func() error {
			n, err = m.osSys.write(f, p[:size])
			return err
		}
	}
	err = m.change("write", part(len(p)), part(len(p)/2))
	return n, err
}

func (m *mortal) sync(f *os.File, whole bool) error {
	return m.change("sync", func() error { return m.osSys.sync(f, whole) }, nil)
}

func (m *mortal) link(from, to string) error {
	if m.noLinks {
		return fs.ErrInvalid
	}
	return m.change("link", func() error { return m.osSys.link(from, to) }, nil)
}

func (m *mortal) rename(from, to string) error {
	return m.change("rename", func() error { return m.osSys.rename(from, to) }, nil)
}

func (m *mortal) remove(path string) error {
	return m.change("remove", func() error { return m.osSys.remove(path) }, nil)
}

func (m *mortal) syncFolder(path string) error {
	return m.change("folder", func() error { return m.osSys.syncFolder(path) }, nil)
}

// killed runs one life of a medium for every change that it makes and every moment of it, and shows each corpse to
// check. live returns when an operation fails.
func killed(t *testing.T, o FileOptions, noLinks bool, prepare func(t *testing.T, f *File), live func(t *testing.T, f *File) error,
	check func(t *testing.T, f *File), wants ...string) {
	for _, moment := range moments() {
		for step := 1; ; step++ {
			m := &mortal{step: step, moment: moment, noLinks: noLinks}
			t.Run(fmt.Sprintf("%s-%d", moment, step), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x.jsonl")
				prepare(t, opened(t, path, o, osSys{}))
				err := live(t, opened(t, path, o, m))
				if err != nil && !errors.Is(err, errDied) {
					t.Fatalf("after %v: %v", m.names, err)
				}
				check(t, opened(t, path, o, osSys{}))
			})
			if !m.dead {
				for _, want := range wants {
					if !slices.Contains(m.names, want) {
						t.Fatalf("a life without %q: %v", want, m.names)
					}
				}
				break
			}
		}
	}
}

func opened(t *testing.T, path string, o FileOptions, s sys) *File {
	t.Helper()
	o.Name = "x"
	f, err := OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	f.sys = s
	return f
}

// taken is what a read came to.
type taken struct {
	Answer
	values  []string
	damaged int
}

func takeAll(t *testing.T, f *File, from Cursor) taken {
	t.Helper()
	var got taken
	got.Answer = f.Read(t.Context(), from, Budget{}, func(v Value) bool {
		if v.Damage != "" {
			got.damaged++
		} else {
			got.values = append(got.values, string(v.Bytes))
		}
		return true
	})
	return got
}

func minted(t *testing.T, f *File, at Edge) Cursor {
	t.Helper()
	c, err := f.Mint(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func appended(t *testing.T, f *File, how How, values ...string) Appended {
	t.Helper()
	done, err := f.Append(t.Context(), how, raw(values)...)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func raw(values []string) (out [][]byte) {
	for _, v := range values {
		out = append(out, []byte(v))
	}
	return out
}

// numbered are n values that begin with a letter's worth of text.
func numbered(kind string, n, size int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(`{"%s":"%0*d"}`, kind, size, i))
	}
	return out
}

func TestAnAppendKilledAtAnyPoint(t *testing.T) {
	batches := [][]string{{`{"n":0}`}, {`{"n":1}`, `{"n":2}`, `{"n":3}`}, {`{"n":4}`}}
	var acknowledged int
	var before Cursor
	killed(t, FileOptions{}, false, func(t *testing.T, f *File) {
		acknowledged, before = 0, minted(t, f, Oldest)
	}, func(t *testing.T, f *File) error {
		for _, b := range batches {
			if _, err := f.Append(t.Context(), How{Sync: true}, raw(b)...); err != nil {
				return err
			}
			acknowledged++
		}
		return nil
	}, func(t *testing.T, f *File) {
		all := slices.Concat(batches...)
		least := len(slices.Concat(batches[:acknowledged]...))
		most := len(slices.Concat(batches[:min(acknowledged+1, len(batches))]...))
		got := takeAll(t, f, before)
		if got.State != Blocked || got.damaged > 0 {
			t.Fatalf("%v %v, %d damaged", got.State, got.Err, got.damaged)
		}
		if n := len(got.values); n < least || n > most || !slices.Equal(got.values, all[:n]) {
			t.Fatalf("read %q, acknowledged %q", got.values, all[:least])
		}
		appended(t, f, How{}, `{"n":"after"}`)
		after := takeAll(t, f, got.Cursor)
		if !slices.Equal(after.values, []string{`{"n":"after"}`}) || after.State != Blocked || after.damaged > 1 {
			t.Fatalf("then read %q, %d damaged, %v %v", after.values, after.damaged, after.State, after.Err)
		}
	}, "create", "write", "sync", "folder")
}

func TestAnEvictionKilledAtAnyPoint(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		t.Run(fmt.Sprintf("noLinks=%v", noLinks), func(t *testing.T) { evictionKilled(t, noLinks) })
	}
}

func evictionKilled(t *testing.T, noLinks bool) {
	o := FileOptions{Retention: Retention{Capacity: 4096}, SelfEvict: true}
	present := numbered("present", 50, 80)
	var inPresent, atEnd Cursor
	acknowledged := false
	last := `{"last":true}`
	wants := []string{"create", "write", "sync", "link", "rename", "folder"}
	if noLinks {
		wants = []string{"create", "write", "sync", "rename", "folder"}
	}
	killed(t, o, noLinks, func(t *testing.T, f *File) {
		appended(t, f, How{}, numbered("older", 50, 80)...)
		inPresent = appended(t, f, How{Cursor: true}, present[0]).Cursor
		atEnd = appended(t, f, How{Cursor: true}, present[1:]...).Cursor
		if _, err := os.Lstat(f.previous()); err != nil {
			t.Fatal("nothing was evicted before:", err)
		}
		acknowledged = false
	}, func(t *testing.T, f *File) error {
		_, err := f.Append(t.Context(), How{}, []byte(last))
		acknowledged = err == nil
		return err
	}, func(t *testing.T, f *File) {
		if fi, err := os.Lstat(f.path); err != nil || fi.Size() == 0 {
			t.Fatal("the present file is missing or empty:", err)
		}
		got := takeAll(t, f, inPresent)
		if got.State != Blocked || len(got.values) < 49 || !slices.Equal(got.values[:49], present[1:]) {
			t.Fatalf("%v (%v): read %d values: %.200q", got.State, got.Err, len(got.values), got.values)
		}
		tail := takeAll(t, f, atEnd)
		if tail.State != Blocked || acknowledged && !slices.Equal(tail.values, []string{last}) {
			t.Fatalf("%v (%v): read %q at the end", tail.State, tail.Err, tail.values)
		}
		more := numbered("more", 50, 80)
		appended(t, f, How{}, more...)
		appended(t, f, How{}, last)
		then := takeAll(t, f, got.Cursor)
		if then.State != Blocked || !slices.Equal(then.values, append(more, last)) {
			t.Fatalf("%v (%v): then read %d values: %.200q", then.State, then.Err, len(then.values), then.values)
		}
	}, wants...)
}

func TestARewritingKilledAtAnyPoint(t *testing.T) {
	before, after := numbered("before", 3, 5), numbered("after", 2, 5)
	acknowledged := false
	killed(t, FileOptions{Format: 3}, false, func(t *testing.T, f *File) {
		appended(t, f, How{}, before...)
		acknowledged = false
	}, func(t *testing.T, f *File) error {
		_, err := f.Rewrite(t.Context(), minted(t, f, Newest), ValuesOf(raw(after)...))
		acknowledged = err == nil
		return err
	}, func(t *testing.T, f *File) {
		if _, err := os.Lstat(f.path); err != nil {
			t.Fatal("the file is missing:", err)
		}
		got := takeAll(t, f, minted(t, f, Oldest))
		old, anew := slices.Equal(got.values, before), slices.Equal(got.values, after)
		if got.State != Blocked || got.damaged > 0 || !anew && !old || acknowledged && !anew {
			t.Fatalf("%v (%v): read %q, acknowledged: %v", got.State, got.Err, got.values, acknowledged)
		}
		if n, err := f.Format(t.Context()); n != 3 || err != nil {
			t.Fatalf("format %d, %v", n, err)
		}
		if _, err := f.Rewrite(t.Context(), "", ValuesOf(raw(after)...)); err != nil {
			t.Fatal("the next rewriting:", err)
		}
		if got := takeAll(t, f, minted(t, f, Oldest)); !slices.Equal(got.values, after) {
			t.Fatalf("read %q after the next rewriting", got.values)
		}
	}, "create", "write", "sync", "rename", "folder")
}
