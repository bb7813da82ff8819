package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestJudgeOnALedgerThatWasCut has a judge begin on what is left of a ledger: cut at a sample of bytes, damaged in a
// line, deleted, or of yesterday. It says on stderr that it recovered, or exits 9 with the remedy; it never goes on as if
// nothing had been.
func TestJudgeOnALedgerThatWasCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, minute, map[string]string{"free": noting})
	w.live(1)
	w.want(0, []string{"judge", "--once"})
	yesterday := w.read("grantor/ledger.jsonl")
	w.live(2)
	w.live(3)
	w.want(0, []string{"judge", "--once"}, "goes on with the ledger")
	text := w.read("grantor/ledger.jsonl")
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	saved := w.snapshotOf("grantor")
	last := len(text) - len(lines[len(lines)-1])
	recovered := func(name, content string) {
		t.Helper()
		saved()
		w.write("grantor/ledger.jsonl", 0o600, content)
		r := w.run("judge", "--once")
		if r.code != 0 || !strings.Contains(r.errs, "the ledger was recovered") {
			t.Errorf("%s: not recovered: %v", name, r)
		}
		w.want(0, []string{"judge", "--once"}, "goes on with the ledger")
		w.oneRecordEach()
	}
	lost := func(name string) {
		t.Helper()
		for _, args := range [][]string{{"judge", "--once"}, {"judge", "--dry-run"}, {"grant", "new", "alice"}} {
			if r := w.run(args...); r.code != 9 || !strings.Contains(r.errs, "daolease recover") {
				t.Errorf("%s: no loss: %v", name, r)
			}
		}
	}
	for _, cut := range []int{last + 1, last + 40, len(text) - 2, len(text) - 1} {
		recovered(fmt.Sprint("cut within the last group, at ", cut), text[:cut])
	}
	recovered("the newest incarnation is gone", text[:len(yesterday)])
	recovered("half of it is gone", text[:len(yesterday)-10])
	recovered("junk at the end", text+"junk\n")
	recovered("the last line is junk", text[:last]+strings.Repeat("x", len(text)-last-1)+"\n")

	for _, cut := range []int{0, 1, len(lines[0]) - 1, len(lines[0]), len(lines[0]) + len(lines[1]) - 2} {
		saved()
		w.write("grantor/ledger.jsonl", 0o600, text[:cut])
		lost(fmt.Sprint("cut at ", cut))
	}
	for _, at := range []int{1, 2, len(lines) - 2} {
		saved()
		w.write("grantor/ledger.jsonl", 0o600, strings.Join(lines[:at], "")+"junk\n"+strings.Join(lines[at+1:], ""))
		lost(fmt.Sprint("junk in line ", at))
	}
	saved()
	w.must(os.Remove(w.path("grantor/ledger.jsonl")))
	lost("deleted")
	w.want(0, []string{"recover"})
	w.want(0, []string{"judge", "--once"}, "goes on with the ledger")
}

// snapshotOf remembers the plain files of a folder; what it answers restores them.
func (w *world) snapshotOf(folder string) (restore func()) {
	w.Helper()
	entries, err := os.ReadDir(w.path(folder))
	w.must(err)
	files := map[string][]byte{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files[e.Name()] = []byte(w.read(folder + "/" + e.Name()))
		}
	}
	return func() {
		w.Helper()
		for name, text := range files {
			path := w.path(folder + "/" + name)
			if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, text) {
				continue
			}
			w.must(os.WriteFile(path, text, 0o600))
		}
	}
}

// oneRecordEach: whatever was lost of the ledger, a lease is recorded once.
func (w *world) oneRecordEach() {
	w.Helper()
	for id, list := range w.of("lapsed") {
		if len(list) != 1 {
			w.Errorf("%s was recorded %d times", id, len(list))
		}
	}
}
