//go:build unix

package cmd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fenced is one resource, and the callers of its fence.
type fenced struct {
	*testing.T
	command, dir   string
	newest         atomic.Int64 // the highest token that anybody has
	typical        atomic.Int64 // how long a call takes, in ns
	killed, denied atomic.Int64
}

func newFenced(t *testing.T) *fenced {
	f := &fenced{T: t, command: daolease(t), dir: t.TempDir()}
	f.typical.Store(int64(100 * time.Millisecond))
	return f
}

func (f *fenced) path(name string) string { return filepath.Join(f.dir, name) }

// call has one caller act under a token: it writes the token at the end of the log. Doomed, it is killed at some
// moment of its life.
func (f *fenced) call(token int64, doomed bool) {
	act := fmt.Sprintf("read held <state; echo %d $held >>log", token)
	cmd := exec.Command(f.command, "fence", strconv.FormatInt(token, 10), "--state", "state", "--", "sh", "-c", act)
	cmd.Dir = f.dir
	began := time.Now()
	if err := cmd.Start(); err != nil {
		f.Error(err)
		return
	}
	late := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
	if doomed {
		late.Reset(rand.N(time.Duration(f.typical.Load())))
	}
	defer late.Stop()
	_ = cmd.Wait() // the code is looked at
	switch code := cmd.ProcessState.ExitCode(); {
	case code == 0:
		f.typical.Store(int64(time.Since(began)))
	case code == 122:
		f.denied.Add(1)
	case code == -1 && doomed:
		f.killed.Add(1)
	default:
		f.Errorf("token %d: %v", token, cmd.ProcessState)
	}
}

// honoured are the tokens in the order in which they acted. Each must have found the state at its own.
func (f *fenced) honoured() (tokens []int64) {
	text, err := os.ReadFile(f.path("log"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var token, state int64
		if _, err := fmt.Sscanf(line, "%d %d\n", &token, &state); err != nil {
			f.Fatalf("%q: %v", line, err)
		}
		if token != state {
			f.Errorf("token %d acted while the state was at %d", token, state)
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// Whoever is killed, and when: nobody acts under a token that is older than one under which anybody has acted.
func TestFenceNeverAdmitsAnOlderToken(t *testing.T) {
	t.Parallel()
	f := newFenced(t)
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 8 {
				token := f.newest.Add(1)
				if rand.N(2) == 0 { // a holder that was paused
					token = max(1, token-rand.N[int64](20))
				}
				f.call(token, rand.N(3) > 0)
			}
		})
	}
	callers.Wait()
	f.call(f.newest.Add(1), false) // whatever was killed, the next one is admitted
	tokens := f.honoured()
	for i, token := range tokens[1:] {
		if token < tokens[i] {
			t.Errorf("token %d acted after %d", token, tokens[i])
		}
	}
	if last := tokens[len(tokens)-1]; last != f.newest.Load() {
		t.Errorf("the last to act was token %d, want %d", last, f.newest.Load())
	}
	if f.killed.Load() == 0 || f.denied.Load() == 0 || len(tokens) < 5 {
		t.Errorf("%d acted, %d were denied, %d killed: what was tested here?", len(tokens), f.denied.Load(), f.killed.Load())
	}
	if left, _ := filepath.Glob(f.path(".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a killed process left of its writing is nobody's.
func TestFenceIgnoresWhatWasNotFinished(t *testing.T) {
	for _, torn := range []string{"", "9", "9\n", "1\n"} {
		f := newFenced(t)
		f.write("state", "5\n")
		f.write(".state.tmp", torn)
		f.call(4, false)
		if f.denied.Load() != 1 {
			t.Errorf("beside a temporary file of %q token 4 was not denied", torn)
		}
		f.call(6, false)
		if tokens := f.honoured(); len(tokens) != 1 || tokens[0] != 6 {
			t.Errorf("beside a temporary file of %q %v acted", torn, tokens)
		}
		if text, err := os.ReadFile(f.path("state")); string(text) != "6\n" {
			t.Errorf("the state is %q, %v", text, err)
		}
	}
}

func (f *fenced) write(name, text string) {
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// What runs on in the background has the turn until it ends.
func TestFenceLocksWhatItsCommandLeaves(t *testing.T) {
	f := newFenced(t)
	fence := func(token string, words ...string) (string, int) {
		cmd := exec.Command(f.command, append([]string{"fence", token, "--state", "state"}, words...)...)
		cmd.Dir = f.dir
		said, _ := cmd.CombinedOutput() // the code is looked at
		return string(said), cmd.ProcessState.ExitCode()
	}
	if said, code := fence("1", "--", "sh", "-c", "mkfifo end; (read x <end; echo done >log) </dev/null >/dev/null 2>&1 & echo $!"); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	if said, code := fence("2", "--wait", "0s"); code != 5 {
		t.Errorf("exit %d: %s", code, said)
	}
	f.write("end", "x\n")
	if said, code := fence("2", "--wait", "1min", "--", "cat", "log"); code != 0 || !strings.Contains(said, "done") {
		t.Errorf("exit %d: %s", code, said)
	}
}
