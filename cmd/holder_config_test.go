package cmd

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// While the text of the configuration is the one that the holder's notes keep, it is not read as YAML again, and says
// the same as if it were. Any other text is read, and counts at once.
func TestConfigurationThatNotesKeep(t *testing.T) {
	const config = "cadence: 2s\nunits: {ms: 1, s: 1000, h: 3600000}\nretention: {holders: 64KiB, ticks: 8KiB}\n" + tinyConfig
	w := newFakeWorld(t)
	w.composition(t, config)
	w.held(t)
	who := func(name string, err error) func() (string, error) {
		return func() (string, error) { return name, err }
	}
	open := func(from string) *Config {
		t.Helper()
		c, err := findHeld(w.App, who("alice", nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := map[bool]string{true: "file", false: "notes"}[len(c.Config.Subjects) > 0]; got != from {
			t.Errorf("the configuration is of the %s, want the %s", got, from)
		}
		return c.Config
	}
	kept, read := open("notes"), w.composition(t, config).Config
	read.Subjects, read.lines = nil, nil
	read.Tolerance, read.DrainBudget, read.Reclaim, read.Retention.Ledger = 0, 0, Reclaim{}, 0 // of the judge alone
	if !reflect.DeepEqual(kept, read) {
		t.Errorf("kept %+v\nread %+v", kept, read)
	}

	writeFile(t, configFile(w.dir()), config+"# one comment more\n", 0o644)
	open("file")
	w.must(t, 0, "--as alice renew")
	open("notes")
	writeFile(t, configFile(w.dir()), "cadence: 3s\n"+tinyConfig, 0o644)
	if got := open("file").Cadence; got != 3*time.Second {
		t.Errorf("the cadence is %v, want the 3s that are written there now", got)
	}
	w.must(t, 0, "--as alice release")
	if got := open("notes").Cadence; got != 3*time.Second {
		t.Errorf("the notes keep a cadence of %v, want 3s", got)
	}

	// Nobody's notes, and those of an earlier program, which did not say of what text they keep it.
	if c, err := findHeld(w.App, who("", errors.New("nobody"))); err != nil || len(c.Config.Subjects) == 0 {
		t.Errorf("without a holder: %v, want what the file says", err)
	}
	n, err := readNotes(w.composition(t, config).notes("alice"))
	if err != nil {
		t.Fatal(err)
	}
	n.Config.Of = ""
	if err := w.composition(t, config).writeNotes("alice", &n); err != nil {
		t.Fatal(err)
	}
	open("file")
}
