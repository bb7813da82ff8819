package cmd

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// A machine that is a little late is no news: a stall is said from a cadence beyond the cadence on.
func TestSmallStallsAreNotSaid(t *testing.T) {
	w := newFakeWorld(t)
	teller := newTeller(w.composition(t, "cadence: 1s\nsubjects: [{match: a, reclaim: none}]"))
	for late, said := range map[int64]bool{4: false, 999: false, 1000: true, 5000: true} {
		w.errs.Reset()
		teller.conditions(&judge.Report{Outcome: judge.OK, Unwatched: &lease.Duration{Unit: "ms", N: late}})
		if got := strings.Contains(w.errs.String(), "nobody watched"); got != said {
			t.Errorf("%d ms: said %t", late, got)
		}
	}
}

// A refusal is said with whose proposal it was, and why.
func TestJudgeSaysWhomItRefuses(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects: [{match: a, reclaim: none}]")
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "b", ""))
	_, errs := w.must(t, 0, "judge --once")
	contains(t, errs, "refused proposal P1 of alice: subject\n")
}

// Names of users can be dear: a command that is over soon asks for each once, however many folders there are.
func TestCheckAsksOnceForAUser(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "attribution: owner\ngrantor: me\nsubjects: [{match: a, reclaim: none}]")
	if err := os.Chmod(c.holdersDir(), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		writeFile(t, c.path("holders", fmt.Sprintf("me@%d", i), "facts.jsonl"), "", 0o644)
	}
	for _, args := range [][]string{{"check"}, {"holder", "list"}} {
		w.users.asked = 0
		if code, out, errs := w.run(args...); code != 0 {
			t.Errorf("%q: %d, %s%s", args, code, out, errs)
		}
		if w.users.asked > 2 {
			t.Errorf("%q asked %d times", args, w.users.asked)
		}
	}
}

// Where nothing takes a subject back it is not said that it was taken back.
func TestJudgeOfNoProcedure(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", strings.Repeat("s", 300), "bob", ""))
	appendTo(t, w.factsOf("bob"), releaseOf("L1"))
	_, errs := w.must(t, 0, "judge --once")
	says(t, errs, `no procedure is to take back "`+strings.Repeat("s", quotedMost)+`…" of lease L1 (release): its end is only recorded`, "lapsed L1 by release")
	if strings.Contains(errs, "took back") {
		t.Error(errs)
	}
}
