package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

// children are the living processes of this composition's procedures, which alone have its folder in their
// environment.
func (w *world) children() (pids []int) {
	w.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	w.must(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(text), "\x00"), "DAOLEASE_DIR="+w.dir) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		w.must(err)
		pids = append(pids, pid)
	}
	return pids
}

// row is what inspect shows of a lease.
type row struct {
	Lease, State, Cause, Error string
	Attempts                   int
}

func (w *world) inspect(lease string) row {
	w.Helper()
	var doc struct{ Leases []row }
	w.must(json.Unmarshal([]byte(w.want(0, []string{"inspect", lease, "-o", "json"})), &doc))
	if len(doc.Leases) != 1 {
		w.Fatalf("inspect %s shows %+v", lease, doc)
	}
	return doc.Leases[0]
}

// misbehaving are procedures that do not take back what they should.
func misbehaving() map[string]string {
	return map[string]string{
		"free":   noting,
		"fail":   "echo the disk is gone >&2; exit 3",
		"hang":   "echo hung >> log/hooks; exec sleep 1000",
		"deaf":   "trap '' TERM INT HUP; while :; do sleep 0.05; done",
		"fork":   noting + "sleep 1000 & exit 0",
		"spew":   "exec yes 'without end'",
		"vanish": "exit 1",
		"stuck":  "echo stuck >> log/hooks; exec sleep 1000",
	}
}

const misbehavingConfig = `cadence: 100ms
tolerance: 100ms
reclaim: {parallel: 16, wait: 100ms, retry: {initial: 50ms, max: 100ms}}
subjects:
  - {match: fail, duration: 1h, reclaim: [hooks/fail]}
  - {match: hang, duration: 1h, timeout: 200ms, reclaim: [hooks/hang]}
  - {match: deaf, duration: 1h, timeout: 100ms, reclaim: [hooks/deaf]}
  - {match: fork, duration: 1h, reclaim: [hooks/fork]}
  - {match: spew, duration: 1h, timeout: 200ms, reclaim: [hooks/spew]}
  - {match: vanish, duration: 1h, reclaim: [hooks/vanish]}
  - {match: stuck, duration: 1h, timeout: 1h, reclaim: [hooks/stuck]}
  - {match: "*", duration: 1h, reclaim: [hooks/free]}
`

// given grants leases by hand and has them released at once.
func (w *world) given(subjects ...string) map[string]string {
	w.Helper()
	ids := map[string]string{}
	for _, s := range subjects {
		ids[s] = w.want(0, []string{"grant", s, "alice"})
	}
	for _, s := range subjects {
		w.release("alice", ids[s])
	}
	return ids
}

func TestJudgeProceduresThatMisbehave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, misbehavingConfig, misbehaving())
	judge := w.judge()
	w.must(os.Remove(w.path("hooks/vanish")))
	bad := map[string]string{
		"fail": "exit 3", "hang": "timed out after 200ms", "deaf": "timed out after 100ms",
		"spew": "timed out after 200ms", "vanish": "is missing",
	}
	ids := w.given("fail", "hang", "deaf", "fork", "spew", "vanish", "first")
	w.until("those that behave are recorded", func() bool { return w.lapsed(ids["first"]) && w.lapsed(ids["fork"]) })
	for subject, why := range bad {
		w.until(subject+" was tried twice", func() bool { return w.inspect(ids[subject]).Attempts >= 2 })
		if r := w.inspect(ids[subject]); r.State != "pending" || r.Cause != "release" || !strings.Contains(r.Error, why) {
			t.Errorf("%s: %+v", subject, r)
		}
	}
	later := w.given("second", "third")
	w.until("others are judged meanwhile", func() bool { return w.lapsed(later["second"]) && w.lapsed(later["third"]) })
	for subject := range bad {
		if w.lapsed(ids[subject]) {
			t.Errorf("%s is recorded, and was never taken back", subject)
		}
	}

	// Mended procedures succeed without a start of the judge.
	for _, name := range []string{"fail", "hang", "deaf", "spew", "vanish"} {
		w.hook(name, noting)
	}
	for subject := range bad {
		w.until(subject+" is recorded", func() bool { return w.lapsed(ids[subject]) })
	}
	judge.stop()
	w.until("nobody is left", func() bool { return len(w.children()) == 0 })
	for lease, list := range w.of("lapsed") {
		if len(list) != 1 {
			t.Errorf("%s was recorded %d times", lease, len(list))
		}
	}
	if strings.Contains(w.read("log/hooks"), "late:") {
		t.Errorf("a procedure ran after its record: %s", w.read("log/hooks"))
	}
}

func TestJudgeStopsWithProceduresRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, misbehavingConfig, misbehaving())
	w.hook("free", "echo begun >> log/hooks; while [ ! -e log/go ]; do sleep 0.02; done\n"+noting)
	first := w.judge()
	ids := w.given("good", "stuck")
	w.until("both run", func() bool { log := w.logged(); return slices.Contains(log, "begun") && slices.Contains(log, "stuck") })
	held := w.want(0, []string{"grant", "other", "bob"})
	w.until("the grant is drained", func() bool { return strings.Contains(first.said.String(), "granted "+held) })

	first.signal(syscall.SIGTERM)
	first.says("stopping: what runs (2 procedures) gets up to its timeout")
	w.release("bob", held) // nothing new starts
	w.write("log/go", 0o644, "")
	w.until("what ends is recorded", func() bool { return w.lapsed(ids["good"]) })
	select {
	case <-first.ended:
		t.Fatal("it did not wait for the other")
	default:
	}
	first.signal(syscall.SIGTERM)
	first.ends(0)
	if left := w.children(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if w.lapsed(ids["stuck"]) || w.lapsed(held) {
		t.Error("what was killed, or never begun, is recorded")
	}
	if r := w.inspect(ids["stuck"]); r.Attempts != 1 || !strings.Contains(r.Error, "stopped") {
		t.Errorf("it was killed, which is a failure: %+v", r)
	}

	second := w.judge()
	second.says("goes on with the ledger")
	w.until("it is tried again", func() bool { return strings.Count(w.read("log/hooks"), "stuck") == 2 && w.lapsed(held) })

	// By hand: the running procedure is killed first.
	w.want(0, []string{"revoke", ids["stuck"], "--reason", "pulled the plug", "--reclaimed", "--wait", "60s"})
	if got := w.of("lapsed")[ids["stuck"]]; len(got) != 1 {
		t.Errorf("its records: %v", got)
	}
	if left := w.children(); len(left) > 0 {
		t.Errorf("it was recorded before its group was gone: %v", left)
	}
	second.stop()
}

func TestJudgeRetriesGrowFartherApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `ticks: external
cadence: 10s
tolerance: 0s
reclaim: {retry: {initial: 2s, max: 8s}}
subjects: [{match: "*", reclaim: [hooks/fail]}]
`, misbehaving())
	s := w.step("--ledger")
	w.grant("L", "x", "alice", 1000)
	var tried []int
	for second := 1; second <= 40; second++ {
		w.tick("grantor/ticks.jsonl", second)
		if second == 2 {
			w.release("alice", "L")
		}
		r := s.pass()
		for _, c := range r.Reclaims {
			tried = append(tried, second)
			if c.OK || c.Error != "exit 3" || c.Attempt != len(tried) {
				t.Errorf("attempt %d: %+v", len(tried), c)
			}
		}
		if len(r.Lapsed) > 0 || second > 1 && (len(r.Pending) != 1 || r.Ledger[0].Reclaim != (judge.ReclaimState{State: "pending", Cause: "release", Attempts: len(tried), Error: "exit 3"})) {
			t.Fatalf("at %d: %+v", second, r)
		}
	}
	if want := []int{2, 4, 8, 16, 24, 32, 40}; !slices.Equal(tried, want) {
		t.Errorf("tried at %v, want %v", tried, want)
	}
}

// TestJudgeProcedureOutlivesItsJudge kills a judge whose procedure goes on. The next one keeps away from its subject
// until it is over.
func TestJudgeProcedureOutlivesItsJudge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, misbehavingConfig, misbehaving())
	w.hook("free", `echo "begin:$DAOLEASE_INCARNATION:$DAOLEASE_SUBJECT" >> log/hooks
while [ "$DAOLEASE_SUBJECT" = good ] && [ -e log/hold ]; do sleep 0.02; done
echo "end:$DAOLEASE_INCARNATION:$DAOLEASE_SUBJECT" >> log/hooks
`)
	w.write("log/hold", 0o644, "")
	first := w.judge()
	id := w.given("good")["good"]
	w.until("it runs", func() bool { return len(w.logged()) > 0 })
	waiting := w.start(as("bob", "propose", "good", "--wait", "inf")...)
	w.until("bob is told to wait", func() bool { return len(w.of("rejected")) > 0 })
	first.kill()
	second := w.judge()
	second.says("a former procedure is still running")
	other := w.given("other")["other"]
	w.until("other subjects are judged", func() bool { return w.lapsed(other) })
	if len(w.of("accepted")) != 2 || w.lapsed(id) {
		t.Fatalf("the subject was given away while a procedure was at work: %s", w.read("grantor/facts.jsonl"))
	}
	w.must(os.Remove(w.path("log/hold")))
	waiting.ends(0)
	log := slices.DeleteFunc(w.logged(), func(one string) bool { return strings.HasSuffix(one, ":other") })
	if want := []string{"begin:1:good", "end:1:good", "begin:2:good", "end:2:good"}; !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
	if n := len(w.of("lapsed")[id]); n != 1 {
		t.Errorf("%d records", n)
	}
	second.stop()
}

// TestJudgeFullDisk needs a file system of its own.
func TestJudgeFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 4s, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	if err := syscall.Mount("none", w.path("grantor"), "tmpfs", 0, "size=256k,mode=755"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(w.path("grantor"), syscall.MNT_DETACH) })
	judge := w.judge()
	lease := w.want(0, []string{"grant", "x", "alice"})
	judge.says("granted " + lease)
	w.fill("grantor/ballast")
	judge.says("no tick could be appended")
	if w.lapsed(lease) {
		t.Skip("this machine is too slow today to fill the disk within the duration")
	}

	// Past duration and tolerance nothing has lapsed, because the judge could not write.
	ended := w.uptime() + 5
	w.until("time passes", func() bool { return w.uptime() > ended })
	said := judge.said.String()
	if w.lapsed(lease) || len(w.logged()) > 0 {
		t.Errorf("it was taken back on a full disk: %q", w.logged())
	}
	for _, part := range []string{"no tick could be appended", "a pass was aborted"} {
		if n := strings.Count(said, part); n > 1 {
			t.Errorf("%q is said %d times: %s", part, n, said)
		}
	}
	w.must(os.Remove(w.path("grantor/ballast")))
	judge.says("ticks are appended again")
	judge.says("lapsed " + lease + " by silence")
	if got := w.of("lapsed")[lease]; len(got) != 1 || len(w.logged()) != 1 {
		t.Errorf("%v, hooks %q", got, w.logged())
	}
	judge.stop()
}

// fill writes until there is no room for a byte.
func (w *world) fill(name string) {
	w.Helper()
	f, err := os.Create(w.path(name))
	w.must(err)
	for size := 4096; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	w.must(f.Close())
}

// uptime is for how many seconds this machine has run.
func (w *world) uptime() float64 {
	w.Helper()
	text, err := os.ReadFile("/proc/uptime")
	w.must(err)
	var up float64
	_, err = fmt.Sscan(string(text), &up)
	w.must(err)
	return up
}
