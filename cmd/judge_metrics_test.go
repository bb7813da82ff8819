package cmd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// measured is what a metrics file says, and it must be what Prometheus takes, where promtool can be had.
func measured(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		cmd := exec.Command(promtool, "check", "metrics")
		cmd.Stdin = strings.NewReader(string(text))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
	return string(text)
}

func TestMetricsCountWhatAJudgeDid(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\nexit 1\n", 0o755)
	w.composition(t, "subjects:\n  - match: stuck\n    reclaim: [hooks/take]\n  - match: \"*\"\n    reclaim: none\n")
	path := filepath.Join(t.TempDir(), "daolease.prom")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "stuck", "alice", ""), writtenGrant("L2", "free", "bob", ""), writtenGrant("L3", "kept", "bob", ""), writtenGrant("L3", "kept", "bob", ""))
	appendTo(t, w.factsOf("alice"), releaseOf("L1"), "junk", "half\x00", `{"dao.lease/status":"dao.lease/released"}`)
	appendTo(t, w.factsOf("bob"), releaseOf("L2"))
	w.must(t, exitNotReclaimed, "judge --once --metrics-file "+path)
	text := measured(t, path)
	for _, line := range []string{
		`daolease_leases{state="live"} 1`, `daolease_leases{state="pending"} 1`, `daolease_lapses_total{cause="release"} 1`, `daolease_lapses_total{cause="silence"} 0`,
		`daolease_hook_runs_total{result="failed"} 1`, `daolease_hook_runs_total{result="ok"} 1`, `daolease_passes_total{outcome="ok"} 1`,
		`daolease_granted_total 2`, `daolease_releases_total 2`, `daolease_dropped_lines_total{reason="undecodable"} 1`, `daolease_dropped_lines_total{reason="damaged"} 1`,
		`daolease_dropped_lines_total{reason="defective"} 1`, `daolease_dropped_lines_total{reason="inadmissible"} 1`, `daolease_incarnation 1`,
		`daolease_pass_duration_seconds_count 1`, `daolease_pass_duration_seconds_bucket{le="+Inf"} 1`, `daolease_stalls_total 0`,
	} {
		contains(t, text, line+"\n")
	}
	w.clock.run(60_000)
	chmodTo(t, w.factsOf("bob"), 0o666)
	w.must(t, exitNotReclaimed, "judge --once --metrics-file "+path)
	text = measured(t, path)
	for _, line := range []string{"daolease_gaps_total 1", "daolease_unknown_total 1", "daolease_stalls_total 1", "daolease_unwatched_seconds_total 59", "daolease_last_completed_pass_reading_seconds 60."} {
		contains(t, text, "\n"+line)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_, errs := w.must(t, exitNotReclaimed, "judge --once --metrics-file "+filepath.Join(w.dir(), "nowhere", "x"))
	contains(t, errs, "the metrics could not be written")
	w.must(t, exitUsage, "judge --dry-run --metrics-file x")
}

// A pass whose metrics cannot be written is made all the same, and the exit says that they are not there.
func TestMetricsThatCannotBeWritten(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "free", "bob", ""))
	path := filepath.Join(w.dir(), "nowhere", "x")
	_, errs := w.must(t, exitFailure, "judge --once --metrics-file "+path)
	says(t, errs, "the metrics could not be written to "+path+": ", "the pass is completed and recorded, but its metrics are not in "+path, "hint: ")
	out, _ := w.must(t, 0, "inspect")
	contains(t, out, "L1")
}

// Everything that a judge says as JSON is one record a line, errors too, with what it is about.
func TestJudgeLogsJSON(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "a\u202eb", "alice", ""), "junk")
	_, errs := w.must(t, 0, "judge --once --log-format json")
	appendTo(t, w.factsOf("alice"), releaseOf("L1"))
	_, more := w.must(t, 0, "judge --once --log-format json")
	errs += more
	events := map[string]map[string]any{}
	for line := range strings.Lines(errs) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if record["msg"] == "" || record["level"] == nil || !strings.HasPrefix(record["time"].(string), "2030-01-02T03:04:05") {
			t.Errorf("%v", record)
		}
		if event, ok := record["event"].(string); ok {
			events[event] = record
		}
	}
	if e := events["granted"]; e["lease"] != "L1" || e["holder"] != "alice" || e["subject"] != "a\u202eb" {
		t.Errorf("granted: %v", e)
	}
	if e := events["lapsed"]; e["lease"] != "L1" || e["cause"] != "release" || events["reclaimed"] == nil {
		t.Errorf("%v", events)
	}
	if strings.Contains(errs, "\u202e") || !strings.Contains(errs, "dropped the line") {
		t.Errorf("%q", errs)
	}
	writeFile(t, configFile(w.dir()), "nonsense: 1\n", 0o644)
	_, errs = w.must(t, exitComposition, "judge --log-format json")
	var record map[string]any
	if err := json.Unmarshal([]byte(errs), &record); err != nil || record["level"] != "ERROR" || record["hint"] == "" {
		t.Errorf("%v: %q", err, errs)
	}
	w.must(t, exitUsage, "judge --log-format xml")
}
