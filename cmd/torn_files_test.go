package cmd

import (
	"os"
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
	// What an attempt leaves behind that was killed before its rename is in nobody's way.
	writeFile(t, c.grantorDir()+"/.token.tmp", "99", 0o600)
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
