package cmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What cobra says of a wrong command line is said in this program's words.
func TestWrongCommandLines(t *testing.T) {
	w := newFakeWorld(t)
	for line, want := range map[string]string{
		"revoke":                           "one LEASE is wanted",
		"revoke a b":                       "one LEASE is wanted, and 2 words are there",
		"renew a b":                        "at most one LEASE is wanted, and 2 words are there",
		"refuse":                           "one PROPOSAL is wanted",
		"refuse a b c":                     "at most 2 words are wanted, and 3 are there",
		"holder add":                       "one NAME is wanted",
		"hold s --wait 1s -n -- true":      "-n and --wait exclude each other",
		"inspect --all --proposals --at 3": "--all, --at and --proposals exclude each other",
	} {
		_, errs := w.must(t, exitUsage, line)
		if said, _, _ := strings.Cut(errs, "\n"); said != "daolease: "+want {
			t.Errorf("%s: %s", line, said)
		}
	}
}

// Whatever number of words a command does not accept, cobra's message about it is known.
func TestNoCommandSpeaksOfArgs(t *testing.T) {
	var visit func(root, cmd *cobra.Command)
	visit = func(root, cmd *cobra.Command) {
		for n := range 5 {
			if cmd.Args == nil {
				continue
			}
			if err := cmd.Args(cmd, strings.Fields("a b c d e")[:n]); err != nil && strings.Contains(asUsage(root, cmd, err).Error(), "arg(s)") {
				t.Errorf("%s with %d words: %v", cmd.CommandPath(), n, err)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(root, sub)
		}
	}
	root := newRootCmd(newFakeWorld(t).App)
	visit(root, root)
}
