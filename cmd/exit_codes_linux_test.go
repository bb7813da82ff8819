package cmd_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

const anHour = quick + `subjects: [{match: "*", duration: 1h, reclaim: [hooks/free]}]
`

// What is private to the judge is refused to other users with the line that works, and is no append.
func TestOtherUsersAreRefusedTheLedger(t *testing.T) {
	nobody := people(t, "nobody")[0]
	t.Parallel()
	w := newWorld(t, anHour, map[string]string{"free": noting})
	w.command = w.openly()
	w.must(os.Chmod(w.dir, 0o755))
	w.want(0, []string{"judge", "--once"})
	for _, args := range [][]string{{"judge", "--dry-run"}, {"recover", "--print"}} {
		w.wanted(w.finish(w.user(nobody, args...)), 4, "belongs to root, and you are nobody", "hint: sudo -u root")
	}
	w.wanted(w.finish(w.user(nobody, "inspect")), 0, "private")
	w.wanted(w.finish(w.user(nobody, "check")), 0)
	w.must(os.Chmod(w.path("holders"), 0o700))
	for _, args := range [][]string{{"inspect"}, {"check"}, {"log"}} {
		w.wanted(w.finish(w.user(nobody, args...)), 4, "hint: sudo -u root")
	}
}

// Root may look at anybody's composition, and is told that it was checked as its owner's.
func TestCheckSaysWhoseItIs(t *testing.T) {
	nobody := people(t, "nobody")[0]
	t.Parallel()
	w := newWorld(t, anHour, map[string]string{"free": noting})
	w.want(0, []string{"judge", "--once"})
	if r := w.run("check"); strings.Contains(r.out, "no judge of root's") {
		t.Errorf("it is root's: %v", r)
	}
	w.give(nobody, w.dir)
	w.want(0, []string{"check"}, "belongs to nobody: it was checked as that user's", "remedy: sudo -u nobody daolease judge")
}

// What cannot be read is a failure of the machine to whom only reads.
func TestALedgerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, anHour, map[string]string{"free": noting})
	w.want(0, []string{"judge", "--once"})
	w.must(os.Remove(w.path("grantor/ledger.jsonl")))
	w.must(os.Mkdir(w.path("grantor/ledger.jsonl"), 0o755))
	for _, args := range [][]string{{"judge", "--dry-run"}, {"recover", "--print"}, {"inspect"}, {"check"}} {
		w.want(1, args, "is no regular file")
	}
	w.want(6, []string{"judge", "--once"}, "is no regular file")
}

// An id that cannot be printed is said: the lease is there all the same.
func TestAnIdThatCannotBePrintedIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, anHour, map[string]string{"free": noting})
	judge := w.judge()
	for _, args := range [][]string{as("alice", "propose", "x"), {"grant", "y", "alice"}, as("alice", "propose", "z", "--async")} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		w.must(err)
		cmd := w.cmd(args...)
		errs := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = full, errs
		w.must(cmd.Start())
		_ = w.wait(cmd) // the code tells
		w.must(full.Close())
		said := false
		for _, l := range append(w.facts("grantor/facts.jsonl"), w.facts("holders/alice/facts.jsonl")...) {
			id := "lease " + l.Lease
			if strings.HasSuffix(args[len(args)-1], "--async") {
				id = "proposal " + l.Proposal
			}
			said = said || len(id) > 10 && strings.Contains(errs.String(), id+" on ")
		}
		if code := cmd.ProcessState.ExitCode(); code != 1 || !said {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
	judge.stop()
}

// Where there is no room for the notes, what was renewed is on the medium, and the exit says that the disk is full.
func TestFaultNoRoomForNotes(t *testing.T) {
	t.Parallel()
	w := newDisk(t)
	judge := w.judge()
	w.want(0, as("carol", "propose", "long"))
	judge.stop()
	w.fillUp()
	w.want(6, as("carol", "renew"), "the notes of", "no space left on device")
	if got := strings.Count(w.read("holders/carol/facts.jsonl"), "dao.lease/renewal"); got != 1 {
		t.Errorf("%d renewals: it was not only the notes that failed", got)
	}
	w.must(os.Remove(w.path("ballast")))
	w.want(0, as("carol", "renew"))
}

// A procedure that a second signal killed says so, in words for people.
func TestAKilledProcedureSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(anHour, "duration: 1h", "duration: 1h, timeout: 1h", 1), map[string]string{"free": "echo begun >> log/hooks; exec sleep 3600\n"})
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "x"))
	w.want(0, as("alice", "release", lease))
	w.until("it runs", func() bool { return len(w.logged()) > 0 })
	judge.signal(syscall.SIGTERM)
	judge.says("a second signal kills it")
	judge.signal(syscall.SIGTERM)
	judge.says("stopped: the judge was told a second time to stop")
	judge.ends(0)
}

// Who has taken the access to an own medium away is told how to give it back.
func TestOwnMediumThatCannotBeOpened(t *testing.T) {
	nobody := people(t, "nobody")[0]
	t.Parallel()
	w := newWorld(t, anHour, map[string]string{"free": noting})
	w.command = w.openly()
	w.must(os.Chmod(w.dir, 0o755))
	w.give(nobody, w.dir)
	w.wanted(w.finish(w.user(nobody, as("carol", "propose", "build", "--async")...)), 0)
	facts := w.path("holders/carol/facts.jsonl")
	w.must(os.Chmod(facts, 0))
	w.wanted(w.finish(w.user(nobody, as("carol", "propose", "build", "--async")...)), 6, "permission denied", "hint: ls -ld ", facts, "chmod u+rw")
}
