package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge/judgetest"
)

// fileWorld plays a scenario on files, with the real command driven a pass a line.
type fileWorld struct {
	t       *testing.T
	command string
	dir     string
	stdin   io.Writer
	reports *bufio.Reader
}

func newFileWorld(t *testing.T, s judgetest.Scenario) *fileWorld {
	w := &fileWorld{t: t, command: daolease(t), dir: t.TempDir()}
	for _, dir := range append([]string{"grantor", "hooks", "fail"}, holderDirs(s.Holders)...) {
		w.must(os.MkdirAll(filepath.Join(w.dir, dir), 0o755))
	}
	w.must(os.Chmod(w.dir, 0o755))
	w.write("hooks/free", 0o755, "#!/bin/sh\ntest ! -e \"fail/$DAOLEASE_SUBJECT\"\n")
	var units []string
	for _, name := range slices.Sorted(maps.Keys(s.Units)) {
		units = append(units, fmt.Sprintf("%s: %d", name, s.Units[name]))
	}
	tolerance := "0s"
	if s.Tolerance.N > 0 {
		tolerance = fmt.Sprintf("%d%s", s.Tolerance.N, s.Tolerance.Unit)
	}
	w.write("daolease.yaml", 0o644, fmt.Sprintf(`ticks: external
cadence: %d%s
tolerance: %s
units: {%s}
drain_budget: %d
reclaim: {retry: {initial: 0s}}
subjects:
  - match: "*"
    answer: never
    slots: 0
    reclaim: [hooks/free]
`, s.Cadence.N, s.Cadence.Unit, tolerance, strings.Join(units, ", "), s.DrainBudget))
	w.start()
	return w
}

func holderDirs(names []string) []string {
	dirs := make([]string, len(names))
	for i, name := range names {
		dirs[i] = filepath.Join("holders", name)
	}
	return dirs
}

func (w *fileWorld) start() {
	cmd := exec.Command(w.command, "-C", w.dir, "judge", "--step", "--ledger")
	cmd.Stderr = w.t.Output()
	stdin, err := cmd.StdinPipe()
	w.must(err)
	stdout, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	w.stdin, w.reports = stdin, bufio.NewReader(stdout)
	w.t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("the judge ended with %v", err)
		}
	})
}

func (w *fileWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *fileWorld) write(name string, mode os.FileMode, text string) {
	path := filepath.Join(w.dir, name)
	w.must(os.WriteFile(path, []byte(text), mode))
	w.must(os.Chmod(path, mode))
}

func (w *fileWorld) medium(name string) string {
	switch name {
	case "ticks":
		return filepath.Join(w.dir, "grantor", "ticks.jsonl")
	case "grantor":
		return filepath.Join(w.dir, "grantor", "facts.jsonl")
	}
	return filepath.Join(w.dir, "holders", name, "facts.jsonl")
}

func (w *fileWorld) Append(medium, line string) {
	f, err := os.OpenFile(w.medium(medium), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	w.must(err)
	_, err = f.WriteString(line + "\n")
	w.must(err)
	w.must(f.Close())
}

func (w *fileWorld) Lose(medium string) {
	empty := w.medium(medium) + ".empty"
	w.must(os.WriteFile(empty, nil, 0o644))
	w.must(os.Rename(empty, w.medium(medium)))
}

func (w *fileWorld) Procedure(subject string, ok bool) {
	path := filepath.Join(w.dir, "fail", subject)
	if !ok {
		w.must(os.WriteFile(path, nil, 0o644))
	} else if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
}

func (w *fileWorld) Policy(leases []string) {
	for _, id := range leases {
		out, err := exec.Command(w.command, "-C", w.dir, "revoke", id, "--reason", "told to").CombinedOutput()
		if err != nil {
			w.t.Fatalf("revoke %s: %v: %s", id, err, out)
		}
	}
}

func (w *fileWorld) Pass() []byte {
	_, err := io.WriteString(w.stdin, "\n")
	w.must(err)
	report, err := w.reports.ReadBytes('\n')
	if err != nil {
		w.t.Fatalf("no report: %v", err)
	}
	return report
}

func TestConformanceThroughFiles(t *testing.T) {
	all, err := judgetest.Load("../pkg/judge/testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, wrong := range s.Play(newFileWorld(t, s)) {
				t.Error(wrong)
			}
		})
	}
}

// daolease is the real command: this test binary under its name.
func daolease(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "daolease")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}
