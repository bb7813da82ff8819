package cmd_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	holdSignals = flag.Int("hold.signals", 12, "how many holds get a signal around the moment of the grant")
	holdCrowd   = flag.Int("hold.crowd", 5, "how many contend for one subject")
	holdLosses  = flag.Int("hold.losses", 2, "how often a lease is lost in each way")
)

const holdConfig = quick + `subjects: [{match: "*", duration: 6s, longest: 1h, reclaim: none}]
`

// alive says that a process is there and is no zombie.
func alive(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(line), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// pids are the process numbers that commands wrote into a file, one a line.
func (w *world) pids(name string) (list []int) {
	w.Helper()
	for _, word := range strings.Fields(w.read(name)) {
		pid, err := strconv.Atoi(word)
		w.must(err)
		list = append(list, pid)
	}
	return list
}

// allLapsed says that every lease that was ever granted has ended.
func (w *world) allLapsed() bool { return len(w.of("accepted")) == len(w.of("lapsed")) }

// Signals go to the command, whose code is hold's; the lease is given back.
func TestHoldForwardsSignals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	for name, sig := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP,
		"QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2} {
		heeds := w.start(as(name, "hold", name, "--", "sh", "-c", `trap 'echo heard >> `+w.path("log/"+name)+`; exit 42' `+name+`; echo ready; while :; do sleep 0.02; done`)...)
		dies := w.start(as(name, "hold", name+"2", "--", "sh", "-c", "echo ready; while :; do sleep 0.02; done")...)
		for _, p := range []*process{heeds, dies} {
			p.says("ready")
			p.signal(sig)
		}
		heeds.ends(42)
		dies.ends(128 + int(sig))
		if !strings.Contains(w.read("log/"+name), "heard") {
			t.Errorf("%s was not heard", name)
		}
	}
	w.until("all are taken back", w.allLapsed)
	for id, l := range w.of("lapsed") {
		if l[0].Cause != "release" {
			t.Errorf("%s lapsed by %s", id, l[0].Cause)
		}
	}
	judge.stop()
}

// A signal ends a wait at once, and nothing is granted later to nobody.
func TestHoldInterruptedWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "s", "--duration", "1h"))
	for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		name := fmt.Sprintf("h%d", i)
		p := w.start(as(name, "hold", "s", "--", "touch", w.path("log/ran"))...)
		w.until("it has proposed and is refused", func() bool { return len(w.of("rejected")) > i })
		p.signal(sig)
		p.ends(128 + int(sig))
	}
	w.want(0, as("alice", "release", lease, "--wait", "60s"))
	w.passes(5)
	judge.stop()
	if got := w.of("accepted"); len(got) != 1 || exists(w.path("log/ran")) {
		t.Errorf("granted after all: %v", got)
	}
}

// TestHoldSignalAroundGrant sends a signal close to the moment of the grant: there is never an orphan, and
// every lease that was granted ends by its release.
func TestHoldSignalAroundGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
	codes := map[int]int{}
	for i := range *holdSignals {
		sig := signals[i%len(signals)]
		made := len(w.ownProposals("me"))
		p := w.start(as("me", "hold", "s", "--", "sh", "-c", "echo $$ >> "+w.path("log/pids")+"; exec sleep 1000")...)
		w.until("it has proposed", func() bool { return len(w.ownProposals("me")) > made })
		if i%2 == 0 { // just after the grant
			w.until("it is granted", func() bool { return w.answers()[w.ownProposals("me")[made]] > 0 })
			<-time.After(time.Duration(rand.IntN(200)) * time.Millisecond)
		} else { // just before: the judge passes for the proposal within as much
			<-time.After(time.Duration(rand.IntN(60)) * time.Millisecond)
		}
		p.signal(sig)
		p.ends(128 + int(sig))
		codes[p.cmd.ProcessState.ExitCode()]++
		for _, pid := range w.pids("log/pids") {
			if alive(pid) {
				t.Fatalf("the command %d lives on", pid)
			}
		}
		w.until("what was granted is taken back", w.allLapsed)
	}
	judge.stop()
	for id, l := range w.of("lapsed") {
		if l[0].Cause != "release" {
			t.Errorf("%s lapsed by %s", id, l[0].Cause)
		}
	}
	t.Logf("%d granted, %d commands ran, codes %v", len(w.of("accepted")), len(w.pids("log/pids")), codes)
}

// stubborn is a command that leaves nothing undone to live on: a pipeline, background jobs, and grandchildren that
// ignore TERM. Each writes the running clock, with the time asleep, again and again.
const stubborn = `
writes() { while :; do read -r up rest < /proc/uptime; echo "$1 $up"; sleep 0.01; done; }
(trap "" TERM; writes old >> "$1") &
(trap "" TERM HUP INT; (writes old >> "$1") & wait) &
writes old | cat >> "$1"
`

// TestHoldLost loses leases: the judge revokes, the medium is taken away, judge and disk hang. The whole group is gone
// before the next holder's command begins, and, whatever befell it, before the bound.
func TestHoldLost(t *testing.T) {
	for name, befalls := range map[string]func(w *world, judge *process, lease string) (mends func()){
		"the medium is taken away": func(w *world, _ *process, _ string) func() {
			w.must(os.Rename(w.path("holders/old"), w.path("holders/.old")))
			return func() {}
		},
		"the judge and the disk hang": func(w *world, judge *process, _ string) func() {
			unlock := w.lockOut("holders/old/holder.lock")
			judge.signal(syscall.SIGSTOP)
			return func() {
				judge.signal(syscall.SIGCONT)
				unlock()
			}
		},
		"the judge revokes": func(w *world, _ *process, lease string) func() {
			w.want(0, []string{"revoke", lease, "--reason", "test"})
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range *holdLosses {
				w := newWorld(t, holdConfig, nil)
				judge := w.judge()
				old := w.start(as("old", "hold", "s", "--", "sh", "-c", stubborn, "sh", w.path("log/lines"))...)
				w.until("it writes", func() bool { return strings.Contains(w.read("log/lines"), "old") })
				next := w.start(as("next", "hold", "s", "--", "sh", "-c", `echo new 0 >> "$1"`, "sh", w.path("log/lines"))...)
				w.until("the next one waits", func() bool { return len(w.of("rejected")) > 0 })
				during(time.Duration(rand.IntN(1500)) * time.Millisecond)
				lease := ""
				for id, l := range w.of("accepted") {
					if l[0].Holder == "old" {
						lease = id
					}
				}
				mends := befalls(w, judge, lease)
				old.ends(122)
				lines := strings.Split(strings.TrimSpace(w.read("log/lines")), "\n")
				mends()
				next.ends(0)
				after := strings.Split(strings.TrimSpace(w.read("log/lines")), "\n")
				for i, line := range after {
					if strings.HasPrefix(line, "new") && i != len(after)-1 {
						t.Fatalf("an old command wrote after the new one: %v", after[i:])
					}
				}
				w.beforeBound(lease, lines)
				judge.stop()
			}
		})
	}
}

// TestHoldSpeaksToNobody has nobody read what hold says, and the pipe full: the command ends all the same.
func TestHoldSpeaksToNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	read, write, err := os.Pipe()
	w.must(err)
	defer read.Close()
	fd := int(write.Fd()) // asking for it makes it block
	w.must(syscall.SetNonblock(fd, true))
	for err == nil {
		_, err = syscall.Write(fd, make([]byte, 512))
	}
	w.must(syscall.SetNonblock(fd, false))
	hold := w.cmd(as("old", "hold", "s", "--", "sh", "-c", `trap "" TERM; echo $$ > "$1"; while :; do sleep 0.1; done`, "sh", w.path("log/pid"))...)
	hold.Stderr = write
	w.must(hold.Start())
	w.must(write.Close())
	w.until("it runs", func() bool { return w.read("log/pid") != "" })
	pid, err := strconv.Atoi(strings.TrimSpace(w.read("log/pid")))
	w.must(err)
	unlock := w.lockOut("holders/old/holder.lock")
	w.until("the command is gone", func() bool { return !alive(pid) })
	unlock()
	go func() { _, _ = io.Copy(io.Discard, read) }() // somebody reads at last
	_ = w.wait(hold)                                 // the code tells
	if code := hold.ProcessState.ExitCode(); code != 122 {
		t.Errorf("exit %d", code)
	}
	judge.stop()
}

// beforeBound checks that the last of the lines was written before the bound of the lease: so long after the tick of
// its last renewal, or of its basis, as it lasts.
func (w *world) beforeBound(lease string, lines []string) {
	w.Helper()
	folder := "holders/old"
	if !exists(w.path(folder)) {
		folder = "holders/.old"
	}
	var notes struct {
		State struct {
			Leases map[string]struct{ Basis, Renewed int64 }
		}
	}
	w.must(json.Unmarshal([]byte(w.read(folder+"/notes.json")), &notes))
	held, clock, last := notes.State.Leases[lease], int64(0), ""
	for _, line := range strings.Split(w.read(folder+"/ticks.jsonl"), "\n") {
		var tick struct {
			Reading struct{ Ms int64 } `json:"dao.lease/reading"`
			Clock   int64              `json:"daolease/clock"`
		}
		if json.Unmarshal([]byte(line), &tick) == nil && tick.Reading.Ms == max(held.Basis, held.Renewed) {
			clock = tick.Clock
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "old ") {
			last = strings.TrimPrefix(line, "old ")
		}
	}
	wrote, err := strconv.ParseFloat(last, 64)
	w.must(err)
	bound := float64(clock)/1000 + 6
	if clock == 0 || wrote >= bound {
		w.Fatalf("the command wrote at %v, and the bound was %v (%+v)", wrote, bound, held)
	}
	w.Logf("the last line was written %.3f s before the bound", bound-wrote)
}

// ownProposals are those that a holder made, each once.
func (w *world) ownProposals(name string) (ids []string) {
	w.Helper()
	for _, l := range w.facts("holders/" + name + "/facts.jsonl") {
		if l.Status == "dao.lease/proposed" && !slices.Contains(ids, l.Proposal) {
			ids = append(ids, l.Proposal)
		}
	}
	return ids
}

// A holder that was stopped past its bound, with its command, kills the command before it can go on.
func TestHoldStoppedPastItsBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	old := w.start(as("old", "hold", "s", "--", "sh", "-c", `echo $$ > "$2"; while :; do echo old >> "$1"; sleep 0.01; done`, "sh", w.path("log/lines"), w.path("log/pids"))...)
	w.until("it writes", func() bool { return strings.Contains(w.read("log/lines"), "old") })
	leader := w.pids("log/pids")[0]
	old.signal(syscall.SIGSTOP)
	w.must(syscall.Kill(-leader, syscall.SIGSTOP))
	w.want(0, as("next", "hold", "s", "--", "sh", "-c", `echo new >> "$1"`, "sh", w.path("log/lines")))
	old.signal(syscall.SIGCONT)
	old.ends(122)
	if text := w.read("log/lines"); !strings.HasSuffix(text, "new\n") || alive(leader) {
		t.Errorf("the old command went on: %q", text[strings.Index(text, "new"):])
	}
	judge.stop()
}

// What --alive runs, and the judge's hook, have the lease in their environment, and have not left the command's group.
func TestHoldTakesNobodyElseForAnEscapee(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+`subjects: [{match: "*", duration: 6s, reclaim: [hooks/slow]}]
`, map[string]string{"slow": "echo $$ > log/pid; until [ -e log/go ]; do sleep 0.1; done"})
	judge := w.judge()
	hold := w.start(as("a", "hold", "s", "--alive", "sleep 100 & exit 0", "--", "sh", "-c", `while [ ! -e "$1" ]; do sleep 0.1; done`, "sh", w.path("log/pid"))...)
	w.until("it is renewed", func() bool { return strings.Contains(w.read("holders/a/facts.jsonl"), "dao.lease/renewal") })
	for id := range w.of("accepted") {
		w.want(0, []string{"revoke", id, "--reason", "test"})
	}
	hold.ends(0)
	if said := hold.said.String(); strings.Contains(said, "left the command's group") {
		t.Error(said)
	}
	w.must(os.WriteFile(w.path("log/go"), nil, 0o644))
	judge.stop()
}

// What --alive and --progress ask for is evidence that a renewal needs.
func TestHoldEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	var holds sync.WaitGroup
	lasting := "sleep 100"
	for name, c := range map[string]struct {
		flags []string
		run   string
		code  int
		says  string
	}{
		"probe-fails":    {[]string{"--alive", "exit 3"}, lasting, 122, `--alive "exit 3": exit status 3`},
		"probe-hangs":    {[]string{"--alive", "sleep 1000"}, lasting, 122, "it took longer than the renewal interval"},
		"probe-works":    {[]string{"--alive", `test "$DAOLEASE_AS" = probe-works`}, "sleep 9; exit 4", 4, ""},
		"probe-later":    {[]string{"--alive", `test -e log/later`}, "sleep 3; touch log/later; sleep 7; exit 4", 4, "is renewed again"},
		"stands-still":   {[]string{"--progress", "log/still"}, lasting, 122, "no progress log/still: it has not changed since the last renewal"},
		"no-file":        {[]string{"--progress", "log/none"}, lasting, 122, "no progress log/none"},
		"makes-progress": {[]string{"--progress", "log/file"}, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i > log/file; sleep 0.6; done; exit 4", 4, ""},
	} {
		holds.Go(func() {
			cmd := w.cmd(append(append(as(name, "hold", name), c.flags...), "--", "sh", "-c", c.run)...)
			cmd.Dir = w.dir
			r := w.finish(cmd)
			if r.code != c.code || !strings.Contains(r.errs, c.says) {
				t.Errorf("want exit %d and %q: %v", c.code, c.says, r)
			}
		})
	}
	w.write("log/still", 0o644, "")
	holds.Wait()
	judge.stop()
}

// While a hold keeps a lease nobody else renews it, and it outlives many durations.
func TestHoldKeepsRenewing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	p := w.start(as("me", "hold", "s", "--", "sh", "-c", "echo ready; sleep 14; exit 9")...)
	p.says("ready")
	w.want(4, as("me", "renew"), "is kept renewed by a daolease hold")
	p.ends(9)
	if n := strings.Count(w.read("holders/me/facts.jsonl"), "renewal"); n < 4 || n > 30 {
		t.Errorf("%d renewals in fourteen seconds at a third of six", n)
	}
	w.until("it is taken back", w.allLapsed)
	judge.stop()
	if left, _ := os.ReadDir(w.path("holders/me")); strings.Contains(fmt.Sprint(left), "keep-") {
		t.Errorf("its lock is left behind: %v", left)
	}
}

// Who leaves the group is said. If hold is killed the command dies with it, where the system can do that.
func TestHoldOrphans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holdConfig, nil)
	judge := w.judge()
	r := w.run(as("me", "hold", "s", "--", "sh", "-c", `setsid sh -c 'echo $$ > "$1"; exec sleep 1000' sh "$1" > /dev/null 2>&1 & while ! [ -s "$1" ]; do sleep 0.01; done`, "sh", w.path("log/pids"))...)
	escaped := w.pids("log/pids")[0]
	w.wanted(r, 0, fmt.Sprintf("process %d left the command's group and goes on", escaped))
	if !alive(escaped) {
		t.Error("it does not go on")
	}
	w.must(syscall.Kill(escaped, syscall.SIGKILL))

	p := w.start(as("me", "hold", "s", "--", "sh", "-c", `echo $$ > "$1"; echo ready; exec sleep 1000`, "sh", w.path("log/pids"))...)
	p.says("ready")
	p.kill()
	w.until("the command is dead", func() bool { return !alive(w.pids("log/pids")[0]) })
	w.until("the lease lapses", w.allLapsed)
	judge.stop()
}

// With --judge a fresh composition needs no judge: holds take turns, a dead one's lease is taken back by another, and a
// judge that is started takes over, and gives back.
func TestHoldJudges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 2s, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	var holds sync.WaitGroup
	for range 6 {
		holds.Go(func() {
			r := w.run(as("me", "hold", "s", "--judge", "--", "sh", "-c", `echo in >> "$1"; sleep 0.02; echo out >> "$1"`, "sh", w.path("log/order"))...)
			if r.code != 0 || waitingAside(r.errs) != "" {
				t.Errorf("%v", r)
			}
		})
	}
	holds.Wait()
	if order := w.read("log/order"); order != strings.Repeat("in\nout\n", 6) {
		t.Errorf("they did not take turns: %q", order)
	}
	if !w.allLapsed() || len(w.logged()) != 6 {
		t.Errorf("the hooks ran %q", w.logged())
	}

	p := w.start(as("me", "hold", "s", "--judge", "--", "sh", "-c", "echo ready; exec sleep 1000")...)
	p.says("ready")
	mark := func(part string) func() bool {
		return func() bool { return strings.Contains(w.read("grantor/judge.lock"), part) }
	}
	w.until("the hold judges", mark(`"yields":true`))
	judge := w.judge()
	judge.says("waiting for the hold that judges here meanwhile")
	w.until("the judge has taken over", func() bool { return !mark("yields")() })
	w.want(8, []string{"judge"}, "another judge runs")
	judge.stop()
	w.until("the hold judges again", mark(`"yields":true`))
	p.kill()
	w.want(0, as("bob", "hold", "s", "--judge", "--", "true"))
	if len(w.of("accepted")) != 8 || !w.allLapsed() {
		t.Errorf("%v", w.of("lapsed"))
	}
}

// Holders that contend for one subject are all served, one command at a time, under tokens that rise.
func TestHoldContenders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 5s, reclaim: none}]\n", nil)
	judge := w.judge()
	const turns = 3
	var holders sync.WaitGroup
	for i := range *holdCrowd {
		holders.Go(func() {
			for range turns {
				r := w.run(as(fmt.Sprintf("h%d", i), "hold", "s", "--", "sh", "-c",
					`mkdir "$1/in" || echo overlap >> "$1/served"; echo "$DAOLEASE_TOKEN" >> "$1/served"; rmdir "$1/in"`, "sh", w.path("log"))...)
				if r.code != 0 {
					t.Errorf("%v", r)
				}
			}
		})
	}
	holders.Wait()
	judge.stop()
	served := w.pids("log/served") // tokens, one a line
	if len(served) != turns**holdCrowd || !slices.IsSorted(served) || len(slices.Compact(slices.Clone(served))) != len(served) {
		t.Errorf("served under %v", served)
	}
}

// Who is not the judge's user cannot judge.
func TestHoldJudgesForItsUserOnly(t *testing.T) {
	uid := people(t, "nobody")[0]
	w := newWorld(t, holdConfig, nil)
	w.command = w.openly()
	w.must(os.Chmod(filepath.Dir(w.dir), 0o755))
	w.must(os.Mkdir(w.path("holders/me"), 0o755))
	w.must(os.Chown(w.path("holders/me"), uid, uid))
	w.wanted(w.finish(w.user(uid, as("me", "hold", "s", "--judge", "--", "true")...)), 125, "the grantor's side belongs to root")
}

// waitingAside is what was said without the line that says what is waited for.
func waitingAside(said string) string {
	var rest strings.Builder
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "daolease: waiting: ") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}
