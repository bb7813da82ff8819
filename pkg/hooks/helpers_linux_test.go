package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a condition is waited for before a test fails.
const patience = 20 * time.Second

// judgeEnv, when set, makes the test binary a judge that runs one procedure: "dir\nsubject\ntimeout\nscript".
const judgeEnv = "HOOKS_TEST_JUDGE"

func TestMain(m *testing.M) {
	if order := os.Getenv(judgeEnv); order != "" {
		os.Exit(beJudge(order))
	}
	os.Exit(m.Run())
}

// beJudge claims a subject and runs a script on it, as another judge would.
func beJudge(order string) int {
	word := strings.SplitN(order, "\n", 4)
	timeout, _ := time.ParseDuration(word[2])
	c, err := Take(word[0], word[1], here())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer c.Release(false)
	if r := c.Run(context.Background(), script(word[0], timeout, word[3]), nil); r.Err != nil {
		fmt.Fprintln(os.Stderr, r.Err)
		return 2
	}
	return 0
}

// here is this boot and its running clock.
func here() Identity { return later(0) }

// later is this boot, with a clock that is ahead.
func later(ahead time.Duration) Identity {
	return Identity{Boot: "this boot", Now: func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			panic(err)
		}
		return ts.Nano()/1e6 + ahead.Milliseconds()
	}}
}

// script is a procedure in shell.
func script(dir string, timeout time.Duration, text string) Procedure {
	env, _ := CleanEnv(nil, nothing)
	return Procedure{Argv: []string{"sh", "-c", text}, Dir: dir, Env: env, Timeout: timeout, Grace: 100 * time.Millisecond}
}

// run runs a procedure on a fresh subject and gives the subject back.
func run(t *testing.T, p Procedure) Result {
	t.Helper()
	c := take(t, t.TempDir(), "s", here())
	defer c.Release(true)
	return c.Run(t.Context(), p, nil)
}

// shell runs a script likewise.
func shell(t *testing.T, text string) Result {
	t.Helper()
	return run(t, script(t.TempDir(), patience, text))
}

func take(t *testing.T, dir, subject string, id Identity) *Claim {
	t.Helper()
	c, err := Take(dir, subject, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// judge starts another judge and waits until its script has made the file "up" in dir and its note names a leader.
func judge(t *testing.T, dir, subject string, timeout time.Duration, text string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	order := strings.Join([]string{dir, subject, timeout.String(), text}, "\n")
	cmd.Env = append(os.Environ(), judgeEnv+"="+order)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, _ = KillGroup(dir, subject, here())
	})
	eventually(t, "the other judge's procedure is up", func() bool {
		f, err := os.Open(filepath.Join(dir, RunName(subject)))
		if err != nil {
			return false
		}
		defer func() { _ = f.Close() }()
		n, ok := readNote(f)
		_, up := os.Stat(filepath.Join(dir, "up"))
		return ok && n.Leader != 0 && up == nil
	})
	return cmd
}

// orphan is a judge that was killed while its script runs.
func orphan(t *testing.T, dir, subject string, timeout time.Duration, text string) {
	t.Helper()
	cmd := judge(t, dir, subject, timeout, text)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); <-time.After(pollEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// pidsIn reads the pids that a script wrote to a file.
func pidsIn(t *testing.T, path string) []int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		t.Fatalf("%s names no process", path)
	}
	return pids
}

func lives(pid int) bool {
	p, ok := readProcess(pid)
	return ok && !p.dead
}

// wantGone fails for each process that still lives: what is to be gone when a call returns is looked at once.
func wantGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if lives(pid) {
			t.Errorf("process %d still lives", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// killLater makes sure that a process which a test lets live does not outlast it.
func killLater(t *testing.T, pids ...int) {
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// wantBusy fails unless the error is a *BusyError, and answers it.
func wantBusy(t *testing.T, c *Claim, err error) *BusyError {
	t.Helper()
	var busy *BusyError
	if !errors.As(err, &busy) {
		if c != nil {
			c.Release(false)
		}
		t.Fatalf("claimed, or another error than busy: %v", err)
	}
	return busy
}

func wantErr(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, want %q in it", err, word)
		}
	}
}
