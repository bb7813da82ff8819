package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// header is the first line of a file that was made by hand.
func header(identity string, base int64) string {
	return fmt.Sprintf(`{"dao.stream/type":"jsonl","dao.stream/identity":"%s","dao.stream/base":%d}`+"\n", identity, base)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// scribble appends by hand.
func scribble(t *testing.T, path, content string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// once reads once, and checks that a gap says why.
func once(t *testing.T, m stream.Medium, from stream.Cursor) reading {
	t.Helper()
	r := read(t.Context(), m, from, stream.Budget{})
	if r.State == stream.Gap && (r.Err == nil || len(r.texts) > 0) {
		t.Fatalf("a gap says %v and hands out %q", r.Err, r.texts)
	}
	return r
}

// wantOneGap reads a gap, and then from its recovery these values up to the end.
func wantOneGap(t *testing.T, m stream.Medium, from stream.Cursor, values ...[]byte) stream.Cursor {
	t.Helper()
	r := once(t, m, from)
	wantState(t, r.Answer, stream.Gap)
	r = once(t, m, r.Cursor)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, values...)
	return r.Cursor
}

func TestWhatAWriterReplacesIsOneGap(t *testing.T) {
	cases := map[string]struct {
		change func(t *testing.T, path string)
		then   [][]byte
	}{
		"cut short": {func(t *testing.T, path string) {
			lines := strings.SplitAfter(content(t, path), "\n")
			must(t, os.Truncate(path, int64(len(lines[0])+len(lines[1]))))
		}, objects(0, 1)},
		"emptied": {func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) }, nil},
		"emptied and begun anew": {func(t *testing.T, path string) {
			must(t, os.Truncate(path, 0))
			mustAppend(t, openPath(t, path, stream.FileOptions{}), objects(7, 9)...)
		}, objects(7, 9)},
		"cut and grown past the cursor": {func(t *testing.T, path string) {
			put(t, path, strings.SplitAfter(content(t, path), "\n")[0]+`{"n":7}`+"\n"+`{"n":8}`+"\n"+`{"n":9}`+"\n"+`{"n":10}`+"\n")
		}, objects(7, 11)},
		"another identity": {func(t *testing.T, path string) {
			put(t, path, header("another", 0)+`{"n":0}`+"\n")
		}, objects(0, 1)},
		"no identity": {func(t *testing.T, path string) { put(t, path, `{"n":5}`+"\n") }, objects(5, 6)},
		"a changed byte before the cursor": {func(t *testing.T, path string) {
			put(t, path, strings.Replace(content(t, path), `{"n":1}`, `{"n":5}`, 1))
		}, [][]byte{object(0), object(5), object(2)}},
		"an unfinished first line": {func(t *testing.T, path string) { put(t, path, `{"dao.stream/ty`) }, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			end := mustAppend(t, m, objects(0, 3)...).Cursor
			wantState(t, once(t, m, end).Answer, stream.Blocked)
			c.change(t, m.Path())
			after := wantOneGap(t, m, end, c.then...)
			if len(c.then) > 0 {
				scribble(t, m.Path(), `{"n":99}`+"\n")
				wantTexts(t, once(t, m, after).texts, object(99))
			}
		})
	}
}

func TestAnEmptiedFileIsBegunAnewWithoutASecondGap(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	end := mustAppend(t, m, objects(0, 3)...).Cursor
	must(t, os.Truncate(m.Path(), 0))
	unborn := wantOneGap(t, m, end)
	mustAppend(t, m, object(9))
	wantTexts(t, once(t, m, unborn).texts, object(9))
}

func TestAnUnbornCursorTakesWhateverAppears(t *testing.T) {
	appear := map[string]func(t *testing.T, path string){
		"the tool's":           func(t *testing.T, path string) { mustAppend(t, openPath(t, path, stream.FileOptions{}), object(1)) },
		"a hand's":             func(t *testing.T, path string) { put(t, path, `{"n":1}`+"\n") },
		"another tool's":       func(t *testing.T, path string) { put(t, path, header("x", 0)+`{"n":1}`+"\n") },
		"an empty file's":      func(t *testing.T, path string) { put(t, path, ""); scribble(t, path, `{"n":1}`+"\n") },
		"a late header's":      func(t *testing.T, path string) { put(t, path, header("x", 0)[:20]) },
		"an unfinished line's": func(t *testing.T, path string) { put(t, path, `{"n":`) },
	}
	rest := map[string]string{"a late header's": header("x", 0)[20:] + `{"n":1}` + "\n", "an unfinished line's": "1}\n"}
	for name, change := range appear {
		for _, edge := range []stream.Edge{stream.Oldest, stream.Newest} {
			t.Run(fmt.Sprint(name, edge), func(t *testing.T) {
				m := openFile(t, stream.FileOptions{})
				c := mustMint(t, m, edge)
				wantState(t, once(t, m, c).Answer, stream.Blocked)
				change(t, m.Path())
				if more, unfinished := rest[name]; unfinished {
					r := once(t, m, c)
					wantState(t, r.Answer, stream.Blocked)
					wantTexts(t, r.texts)
					c = r.Cursor
					scribble(t, m.Path(), more)
				}
				r := once(t, m, c)
				wantState(t, r.Answer, stream.Blocked)
				wantTexts(t, r.texts, object(1))
			})
		}
	}
}

func TestAnUnbornCursorIsToldWhatItMissed(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: 1 << 20}, SelfEvict: true})
	c := mustMint(t, m, stream.Newest)
	put(t, m.Path(), header("x", 1000)+`{"n":1}`+"\n")
	wantOneGap(t, m, c, object(1))
}

// inTheWay are the conditions that last, each made and ended by whoever owns the folder.
func inTheWay(t *testing.T) map[string]func(t *testing.T, path string) {
	t.Helper()
	return map[string]func(t *testing.T, path string){
		"nothing":     func(*testing.T, string) {},
		"a symlink":   func(t *testing.T, path string) { must(t, os.Symlink("elsewhere", path)) },
		"a loop":      func(t *testing.T, path string) { must(t, os.Symlink(filepath.Base(path), path)) },
		"a good link": func(t *testing.T, path string) { put(t, path+".real", "{}\n"); must(t, os.Symlink(path+".real", path)) },
		"a folder":    func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) },
		"a FIFO":      func(t *testing.T, path string) { makeFIFO(t, path) },
		"a device":    func(t *testing.T, path string) { makeDevice(t, path) },
		"a socket":    func(t *testing.T, path string) { makeSocket(t, path) },
	}
}

func TestAConditionThatLastsIsOneGapAtEachEnd(t *testing.T) {
	for name, obstruct := range inTheWay(t) {
		t.Run(name, func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			end := mustAppend(t, m, objects(0, 3)...).Cursor
			aside := m.Path() + ".aside"
			must(t, os.Rename(m.Path(), aside))
			obstruct(t, m.Path())
			r := once(t, m, end)
			wantState(t, r.Answer, stream.Gap)
			another := openPath(t, m.Path(), stream.FileOptions{}) // as another process
			for range 3 {
				r = once(t, m, r.Cursor)
				wantState(t, r.Answer, stream.Blocked)
				wantState(t, once(t, another, r.Cursor).Answer, stream.Blocked)
			}
			must(t, os.RemoveAll(m.Path()))
			must(t, os.Rename(aside, m.Path()))
			wantOneGap(t, m, r.Cursor, objects(0, 3)...)
		})
	}
}

func TestAConditionMeetsAnUnbornCursor(t *testing.T) {
	for name, obstruct := range inTheWay(t) {
		t.Run(name, func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			obstruct(t, m.Path())
			c := mustMint(t, m, stream.Newest)
			r := once(t, m, c)
			if name == "nothing" {
				wantState(t, r.Answer, stream.Blocked)
				return
			}
			wantState(t, r.Answer, stream.Gap)
			wantState(t, once(t, m, r.Cursor).Answer, stream.Blocked)
			must(t, os.RemoveAll(m.Path()))
			wantState(t, once(t, m, r.Cursor).Answer, stream.Blocked)
			mustAppend(t, m, object(1))
			wantOneGap(t, m, r.Cursor, object(1))
		})
	}
}

func TestNothingIsAppendedThroughAnObstacle(t *testing.T) {
	for name, obstruct := range inTheWay(t) {
		if name == "nothing" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			obstruct(t, m.Path())
			_, err := m.Append(t.Context(), stream.How{}, object(0))
			if !errors.Is(err, stream.ErrTransport) || !strings.Contains(err.Error(), m.Path()) {
				t.Fatalf("append: %v", err)
			}
			if name == "a good link" && content(t, m.Path()) != "{}\n" {
				t.Fatal("the link was followed")
			}
		})
	}
}

func TestTheFolderIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "holders", "x.jsonl")
	m := openPath(t, path, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	wantState(t, once(t, m, c).Answer, stream.Blocked)
	if _, err := m.Append(t.Context(), stream.How{}, object(0)); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("append: %v", err)
	}
	must(t, os.Mkdir(filepath.Dir(path), 0o755))
	mustAppend(t, m, object(1))
	wantTexts(t, once(t, m, c).texts, object(1))
	must(t, os.RemoveAll(filepath.Dir(path)))
	put(t, filepath.Dir(path), "a file in its place")
	wantState(t, once(t, m, mustCursor(t, m, c)).Answer, stream.Blocked)
}

// mustCursor reads the gap with which a condition begins, and answers its recovery cursor.
func mustCursor(t *testing.T, m stream.Medium, from stream.Cursor) stream.Cursor {
	t.Helper()
	r := once(t, m, from)
	if r.State == stream.Gap {
		return r.Cursor
	}
	return from
}

func TestWhatIsNotAdmittedIsALastingGap(t *testing.T) {
	var refuse error
	asked := 0
	m := openFile(t, stream.FileOptions{Admit: func(path string, fi fs.FileInfo) error {
		asked++
		if filepath.Base(path) != "facts.jsonl" || !fi.Mode().IsRegular() {
			t.Errorf("asked for %s, %v", path, fi.Mode())
		}
		return refuse
	}})
	c := mustMint(t, m, stream.Oldest)
	mustAppend(t, m, object(0))
	r := once(t, m, c)
	wantTexts(t, r.texts, object(0))
	if asked == 0 {
		t.Fatal("nobody was asked")
	}
	refuse = errors.New("the group can write it")
	mustAppend(t, m, object(1))
	r = once(t, m, r.Cursor)
	wantState(t, r.Answer, stream.Gap)
	if !errors.Is(r.Err, refuse) {
		t.Fatalf("the gap says %v", r.Err)
	}
	wantState(t, once(t, m, r.Cursor).Answer, stream.Blocked)
	refuse = nil
	wantOneGap(t, m, r.Cursor, objects(0, 2)...)
}

func TestASparseFileCostsNoMore(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: 4096}, SelfEvict: true})
	c := mustMint(t, m, stream.Oldest)
	mustAppend(t, m, object(0))
	c = once(t, m, c).Cursor
	must(t, os.Truncate(m.Path(), 1<<40))
	after := wantOneGap(t, m, c)
	mustAppend(t, m, object(1))
	r := drain(t, m, after)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, object(1))
}

func TestAWriterWhoNeverKeepsStillIsNoError(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: 4096}})
	var files [2]string
	for i := range files {
		files[i] = m.Path() + fmt.Sprint(".from", i)
		put(t, files[i], header("same", int64(i)*1000)+strings.Repeat(`{"n":1}`+"\n", 125*(i+1)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			b, _ := os.ReadFile(files[i%2])
			_ = os.WriteFile(m.Path()+".new", b[:len(b)-i%50], 0o644)
			_ = os.Rename(m.Path()+".new", []string{m.Path(), m.Path() + ".1"}[i%3%2])
			if i%7 == 0 {
				_ = os.Truncate(m.Path(), 0)
				_ = os.Remove(m.Path() + ".1")
			}
		}
	})
	c := mustMint(t, m, stream.Oldest)
	for range 3000 {
		r := read(t.Context(), m, c, stream.Budget{})
		if r.State == stream.Transport || r.State == stream.Invalid || r.State == stream.Mismatch {
			t.Errorf("%v: %v", r.State, r.Err)
			break
		}
		for _, text := range r.texts {
			if !bytes.Equal([]byte(text), object(1)) && !strings.HasPrefix(text, `{"n":1`) {
				t.Errorf("read %q", text)
			}
		}
		c = r.Cursor
	}
	cancel()
	wg.Wait()
}
