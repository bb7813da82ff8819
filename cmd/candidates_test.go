package cmd

import (
	"strings"
	"testing"
)

// offered are the words that a shell would offer, in order, as cobra's scripts ask for them.
func (w *fakeWorld) offered(t *testing.T, args ...string) string {
	t.Helper()
	code, out, _ := w.run(append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || lines[len(lines)-1] != ":4" { // no file names
		t.Fatalf("%q: exit %d, %q", args, code, out)
	}
	var words []string
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// Shells are offered what there is, by whoever can see it, and looking for it writes nothing.
func TestCompletionOffersWhatThereIs(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: printer\n    reclaim: none\n  - match: \"*\"\n    reclaim: none\n    answer: never\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""), writtenGrant("L2", "other", "bob", ""), writtenGrant("M3", "$(touch pwn)", "bob", ""),
		writtenGrant("N4", "live one", "bob", ""), writtenGrant("O5", " x", "bob", ""))
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "third", ""))
	appendTo(t, w.factsOf("bob"), releaseOf("L2"))
	before := treeOf(t, w.dir())
	check := func(cases map[string]string) {
		t.Helper()
		for args, want := range cases {
			fields := strings.Split(args, " ")
			if got := w.offered(t, fields...); got != want {
				t.Errorf("%q is offered %q, want %q", args, got, want)
			}
		}
	}
	always := map[string]string{
		"refuse ": "P1", "refuse P1 ": "alice bob", "holder remove ": "alice bob", "inspect --holder ": "alice bob", "--as a": "alice",
		"log --medium b": "bob bob/ticks", "log --author ": "alice bob grantor", "log --lease L1": "L1", "log ": "", "renew L1 ": "",
	}
	check(always)
	check(map[string]string{"renew ": "L1 L2 M3 N4 O5", "inspect ": "L1 L2 M3 N4 O5 build other live one", "propose ": "build other live one printer"})
	if now := treeOf(t, w.dir()); now != before {
		t.Errorf("completing has changed\n%s\nto\n%s", before, now)
	}
	w.must(t, 0, "judge --once")
	before = treeOf(t, w.dir())
	check(always)
	check(map[string]string{"release L": "L1", "revoke --reason x ": "L1 M3 N4 O5", "why b": "build", "why l": "live one", "renew --subject ": "build live one", "grant p": "printer", "grant x ": "alice bob"})
	if now := treeOf(t, w.dir()); now != before {
		t.Errorf("completing has changed\n%s\nto\n%s", before, now)
	}
	_, out, _ := w.run("__complete", "renew", "")
	contains(t, out, "L1\tbuild of alice\n")
}

// Where there is no composition, or a broken one, nothing is offered and nothing is said.
func TestCompletionWithoutAComposition(t *testing.T) {
	w := newFakeWorld(t)
	for _, when := range []string{"none", "broken"} {
		code, out, errs := w.run("__complete", "renew", "")
		if code != 0 || out != ":4\n" || strings.Contains(errs, "daolease:") {
			t.Errorf("%s: exit %d, %q, %q", when, code, out, errs)
		}
		writeFile(t, configFile(w.dir()), "nonsense: 1\n", 0o644)
	}
}
