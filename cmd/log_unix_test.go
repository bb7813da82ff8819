//go:build unix

package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Following ends quietly at a signal.
func TestLogFollowEndsAtASignal(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		w := newFakeWorld(t)
		w.composition(t, tinyConfig)
		appendTo(t, w.factsOf("bob"), proposalFor("P1", "build", ""))
		cmd := program("-C " + w.dir() + " log -f")
		out, errs := new(slowBuffer), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the first line", func() bool { return strings.Contains(out.String(), "P1 on build") })
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || errs.Len() > 0 {
			t.Errorf("%v: %v, %q", sig, err, errs)
		}
	}
}

// Following ends quietly when nobody reads any more, also where nothing more comes to be written.
func TestFollowingIntoAPipeThatCloses(t *testing.T) {
	for _, args := range []string{"log -f", "inspect --watch"} {
		w := newFakeWorld(t)
		w.composition(t, tinyConfig)
		appendTo(t, w.factsOf("bob"), proposalFor("P1", "build", ""))
		cmd := program("-C " + w.dir() + " " + args)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		out.Close()
		exit := new(exec.ExitError)
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitPipe || errs.Len() > 0 {
			t.Errorf("%s: %v, %q; want exit %d and nothing", args, err, errs.String(), exitPipe)
		}
		late.Stop()
	}
}

// Watched into a pipe, inspect prints a document a line, and only when more has changed than the time.
func TestInspectWatchPrintsChanges(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "cadence: 100ms\n"+tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	cmd := program("-C " + w.dir() + " inspect --watch --holder alice")
	out, errs := new(slowBuffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first document", func() bool { return strings.Count(out.String(), "\n") == 1 })
	appendTo(t, w.grantorFacts(), writtenGrant("L2", "other", "bob", ""))
	appendTo(t, w.factsOf("alice"), releaseOf("L1"))
	eventually(t, "the second", func() bool { return strings.Count(out.String(), "\n") == 2 })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("%v, %q", err, errs)
	}
	var states []string
	for line := range strings.Lines(out.String()) {
		var doc inspection
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		states = append(states, doc.only(t).State)
	}
	if got := strings.Join(states, " "); got != "granted released" {
		t.Errorf("it printed %q", got)
	}
}

// On a terminal the screen is drawn over, and what does not fit it is cut where that shows.
func TestInspectWatchFitsTheScreen(t *testing.T) {
	app := &App{Size: func() (int, int) { return 20, 6 }}
	text := strings.Repeat("漢字 is wider than it looks\n", 20) + "\nwhose\nwhen\nnote\n"
	screen := string((&leaseWatch{app: app}).screen([]byte(text)))
	plain := strings.NewReplacer("\x1b[H", "", "\x1b[K", "", "\x1b[J", "").Replace(screen)
	lines := strings.Split(plain, "\r\n")
	if len(lines) != 5 || lines[4] != "note" || lines[1] != "…" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, line := range lines {
		if cellWidth(line) > 20 {
			t.Errorf("%q is %d wide", line, cellWidth(line))
		}
	}
}
