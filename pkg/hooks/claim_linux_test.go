package hooks

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// hang is a script that stays with a child and says who they are.
const hang = "trap '' TERM; sleep 1000 & echo $$ $! >pids; >up; while kill -0 $!; do wait; done"

func TestTakeIsExclusive(t *testing.T) {
	dir := t.TempDir()
	c := take(t, dir, "s", here())
	second, err := Take(dir, "s", here())
	if busy := wantBusy(t, second, err); !busy.Claimed || !slices.Equal(busy.PIDs, []int{os.Getpid()}) {
		t.Errorf("%v", busy)
	}
	other := take(t, dir, "other", here())
	other.Release(true)
	c.Release(false)
	c.Release(true) // once is enough
	take(t, dir, "s", here()).Release(true)
	if _, err := os.Stat(filepath.Join(dir, RunName("s"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run file is still there: %v", err)
	}
	if r := c.Run(t.Context(), script(dir, patience, ">ran"), nil); r.Err == nil {
		t.Error("ran on a claim that was given back")
	}
}

func TestTakeIsPrivate(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0o277)
	c, err := Take(dir, "s", here())
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release(true)
	for _, name := range []string{RunName("s"), "lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != 0o600 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
	}
}

func TestTakeRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, RunName("s"))
	for what, place := range map[string]func() error{
		"symlink": func() error { return os.Symlink(filepath.Join(dir, "elsewhere"), path) },
		"fifo":    func() error { return syscall.Mkfifo(path, 0o600) },
		"folder":  func() error { return os.Mkdir(path, 0o700) },
	} {
		if err := place(); err != nil {
			t.Fatal(err)
		}
		var busy *BusyError
		if c, err := Take(dir, "s", here()); err == nil || errors.As(err, &busy) {
			t.Errorf("%s: %v, %v", what, c, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("a symlink was followed")
	}
}

func TestReleaseRemovesItsOwnFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, RunName("s"))
	c := take(t, dir, "s", here())
	if err := errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	c.Release(true)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("another file was removed: %v", err)
	}
}

func TestTakeRaces(t *testing.T) {
	dir := t.TempDir()
	var inside atomic.Int32
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for round := 0; round < 20; {
				c, err := Take(dir, "s", here())
				var busy *BusyError
				if errors.As(err, &busy) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two claims of one subject")
				}
				lives(os.Getpid()) // long enough to be seen inside
				inside.Add(-1)
				c.Release((worker+round)%2 == 0)
				round++
			}
		})
	}
	all.Wait()
}

// A claimer that opened a run file before it was removed or replaced, and locks it after, would hold a file that
// no other claimer looks at. The folder's lock keeps the steps of one claimer together.
func TestTakeAndReleaseAreOneAtATime(t *testing.T) {
	dir := t.TempDir()
	held := take(t, dir, "other", here())
	unlock, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 2)
	go func() {
		c, err := Take(dir, "s", here())
		if err != nil {
			t.Error(err)
			return
		}
		done <- "claimed"
		c.Release(true)
	}()
	go func() {
		held.Release(true)
		done <- "released"
	}()
	select {
	case what := <-done:
		t.Errorf("%s under another's folder lock", what)
		done <- what
	case <-time.After(settleBound):
	}
	unlock()
	for range cap(done) {
		<-done
	}
}

func TestSurvivorBars(t *testing.T) {
	dir := t.TempDir()
	orphan(t, dir, "s", time.Minute, hang)
	pids := pidsIn(t, dir+"/pids")
	c, err := Take(dir, "s", here())
	busy := wantBusy(t, c, err)
	if busy.Claimed || !sameInts(busy.PIDs, pids) || busy.Left <= 0 || busy.Left > time.Minute+time.Second {
		t.Errorf("%+v, want %v for a minute", busy, pids)
	}
	if now := here().Now(); busy.Deadline < now || busy.Deadline > now+61_000 {
		t.Errorf("deadline %d, now %d", busy.Deadline, now)
	}
	for _, pid := range pids {
		if !lives(pid) {
			t.Errorf("process %d was killed before the deadline", pid)
		}
	}
	c = take(t, dir, "s", later(2*time.Minute))
	wantGone(t, pids...)
	if r := c.Run(t.Context(), script(dir, patience, ":"), nil); r.Err != nil || len(c.Escaped) != 0 {
		t.Errorf("%v, escaped %v", r.Err, c.Escaped)
	}
	c.Release(true)
}

func TestSurvivorThatEndsBarsNoMore(t *testing.T) {
	dir := t.TempDir()
	orphan(t, dir, "s", time.Hour, "echo $$ >pids; >up; until [ -e go ]; do sleep 0.01; done")
	c, err := Take(dir, "s", here())
	wantBusy(t, c, err)
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the subject can be claimed", func() bool {
		c, err = Take(dir, "s", here())
		return err == nil
	})
	wantGone(t, pidsIn(t, dir+"/pids")...)
	c.Release(true)
}

func TestSurvivorWithATornNote(t *testing.T) {
	for _, size := range []int64{0, 1, 20} {
		dir := t.TempDir()
		orphan(t, dir, "s", time.Minute, hang)
		pids := pidsIn(t, dir+"/pids")
		if err := os.Truncate(filepath.Join(dir, RunName("s")), size); err != nil {
			t.Fatal(err)
		}
		id := here()
		id.Timeout = time.Hour
		c, err := Take(dir, "s", id)
		if busy := wantBusy(t, c, err); busy.Claimed || !sameInts(busy.PIDs, pids) || busy.Left > time.Hour || busy.Left < 59*time.Minute {
			t.Errorf("%+v, want %v for an hour from their start", busy, pids)
		}
		eventually(t, "the time it has run counts", func() bool {
			c, err := Take(dir, "s", id)
			return wantBusy(t, c, err).Left < time.Hour-50*time.Millisecond
		})
		c, err = Take(dir, "s", Identity{Boot: "another", Now: here().Now, Timeout: time.Hour})
		if busy := wantBusy(t, c, err); !sameInts(busy.PIDs, pids) {
			t.Errorf("in another time namespace: %+v", busy)
		}
		id.Timeout = time.Nanosecond
		take(t, dir, "s", id).Release(true)
		wantGone(t, pids...)
	}
}

func TestSurvivorThatClosedTheRunFile(t *testing.T) {
	dir := t.TempDir()
	orphan(t, dir, "s", time.Minute, "exec 3>&-; "+hang)
	pids := pidsIn(t, dir+"/pids")
	c, err := Take(dir, "s", here())
	if busy := wantBusy(t, c, err); !sameInts(busy.PIDs, pids) {
		t.Errorf("%+v, want %v", busy, pids)
	}
	take(t, dir, "s", later(2*time.Minute)).Release(true)
	wantGone(t, pids...)
}

func TestSurvivorWhoseLeaderIsGone(t *testing.T) {
	dir := t.TempDir()
	orphan(t, dir, "s", time.Minute, hang)
	pids := pidsIn(t, dir+"/pids")
	_ = syscall.Kill(pids[0], syscall.SIGKILL)
	eventually(t, "the leader is gone", func() bool { return !lives(pids[0]) })
	c, err := Take(dir, "s", here())
	if busy := wantBusy(t, c, err); !sameInts(busy.PIDs, pids[1:]) {
		t.Errorf("%+v, want %v", busy, pids[1:])
	}
	take(t, dir, "s", later(2*time.Minute)).Release(true)
	wantGone(t, pids...)
}

func TestSurvivorThatLeftTheGroupBarsNothing(t *testing.T) {
	dir := t.TempDir()
	text := "echo $$ >leader; setsid sh -c 'echo $$ >pids; exec sleep 1000' & until [ -s pids ]; do sleep 0.01; done; >up; wait"
	orphan(t, dir, "s", time.Minute, text)
	escaped := pidsIn(t, dir+"/pids")
	killLater(t, escaped...)
	c, err := Take(dir, "s", here())
	wantBusy(t, c, err)
	_ = syscall.Kill(-pidsIn(t, dir+"/leader")[0], syscall.SIGKILL)

	claims := make(chan *Claim, 4) // several claimers at once: the file is replaced once
	var all sync.WaitGroup
	for range cap(claims) {
		all.Go(func() {
			c, err := Take(dir, "s", here())
			for deadline := time.Now().Add(patience); isBusyGroup(err) && time.Now().Before(deadline); {
				c, err = Take(dir, "s", here())
			}
			if c != nil {
				claims <- c
			}
		})
	}
	all.Wait()
	close(claims)
	if len(claims) != 1 {
		t.Fatalf("%d claims", len(claims))
	}
	c = <-claims
	if !slices.Equal(c.Escaped, escaped) || !lives(escaped[0]) {
		t.Errorf("escaped %v, want %v alive", c.Escaped, escaped)
	}
	if r := c.Run(t.Context(), script(dir, patience, ":"), nil); r.Err != nil || len(r.Escaped) != 0 {
		t.Errorf("%+v", r)
	}
	c.Release(false)
	take(t, dir, "s", here()).Release(true)
}

// isBusyGroup tells whether a group is in the way, and not another claimer.
func isBusyGroup(err error) bool {
	var busy *BusyError
	return errors.As(err, &busy) && !busy.Claimed
}

func TestNoteOfAnotherProcessIsVoid(t *testing.T) {
	dir := t.TempDir()
	stranger := exec.Command("sleep", "1000")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = stranger.Process.Kill(), stranger.Wait() }()
	pid := stranger.Process.Pid
	start, session := identify(pid)
	for what, n := range map[string]note{
		"a pid given out again": {Boot: here().Boot, Leader: pid, Start: start - 1, Session: session, Deadline: 1},
		"another boot":          {Boot: "before", Leader: pid, Start: start, Session: session, Deadline: 1},
		"no group":              {Boot: here().Boot, Leader: 1 << 22, Start: start, Session: session, Deadline: 1},
	} {
		f, err := os.Create(filepath.Join(dir, RunName("s")))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(writeNote(f, n), f.Close()); err != nil {
			t.Fatal(err)
		}
		if killed, err := KillGroup(dir, "s", here()); killed || err != nil {
			t.Errorf("%s: killed %v, %v", what, killed, err)
		}
		take(t, dir, "s", here()).Release(true)
		if !lives(pid) {
			t.Fatalf("%s: a stranger was killed", what)
		}
	}
}

func TestNoteOfAnotherGroupWithoutLeaderIsVoid(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo $! >pids")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	left := pidsIn(t, dir+"/pids")
	killLater(t, left...)
	start, session := identify(left[0])
	n := note{Boot: "b", Leader: cmd.Process.Pid, Start: start, Session: session}
	if got, err := members(n); err != nil || !slices.Equal(got, left) {
		t.Errorf("members %v, %v, want %v", got, err, left)
	}
	for _, other := range []note{{Leader: n.Leader, Start: start, Session: session + 1}, {Leader: n.Leader, Start: start + 1, Session: session}} {
		if got, err := members(other); err != nil || len(got) != 0 {
			t.Errorf("%+v: members %v, %v, want none", other, got, err)
		}
	}
}

func TestStillIsTheSameGroup(t *testing.T) {
	dir := t.TempDir()
	judge(t, dir, "s", time.Hour, hang)
	path, pids := filepath.Join(dir, RunName("s")), pidsIn(t, dir+"/pids")
	for leader, want := range map[int][]int{pids[0]: pids, pids[0] + 1: nil, 0: pids} {
		if got := (standing{leader: leader, group: []int{7}}).still(path, here()).group; !sameInts(got, want) {
			t.Errorf("of group %d there is left %v, want %v", leader, got, want)
		}
	}
}

func TestParseProcess(t *testing.T) {
	line := func(state, threads string) []byte {
		return []byte("7 (a) Z (b) " + state + " 1 70 71 0 -1 0 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 123456 0 0\n")
	}
	for _, c := range []struct {
		state, threads string
		dead           bool
	}{{"S", "1", false}, {"Z", "1", true}, {"Z", "2", false}, {"X", "1", true}} {
		want := process{group: 70, session: 71, start: 123456, dead: c.dead}
		if got, ok := parseProcess(line(c.state, c.threads)); !ok || got != want {
			t.Errorf("%+v: %+v, want %+v", c, got, want)
		}
	}
	if _, ok := parseProcess([]byte("7 (short) S 1")); ok {
		t.Error("a short line was read")
	}
}

func TestGroupThatWouldNotDieKeepsTheLock(t *testing.T) {
	dir := t.TempDir()
	c := take(t, dir, "s", here())
	cmd := exec.Command("sleep", "1000") // stands for one in uninterruptible sleep: nobody kills it here
	inGroup(cmd, c.file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	n := note{Boot: here().Boot, Leader: cmd.Process.Pid, Deadline: here().Now() + 3_600_000}
	n.Start, n.Session = identify(n.Leader)
	if err := writeNote(c.file, n); err != nil {
		t.Fatal(err)
	}
	wantErr(t, c.finish(n, nil), "do not die", itoa(n.Leader))
	if r := c.Run(t.Context(), script(dir, patience, ">ran"), nil); r.Err == nil {
		t.Error("another procedure was started on the claim")
	}
	c.Release(true)
	f, err := openRun(filepath.Join(dir, RunName("s")), os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if free, err := tryLock(f); free || err != nil {
		t.Errorf("the lock was taken from the group: %v, %v", free, err)
	}
	giveBack(f, false)
	second, err := Take(dir, "s", here())
	if busy := wantBusy(t, second, err); !slices.Equal(busy.PIDs, []int{n.Leader}) {
		t.Errorf("%+v", busy)
	}
}

func TestPIDsAfter(t *testing.T) {
	for _, c := range []struct {
		since, last int
		want        []int
	}{
		{0, 3000, []int{1000, 2000, 3000}}, {1000, 3000, []int{2000, 3000}}, {2000, 1200, []int{1000, 2000, 3000}}, {2000, 0, []int{1000, 2000, 3000}},
		{1000, 1003, []int{1001, 1002, 1003}}, {1000, 1000, nil},
	} {
		got, err := pidsAfter(c.since, c.last, func() ([]int, error) { return []int{1000, 2000, 3000}, nil })
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("since %d, last %d: %v, %v, want %v", c.since, c.last, got, err, c.want)
		}
	}
}

func TestThreadsAreNoProcesses(t *testing.T) {
	self := os.Getpid()
	if !isProcess(self) {
		t.Error("this process is none")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) < 2 {
		t.Fatal(threads, err)
	}
	for _, thread := range threads {
		if tid, err := strconv.Atoi(thread.Name()); err != nil || tid != self && isProcess(tid) {
			t.Errorf("thread %s: %v", thread.Name(), err)
		}
	}
}

func sameInts(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
