package cmd

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
)

// appendTo adds lines to a medium as anybody with an editor could.
func appendTo(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
}

// writtenGrant is a grant as a grantor could write it by hand, with extra members.
func writtenGrant(id, subject, holder, extra string) string {
	return fmt.Sprintf(`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":%q,"dao.lease/subject":%q,"dao.lease/holder":%q,"dao.lease/duration":{"s":30}%s}`,
		id, subject, holder, extra)
}

func renewalOf(id string) string {
	return fmt.Sprintf(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q}`, id)
}

func releaseOf(id string) string {
	return fmt.Sprintf(`{"dao.lease/status":"dao.lease/released","dao.lease/lease":%q}`, id)
}

func proposalFor(id, subject, extra string) string {
	return fmt.Sprintf(`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":%q,"dao.lease/subject":%q%s}`, id, subject, extra)
}

func (w *fakeWorld) grantorFacts() string { return filepath.Join(w.dir(), "grantor", "facts.jsonl") }
func (w *fakeWorld) factsOf(name string) string {
	return filepath.Join(w.dir(), "holders", name, "facts.jsonl")
}

// inspected is what inspect answers as JSON, which must be one document.
func (w *fakeWorld) inspected(t *testing.T, args ...string) inspection {
	t.Helper()
	out, _ := w.must(t, 0, strings.Join(append([]string{"inspect", "-o", "json"}, args...), " "))
	var doc inspection
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if doc.Note != inspectNote || doc.Conclusion == "" || doc.Judge.Text == "" || doc.Leases == nil || doc.Warnings == nil {
		t.Errorf("it does not say what it shows: %s", out)
	}
	return doc
}

// only is the one lease of an answer.
func (doc inspection) only(t *testing.T) leaseRow {
	t.Helper()
	if len(doc.Leases) != 1 {
		t.Fatalf("%d leases: %+v", len(doc.Leases), doc.Leases)
	}
	return doc.Leases[0]
}

func (w *fakeWorld) millis(t *testing.T, c *Composition, d *lease.Duration) int64 {
	t.Helper()
	if d == nil {
		t.Fatal("there is none")
	}
	n, err := c.Config.Units.Count(*d)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestInspectOfNothing(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	doc := w.inspected(t)
	if len(doc.Leases) != 0 || doc.Source != fromMedia || doc.AsOf != nil || doc.Judge.Passing == nil || *doc.Judge.Passing {
		t.Errorf("%+v", doc)
	}
	appendTo(t, w.grantorFacts(), "junk", `{"a":1,"a":2}`, "", "[]", `{"dao.lease/status":"dao.lease/accepted"}`)
	appendTo(t, w.factsOf("bob"), "\x00\x01", "{")
	if doc := w.inspected(t); len(doc.Leases) != 0 {
		t.Errorf("junk is no lease: %+v", doc)
	}
	out, _ := w.must(t, 0, "inspect")
	contains(t, out, "no judge has passed here yet")
	contains(t, out, inspectNote)
	if err := os.RemoveAll(c.grantorDir()); err != nil {
		t.Fatal(err)
	}
	w.inspected(t)
	w.must(t, exitNothingHeld, "inspect build")
}

func TestInspectCountsWhatIsLeft(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", `,"daolease/token":7`),
		writtenGrant("L2", "other", "bob", `,"dao.lease/max":{"s":10}`))
	w.must(t, 0, "judge --once")
	w.clock.run(500)
	doc := w.inspected(t)
	if doc.Source != fromLedger || doc.AsOf == nil || doc.Judge.Passing == nil || !*doc.Judge.Passing || doc.Judge.Incarnation != 1 {
		t.Errorf("%+v", doc)
	}
	first, second := doc.Leases[0], doc.Leases[1]
	if got := w.millis(t, c, first.Left); got != 31500 || first.LeftBy != lease.BySilence || first.State != stateLive || first.Evidence != "known" {
		t.Errorf("%d ms are left: %+v", got, first)
	}
	if got := w.millis(t, c, first.LastAgo); got != 500 || *first.Token != 7 || first.StartTime != "≈ 2030-01-02 03:04:05" {
		t.Errorf("last observed %d ms ago: %+v", got, first)
	}
	if got := w.millis(t, c, second.Left); got != 9500 || second.LeftBy != lease.ByCap {
		t.Errorf("%d ms are left before the cap: %+v", got, second)
	}
	w.clock.run(2501)
	if doc := w.inspected(t); *doc.Judge.Passing {
		t.Errorf("3001 ms after a pass: %+v", doc.Judge)
	}
	// Of the 40 s, the judge owes 25 to whoever it did not watch.
	w.clock.run(40_000 - 3001)
	doc = w.inspected(t)
	if got := w.millis(t, c, doc.Leases[0].Left); got != 17_000 || w.millis(t, c, doc.Leases[0].Unwatched) != 25_000 {
		t.Errorf("%d ms are left: %+v", got, doc.Leases[0])
	}
	if row := doc.Leases[1]; !row.Due || row.Cause != lease.ByCap || row.Left != nil {
		t.Errorf("past its cap: %+v", row)
	}
	out, _ := w.must(t, 0, "inspect -o wide")
	for _, part := range []string{"CAN LAPSE IN", "SLOTS", "1 of 1", "UNWATCHED", "17s (silence)", "live, due: cap", "40s ago", "≈ 2030-01-02", "the judge's ledger as of reading", "no judge has passed here for 40s", inspectNote} {
		contains(t, out, part)
	}
}

// What the media have had since the ledger was written is part of the view, and leaves no trace in the ledger.
func TestInspectReadsOn(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	w.must(t, 0, "judge --once")
	w.clock.run(900)
	appendTo(t, w.factsOf("alice"), renewalOf("L1"))
	w.clock.run(8000)
	// When it came, nobody knows; that it will count from the next pass on, everybody does.
	doc := w.inspected(t)
	row := doc.only(t)
	if row.Last != nil || row.LastAgo != nil || w.millis(t, c, row.Unread) != w.millis(t, c, doc.AsOf) || w.millis(t, c, row.Left) != 32_000 || w.millis(t, c, row.StartAgo) != 8900 {
		t.Errorf("a renewal that no judge has read: %+v", row)
	}
	out, _ := w.must(t, 0, "inspect")
	says(t, out, "32s (silence) from the next pass", "unread, within 8s900ms")
	out, _ = w.must(t, 0, "inspect L1")
	says(t, out, "observed  renewed at or after ≈ 2030-01-02 03:04:05, which no judge has read yet")
	says(t, w.told(t, "build"), "renewed at or after ≈ 2030-01-02 03:04:05, which no judge has read yet; it can lapse in 32s (silence) from the next pass")
	w.must(t, 0, "judge --once")
	if row := w.inspected(t).only(t); w.millis(t, c, row.LastAgo) != 0 || row.Unread != nil {
		t.Errorf("a judge has read it: %+v", row)
	}
	w.clock.run(3000)
	appendTo(t, w.factsOf("alice"), renewalOf("L1"))
	says(t, w.told(t, "build"), "last renewed ≈ 2030-01-02 03:04:13, and again at or after ≈ 2030-01-02 03:04:13, which no judge has read yet")
	appendTo(t, w.factsOf("bob"), releaseOf("L1"))
	if row := w.inspected(t).only(t); row.Released || row.Due {
		t.Errorf("a forged release was believed: %+v", row)
	}
	appendTo(t, w.factsOf("alice"), releaseOf("L1"))
	if row := w.inspected(t).only(t); !row.Released || !row.Due || row.Cause != lease.ByRelease {
		t.Errorf("a release was not seen: %+v", row)
	}
	chmodTo(t, w.factsOf("alice"), 0o666)
	appendTo(t, w.grantorFacts(), writtenGrant("L2", "more", "alice", ""))
	doc = w.inspected(t)
	if row := doc.Leases[1]; row.Start != nil || row.Last != nil || row.StartTime != "" || row.Unread == nil {
		t.Errorf("a grant that no judge has read: %+v", row)
	}
	if row := doc.Leases[0]; row.Resumed != nil {
		t.Errorf("a gap that no judge has read: %+v", row)
	}
	if told := w.told(t, "more"); strings.Contains(told, "since") {
		t.Errorf("since when, nobody knows: %s", told)
	}
	says(t, w.told(t, "more"), "alice holds more (lease L2); granted at or after ≈ 2030-01-02 03:04:13, which no judge has read yet")
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "a gap on alice") || doc.Leases[0].Evidence != "unknown" {
		t.Errorf("a gap was not said: %+v", doc)
	}
	out, _ = w.must(t, 0, "inspect")
	says(t, out, "unknown, unread gap", "30s (silence) from the next pass")
}

func chmodTo(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestInspectPendingAndLapsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\necho broken >&2\ntest -e good\n", 0o755)
	w.composition(t, "subjects:\n  - match: \"*\"\n    reclaim: [hooks/take]\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	appendTo(t, w.factsOf("alice"), releaseOf("L1"))
	w.must(t, exitNotReclaimed, "judge --once")
	row := w.inspected(t).only(t)
	if row.State != statePending || row.Cause != lease.ByRelease || row.Attempts != 1 || row.Error == "" || row.Reclaimed {
		t.Errorf("%+v", row)
	}
	out, _ := w.must(t, 0, "inspect")
	contains(t, out, "pending: release")
	contains(t, out, row.Error)
	out, _ = w.must(t, exitFound, "check --live")
	contains(t, out, "problem  lease L1: its reclaim (release) of build failed once")
	contains(t, out, "daolease revoke L1 --reclaimed")

	writeFile(t, filepath.Join(w.dir(), "good"), "", 0o644)
	w.clock.run(1000)
	w.must(t, 0, "judge --once")
	if doc := w.inspected(t); len(doc.Leases) != 0 {
		t.Errorf("%+v", doc.Leases)
	}
	row = w.inspected(t, "--all").only(t)
	if row.State != stateLapsed || row.Cause != lease.ByRelease || row.Left != nil || !row.Released {
		t.Errorf("%+v", row)
	}
	out, _ = w.must(t, 0, "inspect")
	contains(t, out, "no lease is live")
}

func TestInspectProposals(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: hand\n    reclaim: none\n    answer: never\n  - match: \"*\"\n    reclaim: none\n")
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "hand", `,"dao.lease/duration":{"s":9},"daolease/note":"please"`), proposalFor("P2", "hand", ""), proposalFor("P2", "hand", `,"daolease/withdrawn":true`),
		proposalFor("P3", "hand", ""), proposalFor("P4", "build", ""))
	appendTo(t, w.factsOf("bob"), proposalFor("P1", "hand", ""), proposalFor("P5", "hand", ""))
	appendTo(t, w.grantorFacts(), `{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"P3","dao.lease/holder":"alice"}`,
		`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"P5"}`)
	list := func() string {
		var text []string
		for _, p := range *w.inspected(t, "--proposals").Proposals {
			text = append(text, p.Proposal+" "+p.Holder+" "+p.Answer)
		}
		return strings.Join(text, ", ")
	}
	if got, want := list(), "P1 alice never, P4 alice auto, P1 bob never"; got != want {
		t.Errorf("before a judge: %q, want %q", got, want)
	}
	w.must(t, 0, "judge --once")
	if got, want := list(), "P1 alice never, P1 bob never"; got != want {
		t.Errorf("after a pass: %q, want %q", got, want)
	}
	out, _ := w.must(t, 0, "inspect --proposals")
	contains(t, out, "P1        alice   hand     9s   never   please")
	if strings.Contains(out, "CAN LAPSE") || w.inspected(t).Proposals != nil {
		t.Error("proposals and leases are two listings")
	}
}

// treeOf is everything that can be seen of a folder: names, modes, times and contents.
func treeOf(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s %v %d", path, fi.Mode(), fi.ModTime().UnixNano())
		if fi.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " %x", sha256.Sum256(text))
		}
		all.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
