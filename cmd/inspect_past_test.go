package cmd

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// stepped runs one pass and answers its report with the ledger, as judge --step --ledger prints it.
func (w *fakeWorld) stepped(t *testing.T) judge.Report {
	t.Helper()
	w.In = strings.NewReader("\n")
	out, _ := w.must(t, 0, "judge --step --ledger")
	var r judge.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// asReported is a row of inspect as the judge's own report would put it.
func (w *fakeWorld) asReported(t *testing.T, c *Composition, row leaseRow) judge.Row {
	t.Helper()
	count := func(d *lease.Duration) lease.Duration { return c.Config.Units.Of(w.millis(t, c, d)) }
	r := judge.Row{
		Lease: row.Lease, Subject: row.Subject, Holder: row.Holder, Duration: row.Duration, Max: row.Max, Token: row.Token,
		TenureStart: count(row.Start), LastObservation: count(row.Last), Unwatched: count(row.Unwatched),
		Evidence: row.Evidence, Released: row.Released,
		Reclaim: judge.ReclaimState{State: row.State, OK: row.Reclaimed, Attempts: row.Attempts, Error: row.Error},
	}
	if row.Resumed != nil {
		resumed := count(row.Resumed)
		r.Resumed = &resumed
	}
	if row.State == statePending {
		r.Reclaim.Cause = row.Cause
	}
	return r
}

func (w *fakeWorld) wantAsReported(t *testing.T, c *Composition, doc inspection, report judge.Report) {
	t.Helper()
	got := []judge.Row{}
	for _, row := range doc.Leases {
		got = append(got, w.asReported(t, c, row))
	}
	if want := report.Ledger; len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("at %v inspect shows\n%+v\nand the pass reported\n%+v", *report.Now, got, want)
	}
}

// For every pass of a recorded run, inspect --at shows what the judge's own report of that pass said.
func TestInspectAtEveryPassOfARun(t *testing.T) {
	w := newFakeWorld(t)
	writeFile(t, w.dir()+"/hooks/take", "#!/bin/sh\nexit 1\n", 0o755)
	c := w.composition(t, "ticks: external\nreclaim: {retry: {initial: 2s, max: 4s}}\nsubjects:\n  - match: stuck\n    reclaim: [hooks/take]\n    duration: 4s\n    slots: 0\n  - match: \"*\"\n    reclaim: none\n    duration: 5s\n    slots: 0\n")
	reports := map[int]judge.Report{}
	for second := 1; second <= 40; second++ {
		switch {
		case second%8 == 1:
			appendTo(t, w.factsOf("alice"), proposalFor(fmt.Sprint("P", second), "build", ""))
			appendTo(t, w.factsOf("bob"), proposalFor(fmt.Sprint("Q", second), "stuck", ""))
		case second%8 == 3:
			for _, row := range reports[second-1].Ledger {
				if row.Subject.Text() == "build" {
					appendTo(t, w.factsOf("alice"), renewalOf(row.Lease))
				}
			}
		case second == 12:
			chmodTo(t, w.factsOf("alice"), 0o666)
		case second == 14:
			chmodTo(t, w.factsOf("alice"), 0o644)
		case second%5 == 0:
			continue // nobody passes
		}
		w.must(t, 0, fmt.Sprintf("tick %ds", second))
		reports[second] = w.stepped(t)
	}
	seen := map[string]bool{}
	for second, report := range reports {
		doc := w.inspected(t, "--at", fmt.Sprintf("%ds", second))
		if doc.Source != fromLedger || w.millis(t, c, doc.AsOf) != int64(second)*1000 || doc.Pass != report.Pass || w.millis(t, c, doc.Oldest) != 1000 {
			t.Fatalf("at %ds: %+v", second, doc)
		}
		w.wantAsReported(t, c, doc, report)
		for _, row := range doc.Leases {
			seen[row.State+" "+row.Evidence] = true
		}
	}
	for _, state := range []string{"live known", "live unknown", "pending known"} {
		if !seen[state] {
			t.Errorf("the run had nothing %s: %v", state, seen)
		}
	}
	out, _ := w.must(t, 0, "inspect --at 10s")
	contains(t, out, "the judge's ledger as it stood after pass ")
	contains(t, out, "it goes back to reading 1s")
	_, errs := w.must(t, exitNothingHeld, "inspect --at 900ms")
	contains(t, errs, "the ledger goes back to reading 1s")
	contains(t, errs, "hint: daolease inspect --at 1s, or later")
	for _, wrong := range []string{"0s", "yesterday", `{"s":0}`, `{"s":-1}`, `{"week":1}`, "99999999999999999999s"} {
		_, errs := w.must(t, exitUsage, "inspect --at "+wrong)
		says(t, errs, "is no reading: ", "; the ledger goes from reading 1s to 39s", "hint: daolease inspect --at 39s")
		if strings.Contains(errs, "dao.lease") {
			t.Errorf("--at %s: not in a person's words: %s", wrong, errs)
		}
	}
	w.must(t, exitUsage, "inspect build --at 3s")
}

// What a pass observes is stamped after it (SPEC 6, Stamps); it belongs to that pass all the same, at the reading
// that its report calls now.
func TestInspectAtPassesWhoseStampIsLater(t *testing.T) {
	w := newFakeWorld(t)
	w.Clock = &restlessClock{fakeClock: w.clock}
	c := w.composition(t, "subjects:\n  - match: \"*\"\n    reclaim: none\n    duration: 5s\n    slots: 0\n")
	var reports []judge.Report
	later := 0
	for n := range 12 {
		switch n % 4 {
		case 0:
			appendTo(t, w.factsOf("alice"), proposalFor(fmt.Sprint("P", n), "build", ""))
		case 2:
			for _, row := range reports[n-1].Ledger {
				appendTo(t, w.factsOf("alice"), renewalOf(row.Lease))
			}
		}
		w.clock.run(1500)
		reports = append(reports, w.stepped(t))
	}
	for _, report := range reports {
		doc := w.inspected(t, "--at", strconv.FormatInt(w.millis(t, c, report.Now), 10)+"ms")
		if doc.Pass != report.Pass {
			t.Fatalf("at %v it is pass %d, that was the reading of %d", *report.Now, doc.Pass, report.Pass)
		}
		w.wantAsReported(t, c, doc, report)
		if w.millis(t, c, doc.AsOf) > w.millis(t, c, report.Now) {
			later++
		}
	}
	if later == 0 {
		t.Fatal("no pass had a second tick")
	}
}

// restlessClock goes on with every look at it.
type restlessClock struct{ *fakeClock }

func (c *restlessClock) Running() int64 {
	c.run(1)
	return c.fakeClock.Running()
}

func TestInspectFilters(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: \"*\"\n    reclaim: none\n    slots: 3\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "/srv/b", "alice", ""), writtenGrant("L2", "/srv/a", "bob", ""),
		writtenGrant("L3", "/srv/a", "alice", `,"dao.lease/max":{"s":10}`), writtenGrant("L4", "/srv/x/y", "carol", ""))
	appendTo(t, w.factsOf("carol"), releaseOf("L4"))
	w.must(t, 0, "judge --once")
	w.clock.run(5000)
	appendTo(t, w.factsOf("alice"), renewalOf("L1"))
	w.must(t, 0, "judge --once")
	for args, want := range map[string]string{
		"--holder alice": "L1 L3", "--subject /srv/a": "L2 L3", "--subject /srv/*": "L1 L2 L3", "--state live": "L1 L2 L3",
		"--state lapsed": "L4", "--all --sort holder": "L1 L3 L2 L4", "--sort subject": "L2 L3 L1", "--sort lapse": "L3 L2 L1", "--holder nobody": "",
		"--sort renewed": "L2 L3 L1", "--state pending": "",
	} {
		if got := w.chosen(t, strings.Fields(args)...); got != want {
			t.Errorf("%s shows %q, want %q", args, got, want)
		}
		out, _ := w.must(t, 0, "inspect "+args)
		if at := strings.Index(out, strings.Fields(want + " no")[0]); at < 0 {
			t.Errorf("%s prints %s", args, out)
		}
		lines, _ := w.must(t, 0, "inspect -o jsonl "+args)
		if n := len(strings.Fields(want)); n != strings.Count(lines+"\n", "}\n") {
			t.Errorf("%s prints as JSON lines %s", args, lines)
		}
	}
	row := w.inspected(t, "--holder", "bob").only(t)
	if row.Slots == nil || *row.Slots != 3 || row.SlotsTaken == nil || *row.SlotsTaken != 2 {
		t.Errorf("slots: %+v", row)
	}
	out, _ := w.must(t, 0, "inspect --holder nobody")
	contains(t, out, "no lease is as asked for")
	for _, wrong := range []string{"--state dead", "--sort colour", "build --holder alice", "--proposals --state live", "--watch -o yaml", "--watch --at 3s"} {
		w.must(t, exitUsage, "inspect "+wrong)
	}
}

func TestInspectCountsOpenProposals(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: hand\n    reclaim: none\n    answer: never\n  - match: \"*\"\n    reclaim: none\n")
	w.must(t, 0, "judge --once")
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "hand", ""), proposalFor("P2", "build", ""))
	if doc := w.inspected(t); doc.Open == nil || *doc.Open != 2 || doc.Proposals != nil {
		t.Errorf("%+v", doc)
	}
	out, _ := w.must(t, 0, "inspect")
	contains(t, out, "proposals that wait for an answer: 2")
}

// A reading that is still to come shows the newest, and says that it does.
func TestInspectAtAReadingToCome(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	w.must(t, 0, "judge --once")
	w.clock.run(10_000)
	if _, errs := w.must(t, 0, "inspect --at 8s"); errs != "" {
		t.Errorf("8 s have passed: %q", errs)
	}
	out, errs := w.must(t, 0, "inspect --at 1h")
	says(t, out, "L1")
	says(t, errs, "reading 1h is still to come, it is 10s")
	if strings.Count(errs, "\n") != 1 {
		t.Errorf("%q", errs)
	}
}

// A table of many pages has every row once, one header, and columns that never get narrower.
func TestPagesOfATable(t *testing.T) {
	var pages []string
	p := newPager([]string{"A", "B"}, func(page []byte) error { pages = append(pages, string(page)); return nil })
	for i := range firstPage + nextPages + 1 {
		cell := "x"
		if i == firstPage {
			cell = "漢字字字"
		}
		if err := p.add([]string{cell, fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.flush(); err != nil || len(pages) != 3 || p.shown != firstPage+nextPages+1 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if got := pages[0][:20]; got != "A  B\nx  0\nx  1\nx  2\n" {
		t.Errorf("the first page begins %q", got)
	}
	if want := fmt.Sprintf("漢字字字  %d\nx         %d\n", firstPage, firstPage+1); !strings.HasPrefix(pages[1], want) {
		t.Errorf("the second page begins %q", pages[1][:40])
	}
	if want := fmt.Sprintf("x         %d\n", firstPage+nextPages); pages[2] != want {
		t.Errorf("the last page is %q, want %q", pages[2], want)
	}
}
