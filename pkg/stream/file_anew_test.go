package stream_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// A hand-written file that is lost and holds the same line again afterwards has a gap: the second line is not
// the first.
func TestWrittenAnewWithTheSameLine(t *testing.T) {
	const line = "{\"a\":1}\n"
	for name, lose := range map[string]func(path string) error{
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte(line), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"truncated": func(path string) error {
			if err := os.WriteFile(path, []byte(line), 0o644); err != nil {
				return err
			}
			later := time.Now().Add(time.Second)
			return os.Chtimes(path, later, later)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			must(t, os.WriteFile(path, []byte(line), 0o644))
			f, err := stream.OpenFile(path, stream.FileOptions{})
			must(t, err)
			cursor, err := f.Mint(t.Context(), stream.Oldest)
			must(t, err)
			read := func() (values int, state stream.State) {
				a := f.Read(t.Context(), cursor, stream.Budget{}, func(stream.Value) bool { values++; return true })
				cursor = a.Cursor
				return values, a.State
			}
			if n, state := read(); n != 1 || state != stream.Blocked {
				t.Fatalf("at first: %d values, %v", n, state)
			}
			if n, state := read(); n != 0 || state != stream.Blocked {
				t.Fatalf("nothing new: %d values, %v", n, state)
			}
			must(t, lose(path))
			if _, state := read(); state != stream.Gap {
				t.Fatalf("after the loss: %v", state)
			}
			if n, state := read(); n != 1 || state != stream.Blocked {
				t.Fatalf("after the gap: %d values, %v", n, state)
			}
		})
	}
}
