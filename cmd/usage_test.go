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
		"renew --all=maybe":                `--all: "maybe" is neither true nor false; write --all alone`,
		"hold -E x s -- true":              `-E: "x" is no whole number, or too great a one`,
		"recover --token-above x":          `--token-above: "x" is no whole number, or too great a one`,
		"recover --token-above -1":         "--token-above: -1 is no token, which is at most 2^52",
		"propose --duration 5 s":           `--duration: "5" has no unit; write 5s, 5ms or another unit of ms, s, m or min, h, d`,
		"inspect -o xml":                   `-o: "xml" is no form here; the forms are table, wide, json, jsonl, yaml`,
		"log --medium":                     "--medium wants a value: --medium NAME",
		"inspect -o":                       "-o wants a value: -o form",
		"why -o json x":                    "daolease why has no flag -o",
		"propose s --durtion 5s":           "daolease propose has no flag --durtion",
		"inspect --all --proposals --at 3": "--all, --at and --proposals exclude each other",
	} {
		_, errs := w.must(t, exitUsage, line)
		if said, _, _ := strings.Cut(errs, "\n"); said != "daolease: "+want {
			t.Errorf("%s: %s", line, said)
		}
	}
}

// A flag whose value is an unset variable is refused, save where it is a text for people.
func TestAnEmptyFlagIsRefused(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	for _, args := range [][]string{
		{"log", "--lease", ""}, {"inspect", "--at="}, {"--as", "", "propose", "x"}, {"-C", "", "inspect"}, {"renew", "--subject", ""}, {"inspect", "--holder", ""},
	} {
		if code, _, errs := w.run(args...); code != exitUsage || !strings.Contains(errs, "is empty\nhint: ") {
			t.Errorf("%q: exit %d, %q", args, code, errs)
		}
	}
	if code, _, errs := w.run("--as", "alice", "propose", "x", "--async", "--note", ""); code != 0 {
		t.Errorf("a note may be empty: %d, %q", code, errs)
	}
}

// A flag whose name is nearly another's is taken for that one in the hint.
func TestAFlagThatWasMeant(t *testing.T) {
	w := newFakeWorld(t)
	for line, hint := range map[string]string{
		"propose s --durtion 5s": "did you mean --duration?", "inspect --alll": "did you mean --all?", "inspect --nothing-near": "see daolease inspect --help",
	} {
		if _, errs := w.must(t, exitUsage, line); !strings.HasSuffix(errs, "\nhint: "+hint+"\n") {
			t.Errorf("%s: %q", line, errs)
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

// A word of the command line that is too long to be read is quoted by its beginning, whatever is wrong with it.
func TestLongWordsAreNotQuotedWhole(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	long := strings.Repeat("x", 5000)
	for _, line := range []string{"why " + long, "refuse " + long, long, "--as " + long + " propose b", "propose b --duration=" + long, "propose " + long, "revoke " + long + " --reason r"} {
		code, _, errs := w.run(strings.Fields(line)...)
		if code == 0 || len(errs) > 1000 || strings.Contains(errs, strings.Repeat("x", quotedMost+1)) {
			t.Errorf("%.20s: exit %d, and it says %d bytes: %.300s", line, code, len(errs), errs)
		}
	}
}
