package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const plainConfig = quick + "subjects: [{match: \"*\", duration: 1h, reclaim: [hooks/free]}]\n"

func plainWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t, plainConfig, map[string]string{"free": noting})
}

// lived is a world on which a judge has run and stopped, with two leases.
func lived(t *testing.T) (*world, []string) {
	t.Helper()
	w := plainWorld(t)
	judge := w.judge()
	leases := []string{w.want(0, as("alice", "propose", "a")), w.want(0, as("bob", "propose", "b"))}
	judge.stop()
	return w, leases
}

func TestJudgeGrantBeforeTheFirstJudge(t *testing.T) {
	t.Parallel()
	w := plainWorld(t)
	lease := w.want(0, []string{"grant", "x", "alice"})
	judge := w.judge()
	judge.says("incarnation 1, the first")
	judge.says("granted " + lease)
	w.want(4, as("bob", "propose", "x"), "alice holds lease "+lease)
	w.want(0, []string{"revoke", lease, "--reason", "over", "--wait", "60s"})
	judge.stop()
	if got := w.of("lapsed")[lease]; len(got) != 1 || got[0].Cause != "policy" || len(w.logged()) != 1 {
		t.Errorf("%v, hooks %q", got, w.logged())
	}
}

func TestJudgeTheSecondIsToldOfTheFirst(t *testing.T) {
	t.Parallel()
	w := plainWorld(t)
	judge := w.judge()
	pid := fmt.Sprintf("pid %d ", judge.cmd.Process.Pid)
	for _, args := range [][]string{{"judge"}, {"judge", "--once"}, {"judge", "--step"}} {
		w.want(8, args, "another judge runs", pid, "incarnation 1")
	}
	w.want(0, []string{"judge", "--dry-run"})
	lease := w.want(0, as("alice", "propose", "x"))
	if len(w.of("accepted")[lease]) != 1 {
		t.Error("the first was disturbed")
	}
	judge.kill()
	w.want(0, []string{"judge", "--once"}, "incarnation 2 goes on with the ledger")
}

func TestJudgeWithoutItsLedger(t *testing.T) {
	t.Parallel()
	w, leases := lived(t)
	w.must(os.Remove(w.path("grantor/ledger.jsonl")))
	for range 2 { // and it stays lost
		w.want(9, []string{"judge"}, "the ledger is lost", "a judge has run here", "daolease recover")
		w.want(9, []string{"judge", "--once"})
	}
	w.want(9, []string{"grant", "x", "alice"})
	w.want(9, []string{"revoke", leases[0], "--reason", "over"})
	if len(w.of("lapsed")) > 0 || len(w.logged()) > 0 {
		t.Errorf("something was taken back without a ledger: %q", w.logged())
	}
}

// TestJudgeWithADamagedLedger cuts the ledger at every tenth part of it, and damages a byte there. What is gone on
// with must not have lost a lease that the grantor's stream still shows as granted.
// A ledger that is taken away under its judge is lost. Nobody else has written there.
func TestJudgeWhoseLedgerIsTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1h, reclaim: none}]\n", nil)
	judge := w.judge()
	w.must(os.Remove(w.path("grantor/ledger.jsonl")))
	w.want(0, as("alice", "propose", "x", "--async"))
	judge.ends(9)
	if !strings.Contains(judge.said.String(), "recover") {
		t.Error(judge.said)
	}
}

func TestJudgeWithADamagedLedger(t *testing.T) {
	t.Parallel()
	w, leases := lived(t)
	whole := w.read("grantor/ledger.jsonl")
	facts := w.read("grantor/facts.jsonl")
	ways := map[string]func(at int) string{
		"cut":     func(at int) string { return whole[:at] },
		"damaged": func(at int) string { return whole[:at] + string(whole[at]^1) + whole[at+1:] },
	}
	codes := map[string]map[int]int{}
	for way, made := range ways {
		codes[way] = map[int]int{}
		for tenth := range 10 {
			w.write("grantor/ledger.jsonl", 0o600, made(len(whole)*tenth/10))
			r := w.run("judge", "--once")
			codes[way][r.code]++
			switch r.code {
			case 0:
				for _, id := range leases {
					w.want(0, []string{"inspect", id}, "live")
				}
			case 9:
				if !strings.Contains(r.errs, "recover") {
					t.Errorf("no remedy: %v", r)
				}
			default:
				t.Errorf("%s at %d tenths: %v", way, tenth, r)
			}
			if now := w.read("grantor/facts.jsonl"); now != facts {
				t.Fatalf("%s at %d tenths: the grantor's stream has changed: %s", way, tenth, now)
			}
		}
	}
	if codes["cut"][0] == 0 || codes["cut"][9] == 0 || codes["damaged"][9] == 0 {
		t.Errorf("both are to be met, recovery and loss: %v", codes)
	}
}

func TestJudgeOnAnotherFolder(t *testing.T) {
	t.Parallel()
	w, leases := lived(t)
	copied := &world{T: t, dir: w.dir + "-copy", command: w.command}
	w.must(exec.Command("cp", "-a", w.dir, copied.dir).Run())
	t.Cleanup(func() { _ = os.RemoveAll(copied.dir) })
	copied.want(9, []string{"judge"}, "belongs to another folder", "judge --adopt")
	copied.want(9, []string{"judge", "--once"})
	copied.want(0, []string{"judge", "--once", "--adopt"}, "the ledger was recovered")
	for _, id := range leases {
		copied.want(0, []string{"inspect", id}, "live", "unknown")
	}
	copied.want(0, []string{"judge", "--once"}, "goes on with the ledger")
	w.want(0, []string{"judge", "--once"}, "goes on with the ledger")
}

func TestJudgeWithANewerLedger(t *testing.T) {
	t.Parallel()
	w, _ := lived(t)
	ledger := w.read("grantor/ledger.jsonl")
	newer := strings.Replace(ledger, `"dao.stream/format":1`, `"dao.stream/format":2`, 1)
	if newer == ledger {
		t.Fatalf("the header names no format: %.200s", ledger)
	}
	w.write("grantor/ledger.jsonl", 0o600, newer)
	w.want(7, []string{"judge"}, "format 2")
	w.want(7, []string{"judge", "--once"}, "format 2")
	w.write("grantor/ledger.jsonl", 0o600, ledger)
	w.want(0, []string{"judge", "--once"})
}
