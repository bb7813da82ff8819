//go:build unix

package cmd

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
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

// Following ends quietly when nobody reads any more.
func TestLogFollowIntoAPipeThatCloses(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.factsOf("bob"), proposalFor("P1", "build", ""))
	cmd := program("-C " + w.dir() + " log -f")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	appendTo(t, w.factsOf("bob"), proposalFor("P2", "build", ""))
	exit := new(exec.ExitError)
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitPipe || errs.Len() > 0 {
		t.Errorf("%v, %q; want exit %d and nothing", err, errs.String(), exitPipe)
	}
}
