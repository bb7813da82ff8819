package cmd

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestVigilSaysThatNobodyJudges(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	_, errs := w.must(t, 0, "--as alice propose build --async")
	contains(t, errs, "no judge has passed here yet")
	says(t, errs, "hint: the grantor runs it: daolease -C ", "hold --judge")
	w.must(t, 0, "judge --once")
	for _, line := range []string{"--as alice renew", "grant other bob", "--as alice propose third --async"} {
		if _, errs := w.must(t, 0, line); strings.Contains(errs, "no judge") {
			t.Errorf("%s right after a pass: %s", line, errs)
		}
	}
	w.clock.run(3001)
	for _, line := range []string{"--as alice renew", "grant fourth bob", "--as alice propose fifth --async"} {
		if _, errs := w.must(t, 0, line); strings.Count(errs, "no judge has passed here for 3s") != 1 {
			t.Errorf("%s more than three cadences after a pass: %q", line, errs)
		}
	}
}

// A clock of another machine cannot be compared; how old the file is beside the one just written can.
func TestVigilOnAnotherMachine(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	w.must(t, 0, "judge --once")
	w.clock.reboot("boot-elsewhere/time:[1]")
	if _, errs := w.must(t, 0, "--as alice propose build --async"); strings.Contains(errs, "no judge") {
		t.Errorf("right after a pass: %s", errs)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(c.path("grantor", "ticks.jsonl"), past, past); err != nil {
		t.Fatal(err)
	}
	_, errs := w.must(t, 0, "--as alice propose other --async")
	contains(t, errs, "no judge has passed here for 1h")
}

func TestVigilIsSilentUnderExternalTicks(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "ticks: external\n"+tinyConfig)
	if _, errs := w.must(t, 0, "--as alice propose build --async"); errs != "" {
		t.Errorf("it says %q", errs)
	}
}
