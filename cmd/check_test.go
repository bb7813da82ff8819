package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func (w *fakeWorld) checked(t *testing.T, args string) checkReport {
	t.Helper()
	code, out, errs := w.run(strings.Fields("check -o json " + args)...)
	var r checkReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || errs != "" {
		t.Fatalf("exit %d, %v, %s, %s", code, err, out, errs)
	}
	if want := map[bool]int{true: exitFound}[r.Problems > 0]; code != want || r.Findings == nil {
		t.Errorf("exit %d with %d problems", code, r.Problems)
	}
	return r
}

// has says that a finding of this kind has all parts.
func (r checkReport) has(severity string, parts ...string) bool {
	for _, f := range r.Findings {
		text, all := f.Place+": "+f.Meaning+"; "+f.Remedy, f.Severity == severity
		for _, part := range parts {
			all = all && strings.Contains(text, part)
		}
		if all {
			return true
		}
	}
	return false
}

func TestCheckFindsNothing(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	w.must(t, 0, "judge --once")
	if r := w.checked(t, "--live"); r.Problems != 0 || r.Advice != 0 || len(r.Findings) != 0 {
		t.Errorf("%+v", r.Findings)
	}
	out, _ := w.must(t, 0, "check")
	contains(t, out, "nothing is wrong")
	contains(t, out, "with 30s a holder renews every 10s and survives 2 missed renewals")
	contains(t, out, "silent 32s to 33s after its last renewal")
}

func TestCheckFinds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing there")
	}
	rule := func(keys string) string { return "subjects:\n  - match: \"*\"\n    reclaim: none\n" + keys }
	for _, c := range []struct {
		name, config string
		do           func(t *testing.T, w *fakeWorld, c *Composition)
		args         string
		severity     string
		parts        []string
	}{
		{name: "mode of the configuration", do: func(t *testing.T, w *fakeWorld, c *Composition) { chmodTo(t, configFile(c.Dir), 0o664) },
			severity: isProblem, parts: []string{"daolease.yaml: can be written by group or others", "chmod go-w"}},
		{name: "mode of a private file", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			writeFile(t, c.tokenFile(), "1\n", 0o666)
		}, severity: isProblem, parts: []string{"grantor/token: can be written by group or others"}},
		{name: "hook missing", config: "subjects:\n  - match: a\n    reclaim: none\n  - match: b\n    reclaim: [hooks/gone]\n",
			severity: isProblem, parts: []string{"daolease.yaml:5: hook", "hooks/gone is missing"}},
		{name: "hook without run bit", config: "subjects:\n  - match: b\n    reclaim: [hooks/take]\n", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			writeFile(t, c.path("hooks", "take"), "", 0o644)
		}, severity: isProblem, parts: []string{"hooks/take has no run bit", "chmod +x"}},
		{name: "hook nowhere", config: "subjects:\n  - match: b\n    reclaim: [no-such-program]\n",
			severity: isProblem, parts: []string{`no program "no-such-program"`}},
		{name: "holder's mode", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			appendTo(t, w.factsOf("bob"), releaseOf("L1"))
			chmodTo(t, w.factsOf("bob"), 0o622)
		}, severity: isProblem, parts: []string{"holders/bob/facts.jsonl: can be written by group or others", "nothing of holder bob is read", "chmod go-w"}},
		{name: "grantor's name", do: func(t *testing.T, w *fakeWorld, c *Composition) { appendTo(t, w.factsOf("grantor"), "{}") },
			severity: isProblem, parts: []string{"holders/grantor: a holder's folder with the grantor's name is not read", "rename"}},
		{name: "no name", do: func(t *testing.T, w *fakeWorld, c *Composition) { appendTo(t, w.factsOf(".bob"), releaseOf("L1")) },
			severity: isProblem, parts: []string{"holders/.bob: facts in a folder that is no holder's are not read"}},
		{name: "junk", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			writeFile(t, filepath.Join(c.holdersDir(), "README"), "", 0o644)
		}, severity: isAdvice, parts: []string{"holders/README: is no holder's folder", "it is no folder"}},
		{name: "undecodable", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			appendTo(t, w.factsOf("bob"), "x", "y", "z", "{", "}", "[")
		}, severity: isProblem, parts: []string{"6 undecodable lines: at 0: no JSON; at 2: ", "; and more"}},
		{name: "defective", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			appendTo(t, w.grantorFacts(), writtenGrant("", "x", "bob", ""))
		}, severity: isProblem, parts: []string{"grantor/facts.jsonl: 1 defective line: at 0: dao.lease/lease: not a non-empty string"}},
		{name: "damaged", do: func(t *testing.T, w *fakeWorld, c *Composition) { appendTo(t, w.factsOf("bob"), "half\x00") },
			severity: isAdvice, parts: []string{"1 damaged line: at 0: ", "spoils only itself"}},
		{name: "forged", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			appendTo(t, w.grantorFacts(), writtenGrant("L1", "x", "alice", ""))
			appendTo(t, w.factsOf("bob"), releaseOf("L1"))
		}, severity: isAdvice, parts: []string{"1 fact by the wrong author: at 0: bob wrote this release"}},
		{name: "repeat", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			appendTo(t, w.grantorFacts(), writtenGrant("L1", "x", "alice", ""), writtenGrant("L1", "x", "alice", ""))
		}, severity: isAdvice, parts: []string{"1 inadmissible line", "a repeat"}},
		{name: "no folder in the place of a medium", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			if err := os.MkdirAll(w.grantorFacts(), 0o755); err != nil {
				t.Fatal(err)
			}
		}, severity: isProblem, parts: []string{"grantor/facts.jsonl: it cannot be read", "no regular file"}},
		{name: "newer ledger", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			writeFile(t, c.path("grantor", "ledger.jsonl"), `{"dao.stream/type":"jsonl","dao.stream/identity":"abcdefghijklmnop","dao.stream/base":0,"dao.stream/format":9}`+"\n", 0o600)
		}, severity: isProblem, parts: []string{"ledger.jsonl: the ledger has format 9", "newer daolease"}},
		{name: "damaged end of the ledger", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			w.must(t, 0, "judge --once")
			appendTo(t, c.path("grantor", "ledger.jsonl"), `{"sum":"00000000","group":99}`)
		}, severity: isAdvice, parts: []string{"ledger.jsonl: its end is damaged", "the next judge discards"}},
		{name: "entry gone", config: "subjects:\n  - match: build\n    reclaim: none\n", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
			w.must(t, 0, "judge --once")
			writeFile(t, configFile(c.Dir), "subjects:\n  - match: other\n    reclaim: none\n", 0o644)
		}, severity: isProblem, parts: []string{`the live lease "L1" on "build" matches no entry`, "no judge starts with it"}},
		{name: "no grantor yet", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			if err := os.RemoveAll(c.grantorDir()); err != nil {
				t.Fatal(err)
			}
		}, severity: isAdvice, parts: []string{"grantor: is missing: no judge has run here"}},
		{name: "nothing is ever granted", config: rule("    duration: 2s\n"), severity: isProblem,
			parts: []string{"daolease.yaml:4: *: no proposal is ever granted", "the longest, 2s, is under twice the cadence and the tolerance, 4s", "raise it to 4s"}},
		{name: "unasked durations are refused", config: rule("    duration: 2s\n    longest: 1min\n"), severity: isProblem,
			parts: []string{"a proposal that asks for no duration is refused: 2s is under twice", "raise it to 4s"}},
		{name: "renewals beyond the cadence", config: "cadence: 5s\n" + rule("    duration: 13s\n"), severity: isAdvice,
			parts: []string{"with 13s a holder renews every 4s333ms, more often than the judge passes (5s)", "raise it to 15s, or lower the cadence to 4s333ms"}},
		{name: "tolerance", config: "tolerance: 20s\n" + rule(""), severity: isAdvice, parts: []string{"tolerance: 20s beside a duration of 30s"}},
		{name: "no tolerance", config: "tolerance: 0s\n" + rule(""), severity: isAdvice, parts: []string{"daolease.yaml:1: with a tolerance of 0s", "at least 100ms"}},
		{name: "cap", config: rule("    max: 10s\n"), severity: isAdvice, parts: []string{"the cap of 10s ends every lease before its duration of 30s"}},
		{name: "no judge", args: "--live", severity: isProblem, parts: []string{"no judge has passed here yet", "daolease judge runs passes"}},
		{name: "late judge", args: "--live", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			w.must(t, 0, "judge --once")
			w.clock.run(3001)
		}, severity: isProblem, parts: []string{"no judge has passed here for 3s, more than three cadences of 1s"}},
		{name: "waiting", config: rule("    answer: never\n"), args: "--live", do: func(t *testing.T, w *fakeWorld, c *Composition) {
			w.must(t, 0, "judge --once")
			appendTo(t, w.factsOf("bob"), proposalFor("P1", "build", ""))
		}, severity: isAdvice, parts: []string{"proposal P1: bob waits for an answer on build", "daolease grant --proposal P1 bob, or daolease refuse P1 bob"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFakeWorld(t)
			if c.config == "" {
				c.config = tinyConfig
			}
			comp := w.composition(t, c.config)
			if c.do != nil {
				c.do(t, w, comp)
			}
			before := treeOf(t, w.dir())
			r := w.checked(t, c.args)
			if !r.has(c.severity, c.parts...) {
				t.Errorf("no %s with %q in %+v", c.severity, c.parts, r.Findings)
			}
			if got := r.Problems > 0; got != (c.severity == isProblem) {
				t.Errorf("%d problems: %+v", r.Problems, r.Findings)
			}
			if treeOf(t, w.dir()) != before {
				t.Error("check has changed something")
			}
		})
	}
}

func TestCheckOfABrokenConfiguration(t *testing.T) {
	w := newFakeWorld(t)
	writeFile(t, configFile(w.dir()), "cadence: soon\n", 0o644)
	for _, line := range []string{"check", "inspect", "log"} {
		if out, errs := w.must(t, exitComposition, line); out != "" || !strings.Contains(errs, "daolease.yaml:1") {
			t.Errorf("%s: %q, %q", line, out, errs)
		}
	}
}
