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
	refused("/srv//a", "subject: nothing is granted on /srv//a here", "hint: write it otherwise: ")
	refused("build", "holder: nothing is granted to bob on build", "--as NAME")
	_, errs := w.must(t, exitUsage, "inspect --watch -o json")
	contains(t, errs, "hint: daolease inspect --watch -o jsonl")
}

// lastProposal is the id of the newest proposal on a holder's medium.
func lastProposal(t *testing.T, w *fakeWorld, holder string) string {
	t.Helper()
	out, _ := w.must(t, 0, "log --raw --medium "+holder)
	_, id, _ := strings.Cut(out[strings.LastIndex(out, "dao.lease/proposal\":\""):], ":\"")
	id, _, _ = strings.Cut(id, "\"")
	return id
}
