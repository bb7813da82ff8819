package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A token that was cut is lower than it was: it is not believed.
func TestATokenThatWasCutIsNone(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "subjects: [{match: a, reclaim: none}]")
	tokens := tokenFile{c}
	if err := tokens.Raise(t.Context(), 1234); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(c.tokenFile())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		writeFile(t, c.tokenFile(), string(whole[:cut]), 0o600)
		if n, err := tokens.Highest(t.Context()); err == nil {
			t.Errorf("%q is token %d", whole[:cut], n)
		}
	}
	writeFile(t, c.tokenFile(), string(whole), 0o600)
	// What an attempt leaves behind that was killed before its rename is no token.
	writeFile(t, c.grantorDir()+"/.token.123.tmp", "99", 0o600)
	if n, err := tokens.Highest(t.Context()); n != 1234 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := tokens.Raise(t.Context(), 1235); err != nil {
		t.Error(err)
	}
	if n, err := tokens.Highest(t.Context()); n != 1235 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// Notes that were cut are none, at whichever byte.
func TestNotesThatWereCutAreNone(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "subjects: [{match: a, reclaim: none}]")
	writeFile(t, c.notes("alice"), "", 0o600)
	want := notes{Host: "h", Boot: "b", Unit: "ms", Tick: 12}
	if err := c.writeNotes("alice", &want); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(c.notes("alice"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) - 1 { // without its newline it is all there
		writeFile(t, c.notes("alice"), string(whole[:cut]), 0o600)
		if n, err := readNotes(c.notes("alice")); err == nil {
			t.Errorf("%q is %+v", whole[:cut], n)
		}
	}
	writeFile(t, c.notes("alice"), string(whole), 0o600)
	if n, err := readNotes(c.notes("alice")); err != nil || n.Tick != 12 {
		t.Errorf("%+v, %v", n, err)
	}
}

// What a replacement leaves behind that was killed before its rename is swept away by the next one of that file;
// what only looks like it stays.
func TestWhatAKilledReplacementLeft(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "subjects: [{match: a, reclaim: none}]")
	writeFile(t, c.notes("alice"), "", 0o600)
	if err := (tokenFile{c}).Raise(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for dir, replace := range map[string]func() error{
		c.grantorDir():       func() error { return tokenFile{c}.Raise(t.Context(), 2) },
		c.holderDir("alice"): func() error { return c.writeNotes("alice", &notes{Host: "h"}) },
	} {
		base := map[string]string{c.grantorDir(): "token", c.holderDir("alice"): "notes.json"}[dir]
		left := filepath.Join(dir, "."+base+".17.tmp")
		others := []string{"." + base + ".tmp", "." + base + "..tmp", "." + base + ".17", "." + base + ".x.tmp", base + ".17.tmp", ".other.17.tmp"}
		for _, name := range others {
			writeFile(t, filepath.Join(dir, name), "", 0o600)
		}
		for _, err := range []error{
			os.Mkdir(filepath.Join(dir, "."+base+".18.tmp"), 0o700),
			os.Symlink(configFile(c.Dir), filepath.Join(dir, "."+base+".19.tmp")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		writeFile(t, left, "half", 0o600)
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
		for _, name := range append(others, "."+base+".18.tmp", "."+base+".19.tmp") {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
}
