package cmd_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/daolease/daolease/cmd"
)

// TestMain lets this binary be the command itself, under its name. A child that a test starts as the program ends by
// os.Exit, and must not have made folders that are then left behind.
func TestMain(m *testing.M) {
	plainUmask()
	if _, child := os.LookupEnv("DAOLEASE_TEST_ARGS"); child {
		os.Exit(m.Run())
	}
	// Most tests wait for time to pass, so that more of them go at once than there are processors. -parallel N
	// says otherwise.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"daolease": func() { os.Exit(cmd.Main()) }})
}

// TestScripts runs testdata/script/*.txtar on the real command. The first word of a script's name is the command
// that it is about.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		UpdateScripts: os.Getenv("UPDATE") != "",
		Condition:     condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": code, "until": until, "capture": capture,
		},
	})
}

func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, errors.New("no such condition")
}

// code N CMD… runs a command that must end with that exit code. Its output can be looked at as that of exec.
func code(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: code N CMD…")
	}
	if got := exitOf(ts, args[1:]); got != want {
		ts.Fatalf("exit %d, want %d", got, want)
	}
}

func exitOf(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		ts.Fatalf("%v", err)
	}
	return 0
}

// until PATTERN CMD… repeats a command until its stdout matches, for at most half a minute.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN CMD…")
	}
	want := regexp.MustCompile("(?m)" + args[0])
	for end := time.Now().Add(30 * time.Second); ; <-time.After(20 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...) // its output tells
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("never matched %q", args[0])
		}
	}
}

// capture NAME sets a variable to what the last command printed.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
