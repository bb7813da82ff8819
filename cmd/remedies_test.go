package cmd

import (
	"strings"
	"testing"
)

// What comes next after init is lined up, and has the commands of a first day.
func TestInitLinesUpWhatComesNext(t *testing.T) {
	w := newFakeWorld(t)
	_, errs := w.must(t, 0, "init locks")
	_, next, _ := strings.Cut(errs, "next:\n")
	says(t, next, "hold build -- CMD", "check", "judge", "propose build", "renew", "inspect")
	column := 0
	for line := range strings.Lines(next) {
		at := strings.Index(line, "  # ")
		if at < 0 || column > 0 && at != column {
			t.Errorf("not lined up: %q", line)
		}
		column = at
	}
}

// Each refusal names what to do instead.
func TestRefusalsNameTheRemedy(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: build\n    reclaim: none\n    holders: [alice]\n  - match: \"/srv/**\"\n    reclaim: none\n")
	w.must(t, 0, "judge --once")
	refused := func(subject string, parts ...string) {
		t.Helper()
		w.must(t, 0, "--as bob propose "+subject+" --async")
		w.must(t, 0, "judge --once")
		_, errs := w.must(t, exitRefused, "--as bob renew "+lastProposal(t, w, "bob"))
		says(t, errs, parts...)
	}
	refused("bulid", "subject: nothing is granted on bulid here", "grants build, /srv/**")
	refused("tmp/a", "(* is anything without a slash, ** anything)")
	refused("/srv//a", "subject: nothing is granted on /srv//a here", "hint: write it otherwise: ")
	refused("build", "holder: nothing is granted to bob on build", "--as NAME")
	_, errs := w.must(t, exitUsage, "revoke L1")
	says(t, errs, "--reason is wanted")
	_, errs = w.must(t, exitFailure, "fence 3 --state nowhere/f")
	says(t, errs, "the lock of nowhere/f: ", "hint: --state FILE")
	_, errs = w.must(t, exitUsage, "inspect --watch -o json")
	contains(t, errs, "hint: daolease inspect --watch -o jsonl")
}

// Who comes too late is told what became of the lease, also without naming it.
func TestRenewTellsWhatBecameOfTheLease(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	w.must(t, 0, "judge --once")
	w.must(t, 0, "--as alice propose build --async")
	w.must(t, 0, "judge --once")
	w.must(t, 0, "--as alice renew")
	for range 6 { // no longer than counts against a silent lease
		w.clock.run(16_000)
		w.must(t, 0, "judge --once")
	}
	for _, line := range []string{"renew", "renew --subject build", "release --subject build"} {
		_, errs := w.must(t, exitNothingHeld, "--as alice "+line)
		says(t, errs, `holder "alice" holds nothing`, "it has lapsed (silence)", "hint: propose anew: daolease propose build")
	}
	_, errs := w.must(t, exitNothingHeld, "--as alice renew --subject other")
	says(t, errs, `holder "alice" holds nothing on other`+"\n", "hint: daolease propose SUBJECT")
}

// A proposal that is another's, or wants no answer any more, is said to be that.
func TestAnswersToProposalsThatWantNone(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: hand\n    reclaim: none\n    answer: never\n")
	w.must(t, 0, "judge --once")
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "hand", ""))
	_, errs := w.must(t, exitNothingHeld, "grant --proposal P1 bob")
	contains(t, errs, "proposal P1 is alice's, and not bob's")
	w.must(t, 0, "refuse P1 --reason later")
	for _, line := range []string{"refuse P1 --reason later", "grant --proposal P1"} {
		_, errs := w.must(t, exitRefused, line)
		says(t, errs, "was answered before", "hint: daolease log shows the answer")
	}
}

// lastProposal is the id of the newest proposal on a holder's medium.
func lastProposal(t *testing.T, w *fakeWorld, holder string) string {
	t.Helper()
	out, _ := w.must(t, 0, "log --raw --medium "+holder)
	_, id, _ := strings.Cut(out[strings.LastIndex(out, "dao.lease/proposal\":\""):], ":\"")
	id, _, _ = strings.Cut(id, "\"")
	return id
}
