package judge_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// FuzzLedger begins a judge on any bytes; with sums, every line that has one has the right one, so that what is
// behind the sum is reached too. It begins on the last whole group, or says why not.
func FuzzLedger(f *testing.F) {
	_, text := recordedLedger(f)
	f.Add(text, false)
	f.Add(text[:len(text)-7], false)
	f.Add(bytes.Replace(text, []byte("pass"), []byte("paSs"), 3), false)
	for _, members := range []string{
		`"granted":[null]`, `"holders":{"a":null}`, `"renewed":["L1"]`, `"unknown":["x"],"at":-9223372036854775808`,
		`"granted":[{"lease":"x","subject":"s","holder":"a","duration":{"ms":4503599627370496},"tenure_start":9223372036854775807}],"now":-5`,
		`"granted":[{"lease":"x"}]`, `"snapshot":true,"stalls":[{"from":9,"to":-9}],"left":["L1"]`, `"start":{"format":2}`,
	} {
		f.Add([]byte(`{"sum":"00000000","group":1,"line":0,"last":true,`+members+"}\n"), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, sums bool) {
		if sums {
			lines := bytes.Split(text, []byte("\n"))
			for i := range lines {
				lines[i] = judge.WithSum(lines[i])
			}
			text = bytes.Join(lines, []byte("\n"))
		}
		w := newWorld(t, "a", "b")
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		w.cfg.Place, w.cfg.Adopt, w.cfg.Expected = "here", true, true
		if err := w.beginOn(path); err != nil {
			if !explained(err) {
				t.Fatal(err)
			}
			return
		}
		w.wantGrantedIn(text)
		w.wantWhole(path)
		before := w.judge.Incarnation()
		dump := judge.Dump(w.judge)
		if err := w.beginOn(path); err != nil {
			t.Fatalf("it began, and the next does not: %v", err)
		}
		if w.judge.Began() != judge.Threaded || w.judge.Incarnation() != before+1 {
			t.Fatalf("the next began %v, incarnation %d after %d", w.judge.Began(), w.judge.Incarnation(), before)
		}
		if got := judge.Dump(w.judge); withoutHead(got) != withoutHead(dump) {
			t.Fatalf("the next has\n%s\nafter\n%s", got, dump)
		}
	})
}

// explained says that an error is one of those by which a judge refuses a ledger: it is lost, newer, in units
// that the table does not have, or closed by hand.
func explained(err error) bool {
	return errors.Is(err, judge.ErrLost) || errors.Is(err, judge.ErrFormat) ||
		strings.HasPrefix(err.Error(), "the ledger at position ") || strings.Contains(err.Error(), "the ledger's readings are in ") ||
		strings.Contains(err.Error(), "over the bound") || strings.HasPrefix(err.Error(), "reading the ledger: end")
}

// beginOn starts a judge whose ledger is a file.
func (w *world) beginOn(path string) error {
	m, err := stream.OpenFile(path, stream.FileOptions{Name: "ledger", Format: 1, Mode: 0o600})
	if err != nil {
		return err
	}
	cfg := w.config()
	cfg.Ledger = m
	j, err := judge.New(w.t.Context(), cfg)
	if err == nil {
		w.judge = j
	}
	return err
}

// wantGrantedIn: every live lease is one that a sound line grants.
func (w *world) wantGrantedIn(text []byte) {
	w.t.Helper()
	granted := map[string]bool{}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		for _, id := range judge.GrantedIn(line) {
			granted[id] = true
		}
	}
	for _, id := range w.live() {
		if !granted[id] {
			w.t.Fatalf("lease %q is live, and no sound line grants it", id)
		}
	}
}

// wantWhole: what is on disk now is what the judge knows.
func (w *world) wantWhole(path string) {
	w.t.Helper()
	m, err := stream.OpenFile(path, stream.FileOptions{Name: "ledger"})
	if err != nil {
		w.t.Fatal(err)
	}
	dump, _, discarded, err := judge.Replayed(w.t.Context(), m, w.judge)
	if err != nil || discarded > 0 {
		w.t.Fatalf("read back: %v, %d discarded", err, discarded)
	}
	if want := judge.Dump(w.judge); dump != want {
		w.t.Fatalf("read back:\n%s\nin memory:\n%s", dump, want)
	}
}

// withoutHead is a dump without the line of pass and incarnation, and that of the start.
func withoutHead(dump string) string {
	var kept []byte
	for line := range bytes.Lines([]byte(dump)) {
		if !bytes.HasPrefix(line, []byte("pass, incarnation")) && !bytes.HasPrefix(line, []byte("start ")) {
			kept = append(kept, line...)
		}
	}
	return string(kept)
}
