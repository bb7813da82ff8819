//go:build unix

package cmd_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// demo starts the demo with a folder of its own for what is temporary.
func (w *world) demo() *process {
	w.Helper()
	w.must(os.Mkdir(w.path("tmp"), 0o755))
	// The demo calls the program again by what the system says it is, which for a symlink is this test.
	self, err := os.Executable()
	w.must(err)
	w.command = w.path("daolease")
	if os.Link(self, w.command) != nil {
		program, err := os.ReadFile(self)
		w.must(err)
		w.must(os.WriteFile(w.command, program, 0o755))
	}
	cmd := w.cmd("demo")
	cmd.Env = append(cmd.Env, "TMPDIR="+w.path("tmp"), "DAOLEASE_LEASE=another")
	return w.begin(cmd)
}

// gone checks that the demo has left nothing.
func (w *world) gone() {
	w.Helper()
	left, err := os.ReadDir(w.path("tmp"))
	w.must(err)
	if len(left) > 0 {
		w.Errorf("left behind: %v", left)
	}
}

func TestDemoPlaysToItsEnd(t *testing.T) {
	t.Parallel()
	w := plainWorld(t)
	p := w.demo()
	p.ends(0)
	said := p.said.String()
	for _, part := range []string{"busy: alice holds lease", "taking \"build-machine\" back from alice, because of silence", "has lapsed (silence)", "because of release", "lapsed"} {
		if !strings.Contains(said, part) {
			t.Errorf("it never shows %q:\n%s", part, said)
		}
	}
	w.gone()
}

func TestDemoBrokenOff(t *testing.T) {
	t.Parallel()
	w := plainWorld(t)
	p := w.demo()
	p.says("judge: granted")
	p.signal(syscall.SIGTERM)
	p.ends(128 + int(syscall.SIGTERM))
	w.gone()
}
