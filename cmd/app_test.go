package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// fakeClock is a machine whose clocks a test moves.
type fakeClock struct {
	mu            sync.Mutex
	running, boot int64
	id            string
	utc           time.Time
}

func newFakeClock() *fakeClock {
	return &fakeClock{running: 5000, boot: 5000, id: "boot-a/time:[1]", utc: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (c *fakeClock) get(from *int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *from
}

func (c *fakeClock) Running() int64 { return c.get(&c.running) }
func (c *fakeClock) Boot() int64    { return c.get(&c.boot) }

func (c *fakeClock) BootID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

func (c *fakeClock) UTC() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.utc
}

// run lets time pass while the machine is awake, suspend while it is asleep; both in ms.
func (c *fakeClock) run(ms int64) { c.move(ms, ms) }

func (c *fakeClock) suspend(ms int64) { c.move(0, ms) }

func (c *fakeClock) move(awake, all int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.boot = c.running+awake, c.boot+all
	c.utc = c.utc.Add(time.Duration(all) * time.Millisecond)
}

// reboot starts the clocks anew.
func (c *fakeClock) reboot(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.boot, c.id = 100, 100, id
}

// fakeUsers are users by number; err is what every lookup fails with.
type fakeUsers struct {
	mu    sync.Mutex
	names map[int]string
	err   error
	asked int
}

func (u *fakeUsers) name(uid int) (string, bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked++
	name, known := u.names[uid]
	return name, known, u.err
}

func (u *fakeUsers) current() (string, error) { return "me", nil }

func (u *fakeUsers) set(names map[int]string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.names, u.err = names, err
}

// fakeWorld is an App and what it wrote.
type fakeWorld struct {
	*App
	out, errs bytes.Buffer
	env       map[string]string
	clock     *fakeClock
	users     *fakeUsers
}

func newFakeWorld(t *testing.T) *fakeWorld {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeWorld{env: map[string]string{}, clock: newFakeClock()}
	w.users = &fakeUsers{names: map[int]string{0: "root", 1001: "alice", 1002: "bob"}}
	w.users.names[os.Geteuid()] = "me"
	w.App = &App{
		In: strings.NewReader(""), Out: &w.out, Err: &w.errs,
		Env: func(key string) string { return w.env[key] }, Environ: func() []string { return nil },
		Cwd: func() (string, error) { return dir, nil }, Hostname: func() (string, error) { return "host", nil },
		Clock: w.clock, Zone: time.UTC, Users: w.users, UID: os.Geteuid(), Program: "daolease",
	}
	return w
}

func (w *fakeWorld) dir() string {
	dir, _ := w.Cwd()
	return dir
}

// run runs one command line and answers its code, stdout and stderr.
func (w *fakeWorld) run(args ...string) (code int, out, errs string) {
	w.out.Reset()
	w.errs.Reset()
	code = w.Run(context.Background(), args)
	return code, w.out.String(), w.errs.String()
}

const tinyConfig = "subjects:\n  - match: \"*\"\n    reclaim: none\n"

// composition makes one in the world's folder and opens it.
func (w *fakeWorld) composition(t *testing.T, config string) *Composition {
	t.Helper()
	writeFile(t, configFile(w.dir()), config, 0o644)
	c, err := find(w.App)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.makeGrantor(); err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// wantExit checks the code of an error, and that its text has all the parts.
func wantExit(t *testing.T, err error, code int, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want exit %d", code)
	}
	if got := codeOf(err); got != code {
		t.Errorf("exit %d, want %d: %v", got, code, err)
	}
	text := err.Error()
	if coded := new(exitError); errors.As(err, &coded) {
		text += "\n" + coded.hint
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
}

func TestRootExitCodes(t *testing.T) {
	for _, c := range []struct {
		args  string
		code  int
		out   string
		errs  []string
		quiet bool
	}{
		{args: "version", out: "daolease "},
		{args: "--version", out: "daolease "},
		{args: "", out: "For anyone:"},
		{args: "--help", out: "Usage:"},
		{args: "help version", out: "daolease version"},
		{args: "version --help", out: "Exit status:"},
		{args: "help bogus", code: 2, errs: []string{`no help on "bogus"`, "hint: "}},
		{args: "help version bogus", code: 2, errs: []string{`no help on "version bogus"`}},
		{args: "bogus", code: 2, errs: []string{`daolease has no command "bogus"`, "hint: see daolease --help"}},
		{args: "verison", code: 2, errs: []string{"hint: did you mean version?"}},
		{args: "version extra", code: 2, errs: []string{`unexpected argument "extra"`, "see daolease version --help"}},
		{args: "version --bogus", code: 2, errs: []string{"daolease version has no flag --bogus", "see daolease version --help"}},
		{args: "--bogus", code: 2, errs: []string{"daolease has no flag --bogus"}},
		{args: "version -C", code: 2, errs: []string{"-C wants a value: -C folder"}},
		{args: "completion", code: 2, errs: []string{"bash, fish, powershell, zsh"}},
		{args: "completion bogus", code: 2, errs: []string{`daolease completion has no command "bogus"`}},
		{args: "completion bash extra", code: 2, errs: []string{"unexpected argument"}},
		{args: "lock x", code: 2, errs: []string{`daolease has no "lock"`, "hint: daolease hold"}},
		{args: "acquire --ttl 5 x", code: 2, errs: []string{"hint: daolease propose"}},
		{args: "run --help", code: 2, errs: []string{"hint: daolease hold"}},
		{args: "unlock", code: 2, errs: []string{"hint: daolease release"}},
		{args: "status", code: 2, errs: []string{"hint: daolease inspect"}},
		{args: "list -o json", code: 2, errs: []string{"hint: daolease inspect"}},
		{args: "keep-alive", code: 2, errs: []string{"hint: daolease renew"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			w := newFakeWorld(t)
			code, out, errs := w.run(strings.Fields(c.args)...)
			if code != c.code {
				t.Errorf("exit %d, want %d; stderr %q", code, c.code, errs)
			}
			if !strings.Contains(out, c.out) || (c.out == "") != (out == "") {
				t.Errorf("stdout %q, want %q in it", out, c.out)
			}
			if c.code == 0 && errs != "" {
				t.Errorf("stderr %q, want nothing", errs)
			}
			for _, part := range c.errs {
				if !strings.Contains(errs, part) {
					t.Errorf("stderr %q, want %q in it", errs, part)
				}
			}
			if c.code != 0 && !strings.HasPrefix(errs, "daolease: ") {
				t.Errorf("stderr %q does not begin with the program's name", errs)
			}
		})
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		w := newFakeWorld(t)
		if code, out, errs := w.run("completion", shell); code != 0 || !strings.Contains(out, "daolease") || errs != "" {
			t.Errorf("%s: exit %d, %d bytes, stderr %q", shell, code, len(out), errs)
		}
	}
}

// Every command is in a group that exists (cobra panics otherwise), has an example and says its exit codes.
func TestEveryCommandHelps(t *testing.T) {
	w := newFakeWorld(t)
	for _, c := range commands() {
		cmd := c.make(w.App)
		if cmd.Name() != c.name {
			t.Errorf("%s is called %s", c.name, cmd.Name())
		}
		code, out, _ := w.run(cmd.Name(), "--help")
		if code != 0 || !strings.Contains(out, "Examples:") || !cmd.HasSubCommands() && !strings.Contains(out, "Exit status:") {
			t.Errorf("%s --help: exit %d, want an example and the exit status in\n%s", cmd.Name(), code, out)
		}
		if cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.Name())
		}
	}
}

func TestAppendsThatAreNotOKExitSix(t *testing.T) {
	for _, err := range []error{stream.ErrFull, stream.ErrClosed, stream.ErrMoved, stream.ErrTransport, stream.ErrInvalidValue} {
		if got := codeOf(fmt.Errorf("facts.jsonl: %w", err)); got != exitNotAppended {
			t.Errorf("%v: exit %d", err, got)
		}
	}
	if got := codeOf(fail(exitRefused, "", "no: %w", stream.ErrFull)); got != exitRefused {
		t.Errorf("a code of its own must win, got %d", got)
	}
	if got := codeOf(io.ErrUnexpectedEOF); got != exitFailure {
		t.Errorf("any other error is exit %d, want 1", got)
	}
	if got := codeOf(nil); got != 0 {
		t.Errorf("no error is exit %d", got)
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{exitWith(122), 122, ""},
		{fmt.Errorf("while waiting: %w", exitWith(5)), 5, ""},
		{errors.New("broken"), 1, "daolease: broken\n"},
		{usagef("say so", "no %q", "x"), 2, "daolease: no \"x\"\nhint: say so\n"},
		{fail(4, "", "held by a\x1b[2Jb\u202e"), 4, "daolease: held by a\\x1b[2Jb\\u202e\n"},
		{errors.Join(errors.New("one"), errors.New("two")), 1, "daolease: one; two\n"},
		{&stdoutError{syscall.EPIPE}, 141, ""},
		{&stdoutError{syscall.ENOSPC}, 1, "daolease: writing to stdout: no space left on device\n"},
		{syscall.EPIPE, 1, "daolease: broken pipe\n"},
	} {
		w := newFakeWorld(t)
		if code := w.report(c.err); code != c.code || w.errs.String() != c.want {
			t.Errorf("%v: exit %d and %q, want %d and %q", c.err, code, w.errs.String(), c.code, c.want)
		}
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestStdoutThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--help"}, {"completion", "bash"}} {
		w := newFakeWorld(t)
		w.Out = brokenWriter{syscall.ENOSPC}
		if code, _, errs := w.run(args...); code != exitFailure || !strings.Contains(errs, "writing to stdout") {
			t.Errorf("%v on a full disk: exit %d, %q", args, code, errs)
		}
		w.Out = brokenWriter{syscall.EPIPE}
		if code, _, errs := w.run(args...); code != exitPipe || errs != "" {
			t.Errorf("%v into a closed pipe: exit %d, %q; want it quiet", args, code, errs)
		}
	}
}

// TestAsProgram is no test of its own: the tests below run this binary again as the program.
func TestAsProgram(t *testing.T) {
	args, asked := os.LookupEnv("DAOLEASE_TEST_ARGS")
	if !asked {
		t.Skip("only for the tests that start it")
	}
	os.Args = append([]string{"daolease"}, strings.Fields(args)...)
	os.Exit(Main())
}

// program is this binary as the program, with nothing in its environment but the arguments.
func program(args string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestAsProgram$")
	cmd.Env = []string{"DAOLEASE_TEST_ARGS=" + args}
	return cmd
}

func TestEmptyEnvironmentAndClosedStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	if out, err := program("version").Output(); err != nil || !strings.HasPrefix(string(out), "daolease ") {
		t.Errorf("with an empty environment: %q, %v", out, err)
	}
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&- 2>&-"} {
		cmd := program("version")
		cmd.Args = []string{"sh", "-c", `exec "$0" -test.run='^TestAsProgram$' ` + closed, cmd.Path}
		cmd.Path = "/bin/sh"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("with %s: %v, %s", closed, err, out)
		}
	}
}

func TestPipeNobodyReads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such pipes")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd := program("version")
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	exit := new(exec.ExitError)
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitPipe || errs.Len() > 0 {
		t.Errorf("%v, stderr %q; want exit %d and nothing", err, errs.String(), exitPipe)
	}
	w.Close()
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		defer full.Close()
		cmd := program("version")
		cmd.Stdout = full
		cmd.Stderr = &errs
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(errs.String(), "writing to stdout") {
			t.Errorf("full: %v, stderr %q", err, errs.String())
		}
	}
}
