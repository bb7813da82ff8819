package cmd_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

const minute = `ticks: external
cadence: 2s
tolerance: 1s
subjects: [{match: "*", slots: 0, reclaim: [hooks/free]}]
`

// heard is until when each lease of the minute is renewed, every two seconds; its duration is five.
func heard() map[string]int { return map[string]int{"never": 0, "short": 9, "long": 31, "whole": 60} }

// live plays one second of the minute.
func (w *world) live(second int) {
	w.Helper()
	for lease, until := range heard() {
		if second == 1 {
			w.grant(lease, lease, "alice", 5)
		} else if second <= until && second%2 == 0 {
			w.renewal("alice", lease)
		}
	}
	if second%10 == 0 {
		w.want(0, []string{"tick", fmt.Sprintf("%ds", second)})
	} else {
		w.tick("grantor/ticks.jsonl", second)
	}
}

// stepper is a judge --step and its reports.
type stepper struct {
	w     *world
	cmd   *exec.Cmd
	lines io.WriteCloser
	out   *bufio.Reader
}

func (w *world) step(args ...string) *stepper {
	w.Helper()
	s := &stepper{w: w, cmd: w.cmd(append([]string{"judge", "--step"}, args...)...)}
	s.cmd.Stderr = w.Output()
	lines, err := s.cmd.StdinPipe()
	w.must(err)
	out, err := s.cmd.StdoutPipe()
	w.must(err)
	w.must(s.cmd.Start())
	s.lines, s.out = lines, bufio.NewReader(out)
	w.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// pass has one pass made and answers its report.
func (s *stepper) pass() (r judge.Report) {
	s.w.Helper()
	_, err := io.WriteString(s.lines, "go\n")
	s.w.must(err)
	text, err := s.out.ReadBytes('\n')
	s.w.must(err)
	s.w.must(json.Unmarshal(text, &r))
	return r
}

// TestJudgeOnceEqualsStep judges the same minute by sixty processes and by one.
func TestJudgeOnceEqualsStep(t *testing.T) {
	t.Parallel()
	hooks := map[string]string{"free": noting}
	cron, one := newWorld(t, minute, hooks), newWorld(t, minute, hooks)
	stepper := one.step()
	byCron, byStep := map[string]int{}, map[string]int{}
	for second := 1; second <= 60; second++ {
		cron.live(second)
		cron.want(0, []string{"judge", "--once"})
		for lease, list := range cron.of("lapsed") {
			if byCron[lease] == 0 {
				byCron[lease] = second
			}
			if len(list) != 1 || list[0].Cause != "silence" {
				t.Fatalf("%s: %v", lease, list)
			}
		}
		one.live(second)
		for _, e := range stepper.pass().Lapsed {
			byStep[e.Lease] = second
		}
	}
	for lease, until := range heard() {
		a, b := byCron[lease], byStep[lease]
		switch {
		case until == 60 && a+b != 0:
			t.Errorf("%s was renewed all the time, and lapsed at %d and %d", lease, a, b)
		case until < 60 && (a == 0 || b == 0 || a-b > 1 || b-a > 1):
			t.Errorf("%s lapsed at %d by --once and at %d by --step", lease, a, b)
		case until < 60 && a <= until+5:
			t.Errorf("%s was renewed until %d and lapsed at %d already", lease, until, a)
		}
	}
	for _, w := range []*world{cron, one} {
		if log := w.read("log/hooks"); strings.Contains(log, "late:") {
			t.Errorf("a record came before its hook: %s", log)
		}
	}
	if err := stepper.lines.Close(); err != nil {
		t.Error(err)
	}
	if err := one.wait(stepper.cmd); err != nil {
		t.Errorf("judge --step ends with its input: %v", err)
	}
}

func TestJudgeOnceOnTheMachinesClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 500ms, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	w.want(0, []string{"judge", "--once"})
	lease := w.want(0, []string{"grant", "x", "alice"})
	passes := 0
	w.until("it lapses by silence", func() bool {
		passes++
		var r judge.Report
		w.must(json.Unmarshal([]byte(w.want(0, []string{"judge", "--once", "-o", "json"})), &r))
		if r.Outcome != judge.OK || r.Incarnation != uint64(passes+1) {
			t.Fatalf("pass %d: %+v", passes, r)
		}
		return w.lapsed(lease)
	})
	if got := w.of("lapsed")[lease]; len(got) != 1 || got[0].Cause != "silence" || len(w.logged()) != 1 {
		t.Errorf("%v, hooks %q", got, w.logged())
	}
}

func TestJudgeOnceExitCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+`subjects:
  - {match: bad, duration: 1h, reclaim: [hooks/fail]}
  - {match: "*", duration: 1h, reclaim: none}
`, map[string]string{"fail": "echo the disk is gone; exit 3"})
	w.want(0, []string{"judge", "--once"})
	bad := w.want(0, []string{"grant", "bad", "alice"})
	good := w.want(0, []string{"grant", "good", "alice"})
	w.want(0, []string{"judge", "--once"})

	w.release("alice", bad)
	w.want(11, []string{"judge", "--once"}, "lease "+bad+" (release) has not been taken back", "the disk is gone")
	if w.lapsed(bad) {
		t.Fatal("it was recorded although its procedure failed")
	}
	w.want(0, []string{"inspect", bad}, "exit 3")

	// The record cannot be appended: the pass is aborted, and what was taken back is not taken back again.
	w.release("alice", good)
	unlock := w.lockOut("grantor/facts.jsonl.lock")
	r := w.run("judge", "--once", "-o", "json")
	w.wanted(r, 1, "the pass was aborted", `"outcome":"aborted"`)
	unlock()
	w.want(11, []string{"judge", "--once"}, "lapsed "+good+" by release")
}

func TestJudgeStepOnTheMachinesClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1h, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	s := w.step("--ledger")
	if r := s.pass(); r.Outcome != judge.OK || r.Pass != 1 || len(r.Ledger) != 0 {
		t.Fatalf("the first: %+v", r)
	}
	lease := w.want(0, []string{"grant", "x", "alice"})
	first := s.pass()
	if len(first.Granted) != 1 || first.Granted[0] != lease || len(first.Ledger) != 1 {
		t.Fatalf("with a grant: %+v", first)
	}
	w.release("alice", lease)
	last := s.pass()
	if len(last.Lapsed) != 1 || len(last.Reclaims) != 1 || !last.Reclaims[0].OK || len(last.Ledger) != 0 || last.Now.N < first.Now.N {
		t.Fatalf("with a release: %+v", last)
	}

	// A signal ends it also while no line comes.
	w.must(s.cmd.Process.Signal(os.Interrupt))
	if err := w.wait(s.cmd); err != nil {
		t.Errorf("a signal: %v", err)
	}
}

// TestJudgeDryRun looks at every file before and after.
func TestJudgeDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, minute, map[string]string{"free": noting})
	for second := 1; second <= 6; second++ {
		w.live(second)
		w.want(0, []string{"judge", "--once"})
	}
	w.want(0, []string{"judge", "--dry-run"}, "nothing is due")
	w.live(7)
	w.live(8)
	w.release("alice", "whole")
	before := w.snapshot()
	w.want(0, []string{"judge", "--dry-run"}, "never", "silence", "last observed at", "whole", "release", "its holder released it")
	out := w.want(0, []string{"judge", "--dry-run", "-o", "json"})
	var due []struct{ Lease, Cause, Why string }
	w.must(json.Unmarshal([]byte(out), &due))
	if after := w.snapshot(); after != before {
		t.Errorf("it changed something:\n%s\nbefore:\n%s", after, before)
	}
	for _, d := range due {
		if d.Why == "" || d.Cause == "" {
			t.Errorf("no reason: %+v", d)
		}
	}
	w.want(0, []string{"judge", "--once"})
	if got := w.of("lapsed"); len(got) != len(due) {
		t.Errorf("%d were said to be due, and %d lapsed: %v", len(due), len(got), got)
	}
}

// snapshot is every file with its bytes and its time.
func (w *world) snapshot() string {
	w.Helper()
	var all strings.Builder
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte{}
		if fi.Mode().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&all, "%s %v %v %q\n", path, fi.Mode(), fi.ModTime(), text)
		return nil
	}))
	return all.String()
}
