package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// ways runs a command line on the tree that is made for it and on the whole one, and answers what each said.
func ways(t *testing.T, args []string) (lean, whole string) {
	t.Helper()
	said := func(make func(*App) *cobra.Command) string {
		w := newFakeWorld(t)
		w.args = slices.Clone(args)
		w.dirFlag = w.dir() // of this world alone, and as good as none
		code := w.report(w.execute(context.Background(), make(w.App)))
		return strings.ReplaceAll(strings.Join([]string{fmt.Sprint("exit ", code), w.out.String(), w.errs.String()}, "\n"), w.dir(), "DIR")
	}
	return said(func(a *App) *cobra.Command { return newTreeFor(a, args) }), said(newRootCmd)
}

// visible are the paths of all commands below one.
func visible(cmd *cobra.Command) (paths [][]string) {
	for _, sub := range cmd.Commands() {
		_, path, _ := strings.Cut(sub.CommandPath(), " ")
		paths = append(append(paths, strings.Fields(path)), visible(sub)...)
	}
	return paths
}

// A command says the same of itself and of wrong words whether the others were made or not.
func TestOneCommandOrAll(t *testing.T) {
	after := []string{
		"--help", "-h", "--nonsense", "-Z", "--as", "-C", "-o bad", "--json --nonsense=1", "a b c d e f g", "nonsense --help", "help",
		"--version", "-- --help", "--wait x",
	}
	before := []string{"", "-C /nowhere", "-C=/nowhere", "--as renew", "--dir judge --as hold", "--nonsense", "--nonsense x", "--", "-h", "-v", "-C"}
	for _, path := range visible(newRootCmd(newFakeWorld(t).App)) {
		for _, words := range after {
			compareWays(t, append(slices.Clone(path), strings.Fields(words)...))
		}
		for _, words := range before {
			compareWays(t, append(append(strings.Fields(words), path...), "--help"))
		}
	}
	for _, line := range []string{"", "-h", "renwe", "renew-all", "help renew", "help nonsense", "help", "-C renew", "-- renew", "--as renew inspekt", "__complete re", "__complete renew -", "completion", "completion nonsense"} {
		compareWays(t, strings.Fields(line))
	}
}

func compareWays(t *testing.T, args []string) {
	t.Helper()
	if lean, whole := ways(t, args); lean != whole {
		t.Errorf("daolease %q:\n%s\nwith all commands:\n%s", args, lean, whole)
	}
}

// Where a command is named no other is made, wherever its name stands among the flags that every command has.
func TestOnlyTheCommandThatIsNamed(t *testing.T) {
	for line, want := range map[string]string{
		"renew":                        "renew",
		"-C judge renew --as hold":     "renew",
		"--as=judge --dir hold log -f": "log",
		"hold judge -- daolease renew": "hold",
		"holder add alice":             "holder",
	} {
		var made []string
		for _, cmd := range newTreeFor(newFakeWorld(t).App, strings.Fields(line)).Commands() {
			made = append(made, cmd.Name())
		}
		if !slices.Equal(made, []string{want}) {
			t.Errorf("%s makes %q, want %s alone", line, made, want)
		}
	}
}
