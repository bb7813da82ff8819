package stream_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// FuzzSplit writes bytes by hand in pieces, and reads between them: however they are split, the values, their
// positions and the damage are those of the bytes at once, read at once.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("{\"n\":1}\n{\"n\":2}\n\nabc\x00\n\r\nunfinished"), []byte{3, 0, 9, 1})
	f.Add([]byte(header("x", 77)+"{\"n\":1}\n{\"n\":2}\n"), []byte{20, 50, 2})
	f.Add([]byte(header("x", stream.MaxBase+1)+"\n\n"), []byte{1, 1, 1})
	f.Add([]byte("{\"a\":1}\n{\"dao.stream/closed\":true}\n{\"b\":2}\n"), []byte{10, 10})
	f.Add(append(bytes.Repeat([]byte("y"), stream.MaxValue+5), "\n{}\n"...), []byte{255, 254})
	f.Fuzz(func(t *testing.T, content, cuts []byte) {
		whole := openFile(t, stream.FileOptions{})
		c := mustMint(t, whole, stream.Oldest)
		put(t, whole.Path(), string(content))
		var want story
		want.goOn(t, whole, c)

		split := openFile(t, stream.FileOptions{})
		var got story
		c = mustMint(t, split, stream.Oldest)
		rest := content
		for _, cut := range slices.Concat(cuts, []byte{0}) {
			n := min(int(cut), len(rest))
			switch cut {
			case 0:
				n = len(rest)
			case 255:
				n = min(stream.MaxValue+2, len(rest))
			}
			scribble(t, split.Path(), string(rest[:n]))
			rest = rest[n:]
			c = got.goOn(t, split, c)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("in pieces %.2000q\nat once   %.2000q", fmt.Sprint(got), fmt.Sprint(want))
		}
	})
}

// story is what a reader who goes on after gaps is told.
type story struct {
	texts, damaged []string
	positions      []stream.Position
	gaps           int
	last           stream.State
}

func (s *story) goOn(t *testing.T, m stream.Medium, from stream.Cursor) stream.Cursor {
	t.Helper()
	for range 5 {
		r := drain(t, m, from)
		s.texts = append(s.texts, r.texts...)
		s.damaged = append(s.damaged, r.damaged...)
		s.positions = append(s.positions, r.positions...)
		s.last, from = r.State, r.Cursor
		if r.State != stream.Gap {
			return from
		}
		s.gaps++
	}
	t.Fatal("gap after gap")
	return from
}

// FuzzCursor reads by any text: it is answered, never believed.
func FuzzCursor(f *testing.F) {
	m, err := stream.OpenFile(f.TempDir()+"/x.jsonl", stream.FileOptions{Name: "x"})
	if err != nil {
		f.Fatal(err)
	}
	done, err := m.Append(f.Context(), stream.How{Cursor: true}, objects(0, 3)...)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(done.Cursor))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		r := drain(t, m, stream.Cursor(text))
		if r.State == stream.Transport || len(r.texts) > 3 {
			t.Fatalf("%v (%v), %q", r.State, r.Err, r.texts)
		}
	})
}
