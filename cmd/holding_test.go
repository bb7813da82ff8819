package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// must runs a command line that must end with this code, and answers what it printed.
func (w *fakeWorld) must(t *testing.T, code int, line string) (out, errs string) {
	t.Helper()
	got, out, errs := w.run(strings.Fields(line)...)
	if got != code {
		t.Fatalf("%s: exit %d, want %d\n%s%s", line, got, code, out, errs)
	}
	return strings.TrimSpace(out), errs
}

// held has alice hold a lease on build, and answers its id.
func (w *fakeWorld) held(t *testing.T) string {
	t.Helper()
	w.must(t, 0, "--as alice propose build --async")
	w.must(t, 0, "judge --once")
	out, _ := w.must(t, 0, "--as alice renew -o id")
	return out
}

func (w *fakeWorld) facts(t *testing.T, holder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir(), "holders", holder, "facts.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func (w *fakeWorld) notesOf(t *testing.T, holder string) notes {
	t.Helper()
	n, err := readNotes(filepath.Join(w.dir(), "holders", holder, "notes.json"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func contains(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}

func TestRebootVoidsNotes(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	old := w.held(t)
	w.clock.reboot("boot-b/time:[1]")
	_, errs := w.must(t, 3, "--as alice renew "+old)
	contains(t, errs, "the notes about it are void")
	w.must(t, 3, "--as alice renew --all")
	if n := strings.Count(w.facts(t, "alice"), "renewal"); n != 1 {
		t.Errorf("%d renewals are written, want the one of before", n)
	}

	// A new proposal there first gives back what is left over; one elsewhere does not.
	w.must(t, 0, "--as alice propose other --async")
	if strings.Contains(w.facts(t, "alice"), "released") {
		t.Error("a proposal on another subject released the old lease")
	}
	_, errs = w.must(t, 0, "--as alice propose build --async")
	contains(t, errs, "releasing lease "+old)
	facts := w.facts(t, "alice")
	release := strings.Index(facts, `"dao.lease/released","dao.lease/lease":"`+old+`"`)
	if release < 0 || strings.LastIndex(facts, "proposed") < release {
		t.Errorf("the release does not come before the proposal:\n%s", facts)
	}
}

// A proposal that waits also waits until what was left over is taken back: it would be refused otherwise.
func TestProposeAfterRebootGetsTheLease(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	old := w.held(t)
	w.clock.reboot("boot-b/time:[1]")
	grantor := newFakeWorld(t)
	grantor.Cwd, grantor.Clock, grantor.clock = w.Cwd, w.clock, w.clock
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		count := func(what string) int { return strings.Count(w.facts(t, "alice"), what) }
		within := func(d time.Duration, is func() bool) bool {
			for end := time.Now().Add(d); !is() && time.Now().Before(end); {
				<-time.After(time.Millisecond)
			}
			return is()
		}
		if !within(5*time.Second, func() bool { return count("released") > 0 }) {
			t.Error("the old lease is not released")
		}
		// As long as no judge passes, nothing is proposed.
		if within(300*time.Millisecond, func() bool { return count("proposed") > 1 }) {
			t.Error("the new proposal did not wait until the old lease was taken back")
		}
		for {
			select {
			case <-over:
				return
			default:
				grantor.run("judge", "--once")
			}
		}
	}()
	out, _ := w.must(t, 0, "--as alice propose build")
	close(over)
	<-ended
	if out == "" || out == old {
		t.Errorf("got lease %q after %q", out, old)
	}
}

func TestUnsaidBootHoldsNothing(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	w.clock.reboot("")
	w.must(t, 0, "--as alice propose build --async")
	w.must(t, 0, "judge --once")
	_, errs := w.must(t, 3, "--as alice renew")
	contains(t, errs, "this boot of the machine has no name")
}

func TestOtherUnitVoidsNotes(t *testing.T) {
	n := notes{Boot: "b", Unit: "ms"}
	for _, c := range []struct {
		boot, unit string
		void       bool
	}{{"b", "ms", false}, {"c", "ms", true}, {"b", "s", true}, {"", "ms", true}} {
		if n.voidIn(c.boot, c.unit) != c.void {
			t.Errorf("boot %q, unit %q: void %v, want %v", c.boot, c.unit, !c.void, c.void)
		}
	}
}

func TestNameThatIsLiveElsewhere(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	id := w.held(t)
	before := w.facts(t, "alice")
	w.Hostname = func() (string, error) { return "laptop", nil }
	w.clock.reboot("boot-of-laptop/time:[1]")
	_, errs := w.must(t, 2, "--as alice propose build --async")
	contains(t, errs, `holder "alice" is in use on host, where it has lease `+id)
	contains(t, errs, "hint: use another name on this machine: --as alice@laptop")
	w.must(t, 2, "--as alice renew "+id)
	w.must(t, 2, "--as alice release "+id)
	if w.facts(t, "alice") != before || w.notesOf(t, "alice").Host != "host" {
		t.Error("a refused command wrote something")
	}

	// Once the grantor has recorded its end the name is free, although no note of the first machine says so.
	w.must(t, 0, "revoke "+id+" --reason moved")
	w.must(t, 0, "judge --once")
	w.must(t, 0, "--as alice propose build --async")
	if w.notesOf(t, "alice").Host != "laptop" {
		t.Error("the notes do not say whose they are now")
	}
}

// The same boot under another host's name is the same machine.
func TestRenamedMachineKeepsItsLeases(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	w.held(t)
	w.Hostname = func() (string, error) { return "renamed", nil }
	w.must(t, 0, "--as alice renew")
}

func TestDamagedNotesHoldNothing(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	id := w.held(t)
	writeFile(t, filepath.Join(w.dir(), "holders", "alice", "notes.json"), `{"state":`, 0o600)
	_, errs := w.must(t, 3, "--as alice renew "+id)
	contains(t, errs, "notes.json is damaged")
	w.must(t, 0, "--as alice release "+id)
}

// From the moment a holder sets out to release it does not hold, whatever the append answers.
func TestReleaseThatFailsIsNotHeld(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	id := w.held(t)
	path := filepath.Join(w.dir(), "holders", "alice", "facts.jsonl")
	before := w.facts(t, "alice")
	m, err := c.holderStream("alice")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.must(t, 6, "--as alice release "+id)
	if got := w.notesOf(t, "alice").State.Leases[id].Release; got != lease.SetOut {
		t.Errorf("the notes say %q of the release", got)
	}
	writeFile(t, path, before, 0o644)
	_, errs := w.must(t, 3, "--as alice renew "+id)
	contains(t, errs, "has been given back")
	w.must(t, 0, "--as alice release "+id)
	contains(t, w.facts(t, "alice"), `"dao.lease/released","dao.lease/lease":"`+id+`"`)
}

// A proposal whose append did not answer ok may have taken effect: what answers it is given back.
func TestProposalThatFailsIsWithdrawnLater(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	w.must(t, 0, "--as alice propose other --async")
	m, err := c.holderStream("alice")
	if err != nil {
		t.Fatal(err)
	}
	before := w.facts(t, "alice")
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.must(t, 6, "--as alice propose build --async")
	writeFile(t, filepath.Join(w.dir(), "holders", "alice", "facts.jsonl"), before, 0o644)
	w.must(t, 3, "--as alice renew")
	facts := w.facts(t, "alice")
	contains(t, facts, `"dao.lease/subject":"build","daolease/withdrawn":true`)
	w.must(t, 3, "--as alice renew")
	if again := w.facts(t, "alice"); again != facts {
		t.Errorf("it was withdrawn again:\n%s", again)
	}
}

func TestRenewBesideAHold(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	id := w.held(t)
	w.env["DAOLEASE_AS"] = "alice"
	s, err := openSide(w.App, false)
	if err != nil {
		t.Fatal(err)
	}
	var drop func(*turn)
	if err := s.turn(t.Context(), func(tn *turn) (err error) {
		drop, err = tn.keep(t.Context(), id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	before := w.facts(t, "alice")
	_, errs := w.must(t, 4, "renew "+id)
	contains(t, errs, "is kept renewed by a daolease hold")
	w.must(t, 0, "renew --all")
	_, errs = w.must(t, 4, "release "+id)
	contains(t, errs, "is held by a daolease hold, whose command still runs")
	if w.facts(t, "alice") != before {
		t.Error("something was written beside a hold")
	}
	if err := s.turn(t.Context(), func(tn *turn) error { drop(tn); return nil }); err != nil {
		t.Fatal(err)
	}
	w.must(t, 0, "renew "+id)

	// A file that a killed process left behind bars nothing.
	writeFile(t, s.keepLock(id), "", 0o600)
	w.must(t, 0, "renew "+id)
}

func TestHoldersLockIsBounded(t *testing.T) {
	t.Parallel()
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	w.held(t)
	f, err := stream.LockFile(t.Context(), c.holderLock("alice"), time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.UnlockFile(f)
	_, errs := w.must(t, 1, "--as alice renew")
	contains(t, errs, `another command of holder "alice" is at work`)
}

// What could not be read may hold a grant, so a look at it gives no basis.
func TestLookAtWhatCannotBeRead(t *testing.T) {
	const grant = `{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/subject":"build","dao.lease/holder":"alice","dao.lease/duration":{"min":1},"daolease/token":9}` + "\n"
	for name, away := range map[string]func(t *testing.T, path string) (back func()){
		"missing": func(t *testing.T, path string) func() {
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.Rename(path+".away", path); err != nil {
					t.Fatal(err)
				}
			}
		},
		"writable by others": func(t *testing.T, path string) func() {
			if err := os.Chmod(path, 0o666); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.Chmod(path, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeWorld(t)
			c := w.composition(t, "ticks: external\n"+tinyConfig)
			w.must(t, 0, "tick 1s --as alice")
			w.must(t, 0, "grant first bob")
			w.must(t, 3, "--as alice renew --all") // a whole look, at 1 s
			path := c.path("grantor", "facts.jsonl")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, string(text)+grant, 0o644)
			back := away(t, path)
			w.must(t, 0, "tick 5s --as alice")
			w.must(t, 3, "--as alice renew --all")
			w.must(t, 3, "--as alice renew --all") // the gap is over, the condition lasts
			back()
			w.must(t, 0, "tick 6s --as alice")
			w.must(t, 0, "--as alice renew")
			held := w.notesOf(t, "alice").State.Leases["L"]
			if held == nil || held.Basis == nil || *held.Basis != 1000 {
				t.Errorf("the lease is noted as %+v, want basis 1000", held)
			}
		})
	}
}

func TestNotesArePrivateAndWhole(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	id := w.held(t)
	path := c.notes("alice")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if hasOwners && fi.Mode().Perm() != 0o600 {
		t.Errorf("the notes have mode %v", fi.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var n notes
	if err := json.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	if n.Boot != w.clock.BootID() || n.Host != "host" || n.Unit != "ms" || n.Clock != w.clock.Boot() || n.State.Leases[id] == nil {
		t.Errorf("noted %s", text)
	}
}

// A holder's bound runs on while its machine sleeps, and while its tick stream is lost.
func TestSleepCountsForTheHolder(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	w.held(t)
	began := w.notesOf(t, "alice")
	w.clock.suspend(29_000)
	w.must(t, 0, "--as alice renew")
	if n := w.notesOf(t, "alice"); n.State.Now-began.State.Now != 29_000 || n.Tick != n.State.Now {
		t.Errorf("29 s of sleep took the reading from %d to %d (tick %d)", began.State.Now, n.State.Now, n.Tick)
	}
	w.clock.suspend(29_000)
	if err := os.Remove(filepath.Join(c.holderDir("alice"), "ticks.jsonl")); err != nil {
		t.Fatal(err)
	}
	w.clock.suspend(1_000)
	_, errs := w.must(t, 3, "--as alice renew")
	contains(t, errs, "its bound passed")
}

// It is noted before the append that the lease is given back: a process that dies in between must not have left
// notes that say it is held.
func TestReleaseIsNotedBeforeItIsWritten(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	id := w.held(t)
	m, err := c.holderStream("alice")
	if err != nil {
		t.Fatal(err)
	}
	_, free, err := m.Hold(t.Context()) // the append waits for this
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		code, _, _ := w.run("--as", "alice", "release", id)
		done <- code
	}()
	for end := time.Now().Add(4 * time.Second); w.notesOf(t, "alice").State.Leases[id].Release != lease.SetOut; <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Error("the release waits to be written and is not noted")
			break
		}
	}
	free()
	if code := <-done; code != 0 {
		t.Errorf("exit %d", code)
	}
}

// The tick stream is read on from where the last command came to, and what others appended meanwhile counts.
func TestTicksAreReadOnFromTheNotes(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	w.held(t)
	path := filepath.Join(c.holderDir("alice"), "ticks.jsonl")
	came := func() stream.Position {
		t.Helper()
		at, err := stream.CursorPosition(w.notesOf(t, "alice").Ticks)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := came()
	w.must(t, 0, "--as alice renew")
	if after := came(); before == 0 || after <= before {
		t.Fatalf("the ticks were read to %v, then to %v", before, after)
	}
	now := w.notesOf(t, "alice").State.Now
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(f, "{\"dao.lease/event\":\"dao.lease/tick\",\"dao.lease/reading\":{\"ms\":%d}}\n", now+5000)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	w.must(t, 0, "--as alice renew")
	w.must(t, 0, "--as alice renew")
	if n := w.notesOf(t, "alice"); n.State.Now < now+5000 {
		t.Errorf("a tick of %d was appended by hand, and the reading is %d", now+5000, n.State.Now)
	}
}

// Readings are told as spans.
func TestPastBoundIsToldInSpans(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	told := c.notHeldWords(&lease.NotHeld{Lease: "L", Why: lease.PastBound, Bound: 37_000, Reading: 38_250})
	if told != "its bound passed 1s250ms ago (at reading 37s)" {
		t.Error(told)
	}
}
