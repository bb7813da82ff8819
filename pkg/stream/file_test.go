package stream_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

func TestWhatOpenFileRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	for name, o := range map[string]stream.FileOptions{
		"a capacity below 4 KiB": {Retention: stream.Retention{Capacity: 4095}},
		"a negative capacity":    {Retention: stream.Retention{Capacity: -4096}},
		"eviction of nothing":    {SelfEvict: true},
		"a mode that is none":    {Mode: fs.ModeDir | 0o755},
		"a negative format":      {Format: -1},
		"a negative wait":        {LockWait: -time.Second},
	} {
		if _, err := stream.OpenFile(path, o); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, bad := range []string{"", "a\x00b"} {
		if _, err := stream.OpenFile(bad, stream.FileOptions{}); err == nil {
			t.Errorf("the path %q is allowed", bad)
		}
	}
	m := openPath(t, path, stream.FileOptions{Retention: stream.Retention{Capacity: 4096}})
	if m.Path() != path {
		t.Errorf("path %q", m.Path())
	}
	mustMint(t, m, stream.Oldest)
	everything(t, m)
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) > 0 || err != nil {
		t.Errorf("opening or reading created %v, %v", entries, err)
	}
}

func TestTheFileAsItIsWritten(t *testing.T) {
	m := openFile(t, stream.FileOptions{Format: 2})
	mustAppend(t, m, object(0), object(1))
	lines := strings.Split(content(t, m.Path()), "\n")
	if !slices.Equal(lines[1:], []string{`{"n":0}`, `{"n":1}`, ""}) {
		t.Fatalf("lines %q", lines)
	}
	head, tail, _ := strings.Cut(lines[0], `"dao.stream/identity":"`)
	identity, rest, _ := strings.Cut(tail, `"`)
	if head != `{"dao.stream/type":"jsonl",` || rest != `,"dao.stream/base":0,"dao.stream/format":2}` || len(identity) < 16 {
		t.Fatalf("header %q", lines[0])
	}
	other := openFile(t, stream.FileOptions{})
	mustAppend(t, other, object(0))
	if strings.Contains(content(t, other.Path()), identity) {
		t.Fatal("two media have one identity")
	}
}

func TestModesAndWhatIsCreated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	var created []string
	o := evicting()
	o.Mode = 0o666
	o.Created = func(f *os.File) error {
		created = append(created, filepath.Base(f.Name()))
		return nil
	}
	m := openFile(t, o)
	withUmask(t, 0o077, func() {
		fill(t, m, 0)
		mustAppend(t, m, wide(41))
	})
	for name, mode := range map[string]fs.FileMode{"": 0o666, ".1": 0o666, ".lock": 0o600} {
		fi, err := os.Stat(m.Path() + name)
		if err != nil || fi.Mode() != mode {
			t.Errorf("%s: %v, want %v; %v", name, fi.Mode(), mode, err)
		}
	}
	if want := []string{"facts.jsonl.lock", "facts.jsonl", "facts.jsonl.tmp"}; !slices.Equal(created, want) {
		t.Errorf("created %q, want %q", created, want)
	}
	if _, err := m.Rewrite(t.Context(), "", stream.ValuesOf(object(0))); err != nil || created[len(created)-1] != "facts.jsonl.tmp" || len(created) != 4 {
		t.Errorf("a rewriting created %q, %v", created, err)
	}
	refuse := errors.New("not to be given away")
	m = openFile(t, stream.FileOptions{Created: func(*os.File) error { return refuse }})
	if _, err := m.Append(t.Context(), stream.How{}, object(0)); !errors.Is(err, refuse) || !errors.Is(err, stream.ErrTransport) {
		t.Errorf("append: %v", err)
	}
}

func TestCursorsNameTheirMedium(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	m := openPath(t, path, stream.FileOptions{Name: "alice"})
	c := mustAppend(t, m, object(0)).Cursor
	same := openPath(t, path, stream.FileOptions{Name: "alice", Retention: stream.Retention{Capacity: 4096}})
	wantState(t, once(t, same, c).Answer, stream.Blocked)
	other := openPath(t, path, stream.FileOptions{})
	r := once(t, other, c)
	wantState(t, r.Answer, stream.Mismatch)
	if r.Cursor != c {
		t.Fatal("the cursor is lost")
	}
	for _, foreign := range []stream.Cursor{c, "junk"} {
		if _, err := other.Append(t.Context(), stream.How{Expect: foreign}, object(1)); !errors.Is(err, stream.ErrMoved) {
			t.Fatalf("append after %q: %v", foreign, err)
		}
	}
}

func TestFormat(t *testing.T) {
	m := openFile(t, stream.FileOptions{Format: 7})
	if _, err := m.Format(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("of nothing: %v", err)
	}
	wants := func(want int) {
		t.Helper()
		for _, o := range []stream.FileOptions{{}, {Format: 7}} {
			if got, err := openPath(t, m.Path(), o).Format(t.Context()); got != want || err != nil {
				t.Fatalf("format %d, %v; want %d", got, err, want)
			}
		}
	}
	mustAppend(t, m, object(0))
	wants(7)
	put(t, m.Path(), header("x", 0))
	wants(0)
	put(t, m.Path(), "{}\n")
	wants(0)
	if _, err := m.Rewrite(t.Context(), "", stream.ValuesOf(object(0))); err != nil {
		t.Fatal(err)
	}
	wants(7)
	must(t, os.Remove(m.Path()))
	must(t, os.Mkdir(m.Path(), 0o755))
	if _, err := m.Format(t.Context()); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("of a folder: %v", err)
	}
}

func TestLinesWrittenByHand(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	scribble(t, m.Path(), `{"n":0}`+"\n")
	scribble(t, m.Path(), "  {\"n\": 1} \n\n")
	done := mustAppend(t, m, object(2))
	scribble(t, m.Path(), `{"n":3}`+"\n")
	r := once(t, m, c)
	if want := []string{`{"n":0}`, `  {"n": 1} `, "", `{"n":2}`, `{"n":3}`}; !slices.Equal(r.texts, want) {
		t.Fatalf("read %q", r.texts)
	}
	if want := []stream.Position{0, 8, 20, 21, 29}; !slices.Equal(r.positions, want) || done.Position != 21 {
		t.Fatalf("at %v, want %v; appended at %v", r.positions, want, done.Position)
	}
	if at, err := stream.CursorPosition(done.Cursor); at != 29 || err != nil {
		t.Fatalf("the cursor after it is at %v, %v", at, err)
	}
}

func TestBlankLinesCount(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	put(t, m.Path(), "\n\n\n{}\n")
	r := read(t.Context(), m, mustMint(t, m, stream.Oldest), stream.Budget{Values: 3})
	wantState(t, r.Answer, stream.OK)
	if !slices.Equal(r.texts, []string{"", "", ""}) {
		t.Fatalf("read %q", r.texts)
	}
}

func TestHeadersByHand(t *testing.T) {
	long := `{"dao.stream/type":"jsonl","dao.stream/identity":"x","dao.stream/base":5,"pad":"` + strings.Repeat("a", 3000) + `"}` + "\n"
	over := strings.Replace(long, "aaa", strings.Repeat("a", 1500), 1)
	for name, c := range map[string]struct {
		first string
		base  stream.Position
		value bool // the line is a value itself
	}{
		"a base":            {header("x", 1000), 1000, false},
		"the greatest base": {header("x", stream.MaxBase), stream.MaxBase, false},
		"a greater base":    {header("x", stream.MaxBase+1), 0, true},
		"a bad identity":    {header("x y", 0), 0, true},
		"a long header":     {long, 5, false},
		"too long a header": {over, 0, true},
		"an ordinary line":  {"{}\n", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			put(t, m.Path(), c.first+`{"n":0}`+"\n")
			r := everything(t, m)
			want := []string{`{"n":0}`}
			at := []stream.Position{c.base}
			if c.value {
				want = []string{strings.TrimSuffix(c.first, "\n"), `{"n":0}`}
				at = []stream.Position{0, stream.Position(len(c.first))}
			}
			if !slices.Equal(r.texts, want) || !slices.Equal(r.positions, at) {
				t.Fatalf("read %.100q at %v", r.texts, r.positions)
			}
			done := mustAppend(t, m, object(1))
			if done.Position != at[len(at)-1]+8 {
				t.Fatalf("appended at %v", done.Position)
			}
			wantTexts(t, once(t, m, r.Cursor).texts, object(1))
		})
	}
}

func TestAClosedFileUntilItIsReplaced(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	mustAppend(t, m, object(0))
	mustClose(t, m)
	if !strings.HasSuffix(content(t, m.Path()), `{"n":0}`+"\n"+`{"dao.stream/closed":true}`+"\n") {
		t.Fatalf("the file is %q", content(t, m.Path()))
	}
	mustClose(t, m)
	r := everything(t, m)
	wantState(t, r.Answer, stream.End)
	for range 3 {
		r = once(t, openPath(t, m.Path(), stream.FileOptions{}), r.Cursor)
		wantState(t, r.Answer, stream.End)
	}
	wantState(t, once(t, m, mustMint(t, m, stream.Newest)).Answer, stream.End)
	if _, err := m.Rewrite(t.Context(), "", stream.ValuesOf(object(1))); !errors.Is(err, stream.ErrClosed) {
		t.Fatalf("rewrite: %v", err)
	}
	must(t, os.Remove(m.Path()))
	mustAppend(t, m, object(5))
	wantOneGap(t, m, r.Cursor, object(5))
}

func TestAnEmptyMediumCanBeClosed(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	mustClose(t, m)
	wantState(t, once(t, m, c).Answer, stream.End)
	if _, err := m.Append(t.Context(), stream.How{}, object(1)); !errors.Is(err, stream.ErrClosed) {
		t.Fatalf("append: %v", err)
	}
}

func TestAnAppendWaitsForTheLockAndNoLonger(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	for name, waiting := range map[string]*stream.File{
		"another process": openPath(t, m.Path(), stream.FileOptions{LockWait: 50 * time.Millisecond}),
		"this one":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			holder := m
			if waiting == nil {
				waiting = openPath(t, m.Path(), stream.FileOptions{LockWait: 50 * time.Millisecond})
				holder = waiting
			}
			_, release, err := holder.Hold(t.Context())
			must(t, err)
			_, err = waiting.Append(t.Context(), stream.How{}, object(0))
			if !errors.Is(err, stream.ErrTransport) || !strings.Contains(err.Error(), "the file system did not answer") {
				t.Fatalf("append: %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := waiting.Append(ctx, stream.How{}, object(0)); !errors.Is(err, context.Canceled) {
				t.Fatalf("append: %v", err)
			}
			release()
			release()
			mustAppend(t, waiting, object(1))
		})
	}
}

func TestAReaderTakesNoLock(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	under, release, err := m.Hold(t.Context())
	must(t, err)
	defer release()
	mustAppend(t, under, object(0))
	wantTexts(t, once(t, m, c).texts, object(0))
	wantTexts(t, everything(t, openPath(t, m.Path(), stream.FileOptions{})).texts, object(0))
}

func TestTheLockFileStays(t *testing.T) {
	m := openFile(t, evicting())
	mustAppend(t, m, object(0))
	before, err := os.Stat(m.Path() + ".lock")
	must(t, err)
	fill(t, m, fill(t, m, 0))
	_, err = m.Rewrite(t.Context(), "", stream.ValuesOf(object(1)))
	must(t, err)
	mustClose(t, m)
	after, err := os.Stat(m.Path() + ".lock")
	if err != nil || !os.SameFile(before, after) {
		t.Fatal("the lock is another file:", err)
	}
	must(t, os.Remove(m.Path()+".lock"))
	must(t, os.Symlink(m.Path(), m.Path()+".lock"))
	if _, err := m.Append(t.Context(), stream.How{}, object(0)); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("through a link for a lock: %v", err)
	}
}

func TestARewritingIsAGapThatKeepsPositionsRising(t *testing.T) {
	m := openFile(t, evicting())
	fill(t, m, 0)
	old := mustAppend(t, m, wide(41))
	c, err := m.Rewrite(t.Context(), old.Cursor, stream.ValuesOf(objects(0, 3)...))
	must(t, err)
	wantState(t, once(t, m, c).Answer, stream.Blocked)
	wantOneGap(t, m, old.Cursor, objects(0, 3)...)
	if r := everything(t, m); r.positions[0] <= old.Position {
		t.Fatalf("positions went back from %v to %v", old.Position, r.positions[0])
	}
	if _, err := os.Stat(m.Path() + ".1"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the older file is left:", err)
	}
	if _, err := m.Rewrite(t.Context(), old.Cursor, stream.ValuesOf()); !errors.Is(err, stream.ErrMoved) {
		t.Fatalf("rewrite: %v", err)
	}
	big := make([][]byte, 0, 5000)
	for n := range 5000 {
		big = append(big, wide(n))
	}
	c, err = m.Rewrite(t.Context(), c, stream.ValuesOf(big...))
	must(t, err)
	plain := openPath(t, m.Path(), stream.FileOptions{})
	wantTexts(t, everything(t, plain).texts, big...)
	wantState(t, once(t, m, c).Answer, stream.Blocked)
}
