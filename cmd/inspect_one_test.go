package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// chosen are the leases that inspect finds by a word.
func (w *fakeWorld) chosen(t *testing.T, args ...string) string {
	t.Helper()
	var ids []string
	for _, row := range w.inspected(t, args...).Leases {
		ids = append(ids, row.Lease)
	}
	return strings.Join(ids, " ")
}

func TestInspectChoosesOne(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: \"*\"\n    reclaim: none\n    slots: 0\n")
	grants := []string{
		writtenGrant("aaa1", "build", "alice", `,"daolease/token":1`),
		writtenGrant("aaa2", "build", "bob", `,"daolease/token":2,"dao.lease/proposal":"P2"`),
		writtenGrant("bbb1", "build", "alice", `,"daolease/token":3`),
		writtenGrant("ccc", "aaa", "alice", `,"daolease/token":4`),
		writtenGrant("build", "ddd", "alice", `,"daolease/token":5`),
		strings.Replace(writtenGrant("eee", "x", "bob", `,"daolease/token":6`), `"x"`, `{"b":1, "a":2}`, 1),
	}
	appendTo(t, w.grantorFacts(), grants...)
	appendTo(t, w.factsOf("alice"), releaseOf("aaa1"))
	check := func(when string) {
		t.Helper()
		for _, c := range [][2]string{
			{"aaa1", "aaa1"}, {"aaa2", "aaa2"}, {"bb", "bbb1"}, {"P2", "aaa2"}, {"ddd", "build"}, {"aaa", "ccc"},
			{"build", "build"}, // an id goes before a subject
			{`--json "build"`, ""}, {`--json {"a":2,"b":1}`, "eee"},
		} {
			if c[1] != "" {
				if got := w.chosen(t, strings.Fields(c[0])...); got != c[1] {
					t.Errorf("%s: %s is %q, want %q", when, c[0], got, c[1])
				}
			}
		}
		w.must(t, exitUsage, "inspect a")
		w.must(t, exitNothingHeld, "inspect P9")
		w.must(t, exitNothingHeld, `inspect --json {"a":3}`)
		w.must(t, exitUsage, `inspect --json {`)
		w.must(t, exitUsage, "inspect --json")
		w.must(t, exitUsage, "inspect --all aaa1")
		w.must(t, exitUsage, "inspect --all --proposals")
	}
	check("from the media alone")
	w.must(t, 0, "judge --once")
	check("with a ledger")
	// Of a subject the live ones are meant; where none is, the last.
	if got := w.chosen(t, "--json", `"build"`); got != "aaa2 bbb1" {
		t.Errorf("live on build: %q", got)
	}
	appendTo(t, w.factsOf("alice"), releaseOf("bbb1"))
	appendTo(t, w.factsOf("bob"), releaseOf("aaa2"))
	w.must(t, 0, "judge --once")
	if got := w.chosen(t, "--json", `"build"`); got != "bbb1" {
		t.Errorf("last on build: %q", got)
	}
}

func TestInspectShowsTheHistory(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L0", "other", "bob", ""), writtenGrant("L1", "build", "alice", `,"dao.lease/proposal":"P1"`),
		writtenGrant("L2", "build", "alice", `,"dao.lease/proposal":"P1"`),
		`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L1"}`)
	appendTo(t, w.factsOf("alice"), proposalFor("P0", "build", ""), proposalFor("P1", "build", ""), renewalOf("L1"), renewalOf("L0"))
	appendTo(t, w.factsOf("bob"), proposalFor("P1", "build", ""), renewalOf("L0"), renewalOf("L1"), releaseOf("L1"))
	w.must(t, 0, "judge --once")
	var facts []string
	for _, l := range w.inspected(t, "L1").only(t).Facts {
		facts = append(facts, l.Medium+" "+l.Kind+" "+l.Verdict)
	}
	want := "grantor grant counts, grantor grant inadmissible, grantor defective defective, alice proposal counts, alice renewal counts, bob renewal wrong author, bob release wrong author"
	if got := strings.Join(facts, ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	out, _ := w.must(t, 0, "inspect build")
	for _, part := range []string{"lease     L1", "subject   build", "holder    alice", "state     live", "terms     30s", "left      32s (silence)", "evidence known",
		"a second answer to this proposal", "bob wrote this renewal, and the lease is alice's", "dao.lease/cause: absent", "the judge's ledger as of", inspectNote} {
		contains(t, out, part)
	}
	if strings.Contains(out, "P0") || strings.Contains(out, "L0") {
		t.Errorf("what others are about is in\n%s", out)
	}
}

// Renewals that differ in nothing are one row for people, however many, and what differs is not lost between them.
func TestInspectFoldsRenewals(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	for range 90 {
		appendTo(t, w.factsOf("alice"), renewalOf("L1"))
	}
	appendTo(t, w.factsOf("alice"), releaseOf("L1"), renewalOf("L1"), renewalOf("L1"), renewalOf("L1"))
	appendTo(t, w.factsOf("bob"), renewalOf("L1"), renewalOf("L1"), renewalOf("L1"), renewalOf("L1"), releaseOf("L1"))
	w.must(t, 0, "judge --once")
	facts := w.inspected(t, "L1").only(t).Facts
	if len(facts) != 101 {
		t.Errorf("%d facts for programs", len(facts))
	}
	out, _ := w.must(t, 0, "inspect L1")
	says(t, out, fmt.Sprintf("%v to %v", *facts[2].Position, *facts[91].Position), "all count", "4 renewals of L1              wrong author: bob wrote this renewal, and the lease is alice's")
	if n := strings.Count(out, "its holder had released the lease before"); n != 3 || strings.Count(out, "90 renewals") != 1 || strings.Contains(out, "3 renewals") {
		t.Errorf("three after the release are shown %d times:\n%s", n, out)
	}
}
