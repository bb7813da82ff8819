package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const stopSubjects = quick + `subjects: [{match: "*", duration: 3s, reclaim: [hooks/free]}]
`

// beat is a holder that renews with nothing but a shell, five times a second, and can be stopped as a whole.
func (w *world) beat(holder, lease string) *process {
	w.Helper()
	cmd := exec.Command("/bin/sh", "-c", `while :; do echo "$2" >> "$1"; sleep 0.2; done`, "sh",
		w.path("holders/"+holder+"/facts.jsonl"), `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"`+lease+`"}`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := w.begin(cmd)
	w.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // its sleep too, and before begin's own
	return p
}

// all signals a holder's whole group.
func (p *process) all(sig syscall.Signal) {
	p.w.Helper()
	p.w.must(syscall.Kill(-p.cmd.Process.Pid, sig))
}

// during lets time pass, which is what the test is about.
func during(d time.Duration) { <-time.After(d) }

// A machine that froze with judge and holder on it owes the holder the time to be heard.
func TestFaultStoppedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stopSubjects, map[string]string{"free": noting})
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "x"))
	alice := w.beat("alice", lease)
	w.passes(5)
	alice.all(syscall.SIGSTOP)
	judge.signal(syscall.SIGSTOP)
	during(9 * time.Second)
	judge.signal(syscall.SIGCONT)
	w.passes(3)
	if w.lapsed(lease) {
		t.Fatal("it lapsed before its holder could run again")
	}
	w.renewal("alice", lease)
	alice.all(syscall.SIGCONT)
	judge.says("nobody watched for")
	renewed := time.Now()
	for time.Since(renewed) < 4*time.Second {
		w.passes(5)
		if w.lapsed(lease) {
			t.Fatalf("it lapsed after it was renewed: %v", w.of("lapsed")[lease])
		}
	}
	judge.stop()
}

func TestFaultJudgeStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stopSubjects, map[string]string{"free": noting})
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "x"))
	w.beat("alice", lease)
	w.passes(5)
	judge.signal(syscall.SIGSTOP)
	during(5 * time.Second)
	judge.signal(syscall.SIGCONT)
	w.passes(30)
	if w.lapsed(lease) {
		t.Fatalf("it lapsed while its holder renewed it: %v", w.of("lapsed")[lease])
	}
	judge.stop()
}

func TestFaultHolderStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stopSubjects, map[string]string{"free": noting})
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "x"))
	alice := w.beat("alice", lease)
	w.passes(5)
	alice.all(syscall.SIGSTOP)
	w.until("it lapses", func() bool { return w.lapsed(lease) })
	if cause := w.of("lapsed")[lease][0].Cause; cause != "silence" {
		t.Errorf("it lapsed by %s", cause)
	}
	alice.all(syscall.SIGCONT)
	w.want(3, as("alice", "renew", lease))
	w.passes(10)
	judge.stop()
	w.once()
}

// Where no tick can be appended time stands still, and the judge does not race against it.
func TestFaultNoTicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stopSubjects, map[string]string{"free": noting})
	judge := w.judge()
	lease := w.want(0, []string{"grant", "x", "alice"})
	w.passes(2)
	w.must(os.Rename(w.path("grantor/ticks.jsonl"), w.path("ticks")))
	w.must(os.Mkdir(w.path("grantor/ticks.jsonl"), 0o755))
	judge.says("no tick could be appended")
	began, pass := time.Now(), w.lastPass()
	during(6 * time.Second)
	n, took := w.lastPass()-pass, time.Since(began)
	if n == 0 || float64(n) > 25*took.Seconds() { // half a cadence apart are twenty
		t.Errorf("%d passes in %v", n, took)
	}
	if w.lapsed(lease) {
		t.Error("it lapsed while no time passed")
	}
	w.must(os.Remove(w.path("grantor/ticks.jsonl")))
	w.must(os.Rename(w.path("ticks"), w.path("grantor/ticks.jsonl")))
	w.until("it lapses", func() bool { return w.lapsed(lease) })
	judge.stop()
	w.once()
}

// lastPass is the number of the newest pass that the ledger names.
func (w *world) lastPass() (n int) {
	w.Helper()
	text := w.read("grantor/ledger.jsonl")
	if at := strings.LastIndex(text, `"pass":`); at >= 0 {
		_, _ = fmt.Sscanf(text[at:], `"pass":%d,`, &n) // one that is cut short is none
	}
	return n
}
