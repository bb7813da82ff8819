package cmd

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// told is the one line that why prints.
func (w *fakeWorld) told(t *testing.T, args string) string {
	t.Helper()
	out, _ := w.must(t, 0, "why "+args)
	if out == "" || strings.Contains(out, "\n") {
		t.Fatalf("why %s is not one line: %q", args, out)
	}
	return out
}

func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		contains(t, text, part)
	}
}

// Every cause and state of a lease is told, with when, on what evidence, how the hook went and who has it now.
func TestWhyTellsEachEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\ntest -e good\n", 0o755)
	w.composition(t, "subjects:\n  - match: hooked\n    reclaim: [hooks/take]\n    slots: 0\n  - match: \"*\"\n    reclaim: none\n    slots: 0\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "hooked", "alice", ""), writtenGrant("L2", "capped", "bob", `,"dao.lease/max":{"s":40}`),
		writtenGrant("L3", "given", "carol", ""), writtenGrant("L4", "taken", "dave", ""))
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "hooked"), "alice holds hooked since ≈ 2030-01-02 03:04:05 (lease L1)", "not renewed yet", "it can lapse in 3", "(silence)")
	if told := w.told(t, "hooked"); strings.Contains(told, "no judge") {
		t.Errorf("one has just passed: %s", told)
	}
	w.clock.run(20_000)
	says(t, w.told(t, "hooked"), "no judge has passed here for 20s", "nothing is granted or taken back until one does")
	appendTo(t, w.factsOf("alice"), renewalOf("L1"))
	appendTo(t, w.factsOf("bob"), renewalOf("L2"))
	appendTo(t, w.factsOf("carol"), releaseOf("L3"))
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "given"), "carol gave given back ≈ 2030-01-02 03:04:25 (lease L3)", "released ≈ 2030-01-02 03:04:25", "there is no hook to run", "nobody has it now")
	w.must(t, 0, "revoke L4 --reason moving")
	w.clock.run(20_000)
	appendTo(t, w.factsOf("bob"), renewalOf("L2"))
	says(t, w.told(t, "L4"), "dave loses taken (lease L4) at the judge's next pass, by policy: moving")
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "taken"), "dave lost taken ≈ 2030-01-02 03:04:45 by policy (lease L4): moving; granted ≈ 2030-01-02 03:04:05 and never renewed")
	w.clock.run(10_000) // no longer than counts against a silent lease
	w.must(t, 0, "judge --once")
	w.clock.run(10_000)
	w.must(t, exitNotReclaimed, "judge --once")
	says(t, w.told(t, "L1"), "alice is losing hooked by silence since ≈ 2030-01-02 03:05:05 (lease L1)", "last renewed ≈ 2030-01-02 03:04:25",
		"its hook has failed once, last with: exit 1", "nobody gets its place before it has succeeded")
	says(t, w.told(t, "capped"), "bob lost capped ≈ 2030-01-02 03:04:55 by cap (lease L2): held for longer than", "last renewed ≈ 2030-01-02 03:04:45")
	writeFile(t, filepath.Join(w.dir(), "good"), "", 0o644)
	w.clock.run(5000)
	appendTo(t, w.grantorFacts(), writtenGrant("L5", "hooked", "erin", ""))
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "hooked"), "alice lost hooked ≈ 2030-01-02 03:05:05 by silence (lease L1)", "its hook succeeded at attempt 2", "erin (lease L5) has it now")
	says(t, w.told(t, "L5"), "erin holds hooked")
	if _, errs := w.must(t, exitNothingHeld, "why nonsense"); !strings.Contains(errs, "hint: ") {
		t.Errorf("no remedy: %q", errs)
	}
}

// What was taken back by hand is not told as the hook's success, wherever that is told.
func TestWhatWasTakenBackByHandIsToldSo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\nexit 1\n", 0o755)
	w.composition(t, "reclaim: {retry: {initial: 0s}}\nsubjects:\n  - match: \"*\"\n    reclaim: [hooks/take]\n    slots: 0\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "hooked", "alice", ""), writtenGrant("L2", "other", "bob", ""))
	appendTo(t, w.factsOf("alice"), releaseOf("L1"))
	appendTo(t, w.factsOf("bob"), releaseOf("L2"))
	for range 2 {
		w.must(t, exitNotReclaimed, "judge --once")
	}
	says(t, w.told(t, "hooked"), "its hook has failed twice, last with: exit 1")
	w.must(t, 0, "revoke L1 --reclaimed --reason swapped")
	w.must(t, 0, "revoke L2 --reason again")
	says(t, w.told(t, "hooked"), "it was taken back by hand after its hook had failed twice: swapped; the judge's next pass records that")
	if _, report, _ := w.run("check", "--live"); !strings.Contains(report, "of other failed twice") || strings.Contains(report, "of hooked failed") {
		t.Errorf("check --live:\n%s", report)
	}
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\nexit 0\n", 0o755)
	metrics := filepath.Join(w.dir(), "m.prom")
	_, said := w.must(t, 0, "judge --once --metrics-file "+metrics)
	says(t, said, `"hooked" of lease L1 (release) was taken back by hand after its hook had failed twice`, `took back "other" of lease L2 (release)`)
	says(t, measured(t, metrics), `daolease_hook_runs_total{result="by_hand"} 1`, `daolease_hook_runs_total{result="ok"} 1`, `daolease_hook_runs_total{result="failed"} 0`)
	told := w.told(t, "hooked")
	says(t, told, "alice gave hooked back", "it was taken back by hand after its hook had failed twice: swapped")
	if strings.Contains(told, "succeeded") {
		t.Errorf("its hook never did: %s", told)
	}
	says(t, w.told(t, "other"), "bob gave other back", "(lease L2): again", "its hook succeeded at attempt 3")
	if row := w.inspected(t, "L1").only(t); !row.ByHand || row.Why != "swapped" {
		t.Errorf("inspect L1: %+v", row)
	}
	if row := w.inspected(t, "L2").only(t); row.ByHand {
		t.Errorf("inspect L2: %+v", row)
	}
	out, _ := w.must(t, 0, "inspect L1")
	says(t, out, "state     lapsed: release: swapped", "reclaim   taken back by hand")
	out, _ = w.must(t, 0, "timeline --svg -")
	says(t, out, "taken back by hand after its hook had failed twice: swapped")
	if strings.Count(out, "by hand") != 1 {
		t.Errorf("L2 was taken back by its hook:\n%s", out)
	}
	// Once the policy medium has lost it, neither is claimed.
	if err := os.Truncate(filepath.Join(w.dir(), "grantor", "policy.jsonl"), 0); err != nil {
		t.Fatal(err)
	}
	says(t, w.told(t, "hooked"), "it was taken back at attempt 3, by its hook or by hand, which is no longer retained")
}

// Where a gap made evidence unknown, why says since when.
func TestWhyTellsUnknownEvidence(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	appendTo(t, w.factsOf("alice"), renewalOf("L1"))
	w.must(t, 0, "judge --once")
	w.clock.run(5000)
	chmodTo(t, w.factsOf("alice"), 0o666)
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "build"), "evidence unknown since ≈ 2030-01-02 03:04:10")
}

// Without a ledger the media speak, and are not taken for more than they are.
func TestWhyFromTheMediaAlone(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	says(t, w.told(t, "build"), "alice was granted build (lease L1); whether it is still held, only the judge's ledger says")
	appendTo(t, w.grantorFacts(), `{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L1","dao.lease/cause":"silence"}`, writtenGrant("L2", "build", "bob", ""))
	says(t, w.told(t, "build"), "alice lost build by silence (lease L1)", "bob (lease L2) was granted it, and no end of that is recorded, which proves nothing")
}

// Where nobody noted a time of day, readings are told, in words that can be read aloud.
func TestWhyTellsReadings(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "ticks: external\n"+tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	w.must(t, 0, "tick 5s")
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "build"), "alice holds build since reading 5s (lease L1)")
	appendTo(t, w.factsOf("alice"), releaseOf("L1"))
	w.must(t, 0, "tick 6s")
	w.must(t, 0, "judge --once")
	says(t, w.told(t, "build"), "alice gave build back at reading 6s (lease L1)")
}
