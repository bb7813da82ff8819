package cmd

import (
	"testing"
	"time"
)

// A holder survives as many missed renewals as leave the next one before its bound, which is never at it.
func TestMissedRenewals(t *testing.T) {
	for _, c := range []struct {
		duration, every time.Duration
		want            int
	}{
		{30 * time.Second, 10 * time.Second, 1}, {30 * time.Second, 9999 * time.Millisecond, 2}, {30 * time.Second, 5 * time.Second, 4},
		{30 * time.Second, 15 * time.Second, 0}, {30 * time.Second, time.Minute, 0}, {5 * time.Minute, time.Minute, 3},
	} {
		if got := missed(c.duration, c.every); got != c.want {
			t.Errorf("%v renewed every %v survives %d, want %d", c.duration, c.every, got, c.want)
		}
	}
}

func TestCheckSizesForAnInterval(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: short\n    reclaim: none\n    duration: 90s\n  - match: \"*\"\n    reclaim: none\n    duration: 5min\n")
	w.must(t, 0, "judge --once")
	r := w.checked(t, "--renew-every 1min")
	if r.Sizing[0].Missed != 0 || r.Sizing[1].Missed != 3 {
		t.Errorf("%+v", r.Sizing)
	}
	contains(t, r.Sizing[1].Text, "renews every 1min and survives 3 missed renewals")
	if len(r.Findings) != 1 || r.Findings[0].Severity != isAdvice {
		t.Fatalf("%+v", r.Findings)
	}
	contains(t, r.Findings[0].Meaning, "renewing every 1min is not often enough for a lease of 1min30s")
	w.must(t, exitUsage, "check --renew-every 0s")
	w.must(t, exitUsage, "check --renew-every 5")

	// What can never work is a problem. At its bound a lease is lost: a moment earlier is soon enough.
	for span, severity := range map[string]string{"89999ms": isAdvice, "90s": isProblem, "2min": isProblem} {
		r := w.checked(t, "--renew-every "+span)
		if len(r.Findings) == 0 || r.Findings[0].Severity != severity {
			t.Errorf("%s: %+v", span, r.Findings)
			continue
		}
		if severity == isProblem {
			contains(t, r.Findings[0].Meaning, "short: every renewal comes too late")
			contains(t, r.Findings[0].Remedy, "renew every 30s")
		}
	}
}

// A duration too short to be renewed in time is not said to be renewed without a pause.
func TestSizingOfAMoment(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "cadence: 1ms\ntolerance: 1ms\nsubjects: [{match: a, duration: 1ms, reclaim: none}]\n")
	_, out, _ := w.run("check")
	says(t, out, "with 1ms a holder renews every 1ms and survives 0 missed renewals")
}
