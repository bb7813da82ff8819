//go:build unix

package stream

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What lies at the path may be exchanged, or gone, between Idle's answer and the read that follows it.
func TestIdleThenRead(t *testing.T) {
	for name, c := range map[string]struct {
		between func(t *testing.T, f *File)
		first   State
		values  []string // of the read after that
	}{
		"nothing": {func(*testing.T, *File) {}, Blocked, nil},
		"another file": {func(t *testing.T, f *File) {
			other, _ := failingFile(t, FileOptions{})
			appended(t, other, How{}, `{"n":7}`)
			if err := os.Rename(other.path, f.path); err != nil {
				t.Fatal(err)
			}
		}, Gap, []string{`{"n":7}`}},
		"none": {func(t *testing.T, f *File) {
			if err := os.Remove(f.path); err != nil {
				t.Fatal(err)
			}
		}, Gap, nil},
		"a folder": {func(t *testing.T, f *File) {
			if err := os.Remove(f.path); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(f.path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, Gap, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := failingFile(t, FileOptions{})
			at := takeAll(t, f, appended(t, f, How{Cursor: true}, `{"n":0}`).Cursor).Cursor
			appended(t, f, How{}, `{"n":1}`)
			if _, idle := f.Idle(at); idle {
				t.Fatal("idle after an append")
			}
			c.between(t, f)
			first := takeAll(t, f, at)
			if first.State != c.first {
				t.Fatalf("the read answers %v (%v)", first.State, first.Err)
			}
			then := takeAll(t, f, first.Cursor)
			if then.State != Blocked || !slices.Equal(then.values, c.values) {
				t.Fatalf("then %v %q (%v)", then.State, then.values, then.Err)
			}
			if again := takeAll(t, f, then.Cursor); again.State != Blocked || len(again.values) > 0 {
				t.Fatalf("at last %v %q", again.State, again.values)
			}
		})
	}
}

// The stamp that Idle leaves serves one read: one that came to its end by it is looked at anew.
func TestIdleLeavesItsStampOnce(t *testing.T) {
	f, _ := failingFile(t, FileOptions{})
	if folder, err := os.Open(filepath.Dir(f.path)); err != nil || isRemote(folder) {
		t.Skip("on a network file system nothing is idle")
	}
	at := takeAll(t, f, appended(t, f, How{Cursor: true}, `{"n":0}`).Cursor).Cursor
	for range 3 {
		appended(t, f, How{}, `{"n":1}`)
		if _, idle := f.Idle(at); idle {
			t.Fatal("idle after an append")
		}
		appended(t, f, How{}, `{"n":2}`)
		got := takeAll(t, f, at)
		if len(got.values) != 2 {
			t.Fatalf("read %q", got.values)
		}
		at = takeAll(t, f, got.Cursor).Cursor
		if _, idle := f.Idle(at); !idle {
			t.Fatal("not idle although nothing came")
		}
	}
}
