//go:build unix

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal ends a wait with its own code, and leaves nothing proposed.
func TestProposeInterrupted(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config := "subjects: [{match: build, reclaim: none}]\n"
			if err := os.WriteFile(filepath.Join(dir, "daolease.yaml"), []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
			facts := filepath.Join(dir, "holders", "alice", "facts.jsonl")
			propose := exec.Command(daolease(t), "-C", dir, "--as", "alice", "propose", "build", "--wait", "inf")
			if err := propose.Start(); err != nil {
				t.Fatal(err)
			}
			has := func(what string) bool {
				text, _ := os.ReadFile(facts)
				return strings.Contains(string(text), what)
			}
			for end := time.Now().Add(30 * time.Second); !has("proposed"); <-time.After(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("nothing is proposed")
				}
			}
			if err := propose.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = propose.Wait() // the code is looked at
			if got := propose.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit %d, want %d", got, c.code)
			}
			if !has(`"daolease/withdrawn":true`) {
				t.Error("the proposal still stands")
			}
		})
	}
}
