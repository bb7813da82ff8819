package hooks

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestKillGroupOfALivingJudge(t *testing.T) {
	dir := t.TempDir()
	cmd := judge(t, dir, "s", time.Hour, hang)
	killed, err := KillGroup(dir, "s", here())
	if !killed || err != nil {
		t.Errorf("killed %v, %v", killed, err)
	}
	wantGone(t, pidsIn(t, dir+"/pids")...)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("the judge ended with %v: its procedure was to fail, and itself to live", err)
	}
}

func TestKillGroupAsksFirst(t *testing.T) {
	dir := t.TempDir()
	orphan(t, dir, "s", time.Hour, "trap 'echo asked >asked; exit 0' TERM; sleep 1000 & echo $! $$ >pids; >up; wait")
	if killed, err := KillGroup(dir, "s", here()); !killed || err != nil {
		t.Errorf("killed %v, %v", killed, err)
	}
	wantGone(t, pidsIn(t, dir+"/pids")...)
	if _, err := os.Stat(dir + "/asked"); err != nil {
		t.Error("it was not asked before it was killed")
	}
	take(t, dir, "s", here()).Release(true)
}

func TestKillGroupWithATornNote(t *testing.T) {
	dir := t.TempDir()
	orphan(t, dir, "s", time.Hour, hang)
	if err := os.Truncate(filepath.Join(dir, RunName("s")), 5); err != nil {
		t.Fatal(err)
	}
	if killed, err := KillGroup(dir, "s", here()); !killed || err != nil {
		t.Errorf("killed %v, %v", killed, err)
	}
	wantGone(t, pidsIn(t, dir+"/pids")...)
}

func TestKillGroupWithoutAny(t *testing.T) {
	dir := t.TempDir()
	if killed, err := KillGroup(dir, "s", here()); killed || err != nil {
		t.Errorf("no run file: %v, %v", killed, err)
	}
	c := take(t, dir, "s", here())
	defer c.Release(true)
	if killed, err := KillGroup(dir, "s", here()); killed || err != nil {
		t.Errorf("claimed and nothing started: %v, %v", killed, err)
	}
}

func TestRunningChangesNothing(t *testing.T) {
	dir := t.TempDir()
	judge(t, dir, "s", time.Hour, hang)
	path := filepath.Join(dir, RunName("s"))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Running(dir, "s", here())
	if want := pidsIn(t, dir+"/pids"); err != nil || !sameInts(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("%q became %q, %v", before, after, err)
	}
	if got, err := Running(dir, "other", here()); len(got) != 0 || err != nil {
		t.Errorf("other: %v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, RunName("other"))); err == nil {
		t.Error("looking made a file")
	}
}

func TestSweepLeavesWhatIsNeeded(t *testing.T) {
	dir := t.TempDir()
	for _, subject := range []string{"gone", "live"} {
		take(t, dir, subject, here()).Release(false)
	}
	claimed := take(t, dir, "claimed", here())
	defer claimed.Release(true)
	orphan(t, dir, "running", time.Hour, "exec 3>&-; "+hang)
	if err := Sweep(dir, []string{"live"}, here()); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]bool{"gone": false, "live": true, "claimed": true, "running": true} {
		_, err := os.Stat(filepath.Join(dir, RunName(subject)))
		if (err == nil) != want {
			t.Errorf("%s: there %v, want %v", subject, err == nil, want)
		}
	}
	if err := Sweep(filepath.Join(dir, "none"), nil, here()); err != nil {
		t.Errorf("no folder: %v", err)
	}
}
