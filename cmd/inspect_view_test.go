package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lookers are the command lines that must change nothing.
func lookers() []string {
	return []string{
		"inspect", "timeline", "why L1", "why build", "inspect --at 5s", "inspect --all --sort holder", "inspect --all -o wide", "inspect -o json", "inspect --proposals", "inspect L1", "inspect build", "inspect --all -o yaml",
		"inspect --all -o jsonl", "log", "log --all --ticks", "log -o jsonl", "log --raw --medium grantor", "check", "check --live -o json",
	}
}

// lived is a composition with some past, and its world.
func lived(t *testing.T) *fakeWorld {
	t.Helper()
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""), writtenGrant("L2", "past", "bob", ""))
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "third", ""), renewalOf("L1"))
	appendTo(t, w.factsOf("bob"), releaseOf("L2"), releaseOf("L1"))
	w.must(t, 0, "judge --once")
	return w
}

// A copy that cannot be written shows the same, and neither is changed by looking.
func TestLookingChangesNothing(t *testing.T) {
	w := lived(t)
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(w.dir())); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ledger.jsonl", "policy.jsonl", "judge.lock", "token"} {
		if path := filepath.Join(dir, "grantor", name); exists(path) {
			chmodTo(t, path, 0o400)
		}
	}
	for _, name := range []string{"grantor", "holders/alice", "holders/bob", "holders", "."} {
		chmodTo(t, filepath.Join(dir, name), 0o555)
		defer chmodTo(t, filepath.Join(dir, name), 0o755)
	}
	before, copied := treeOf(t, w.dir()), treeOf(t, dir)
	const moved = "this is not the folder in which the ledger was written: it is shown as it was there"
	for _, line := range lookers() {
		code, out, _ := w.run(strings.Fields(line)...)
		there, same, _ := w.run(append([]string{"-C", dir}, strings.Fields(line)...)...)
		if strings.HasPrefix(line, "check") {
			continue // which says that no judge starts on a copy
		}
		if code != 0 || there != 0 {
			t.Errorf("%s: exit %d and %d of the copy", line, code, there)
		}
		same = strings.ReplaceAll(same, dir, w.dir())
		for _, form := range []string{moved + "\n", "\n    \"" + moved + "\"\n  ", "\n  - '" + moved + "'\n"} {
			same = strings.Replace(same, form, "", 1)
		}
		if line != "inspect --all -o yaml" && same != out {
			t.Errorf("%s of a copy:\n%s\nof the original:\n%s", line, same, out)
		}
	}
	if now := treeOf(t, w.dir()); now != before {
		t.Errorf("looking has changed\n%s\nto\n%s", before, now)
	}
	if now := treeOf(t, dir); now != copied {
		t.Errorf("looking has changed the copy\n%s\nto\n%s", copied, now)
	}
	out, _ := w.must(t, exitFound, "check -C "+dir)
	contains(t, out, "the ledger belongs to another folder")
	contains(t, out, "daolease judge --adopt")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A ledger of another boot, or another machine, is shown as it stands: nothing became unknown by looking.
func TestInspectAfterAReboot(t *testing.T) {
	w := lived(t)
	w.clock.reboot("another/time:[1]")
	appendTo(t, filepath.Join(w.dir(), "grantor", "ticks.jsonl"), `{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"s":9}}`)
	doc := w.inspected(t)
	if doc.Judge.Passing != nil || doc.Judge.Ago != nil || doc.Leases[0].Evidence != "known" {
		t.Errorf("%+v", doc)
	}
	contains(t, doc.Judge.Text, "another boot or another machine")
}

func TestInspectWithALostLedger(t *testing.T) {
	w := lived(t)
	for _, damage := range []func(path string) error{os.Remove, func(path string) error { return os.WriteFile(path, []byte("nonsense\n"), 0o600) }} {
		if err := damage(filepath.Join(w.dir(), "grantor", "ledger.jsonl")); err != nil {
			t.Fatal(err)
		}
		doc := w.inspected(t)
		if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "the ledger is lost") || !strings.Contains(doc.Warnings[0], "daolease recover") {
			t.Errorf("%q", doc.Warnings)
		}
		if doc.Source != fromMedia || doc.AsOf != nil {
			t.Errorf("%+v", doc)
		}
		row := doc.Leases[0]
		if row.Lease != "L1" || row.State != stateGranted || row.Left != nil || row.Evidence != "" {
			t.Errorf("%+v", row)
		}
		out, _ := w.must(t, exitFound, "check")
		contains(t, out, "the ledger is lost")
		contains(t, out, "remedy: daolease recover")
	}
}

func TestInspectUnderExternalTicks(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "ticks: external\n"+tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	if doc := w.inspected(t); doc.Judge.Passing != nil || doc.Now != nil {
		t.Errorf("before a tick: %+v", doc)
	}
	w.must(t, 0, "tick 5s")
	w.must(t, 0, "judge --once")
	w.must(t, 0, "tick 6s")
	if doc := w.inspected(t); doc.Judge.Passing != nil || doc.only(t).LeftBy == "" {
		t.Errorf("a tick says nothing of a judge: %+v", doc)
	}
	w.must(t, 0, "tick 9s")
	doc := w.inspected(t)
	if doc.Judge.Passing == nil || *doc.Judge.Passing {
		t.Errorf("four cadences of the tick stream after its last pass: %+v", doc.Judge)
	}
}

func TestInspectSaysWhoJudges(t *testing.T) {
	w := lived(t)
	c, err := find(w.App)
	if err != nil {
		t.Fatal(err)
	}
	if doc := w.inspected(t); doc.Judge.Lock != lockFree {
		t.Errorf("%+v", doc.Judge)
	}
	lock, err := c.lockJudge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.release()
	if err := lock.write(mark{Incarnation: 4, PID: 77, Host: "elsewhere"}); err != nil {
		t.Fatal(err)
	}
	doc := w.inspected(t)
	if doc.Judge.Lock != lockHeld || !*doc.Judge.Passing {
		t.Errorf("%+v", doc.Judge)
	}
	contains(t, doc.Judge.Text, "a judge is passing")
	contains(t, doc.Judge.Text, "incarnation 4, pid 77 on elsewhere")
	w.clock.run(3001)
	out, _ := w.must(t, exitFound, "check --live")
	contains(t, out, "see what the process that has judge.lock waits for")
}

// Nothing that a holder can put into a name reaches a terminal as it is.
func TestControlCharactersNeverReachStdout(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	evil := `a\u001b[2J\u0007\u202eb\u0085`
	appendTo(t, w.grantorFacts(), strings.NewReplacer("ID", evil, "SUBJECT", evil+"s").Replace(
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"ID","dao.lease/subject":"SUBJECT","dao.lease/holder":"alice","dao.lease/duration":{"s":30},"dao.lease/proposal":"ID","daolease/note":"ID"}`),
		`{"dao.lease/status":"dao.lease/\u001b[2J"}`, "{\x1b[2J}", "\"\u202e\"", `{"\u001b":"`+"\u202e"+`"}`)
	appendTo(t, w.factsOf("alice"), `{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"`+evil+`2","dao.lease/subject":{"`+evil+`":1}}`)
	if err := os.MkdirAll(filepath.Join(w.dir(), "holders", "x\x1b[2J"), 0o755); err != nil {
		t.Fatal(err)
	}
	check := func(args ...string) {
		_, out, errs := w.run(args...)
		for _, r := range out + errs {
			if r != '\n' && escape(string(r)) != string(r) {
				t.Errorf("%q printed %q", args, r)
				return
			}
		}
		if out+errs == "" {
			t.Errorf("%q printed nothing", args)
		}
	}
	for _, when := range []string{"before", "after"} {
		for _, line := range append(lookers(), "log --all", "log --all -o jsonl") {
			if line != "inspect L1" && line != "inspect build" && line != "log --raw --medium grantor" {
				check(strings.Fields(line)...)
			}
		}
		var id string
		if err := json.Unmarshal([]byte(`"`+evil+`"`), &id); err != nil {
			t.Fatal(err)
		}
		check("inspect", id)
		check("inspect", id, "-o", "json")
		if code, _, errs := w.run("inspect", id+"x"); code != exitNothingHeld || strings.Contains(errs, "\x1b") {
			t.Errorf("exit %d, %q", code, errs)
		}
		w.OutIsTerminal = true
		check("log", "--raw", "--medium", "grantor")
		w.OutIsTerminal = false
		if when == "before" {
			w.run("judge", "--once")
		}
	}
}

// A hundred thousand leases cost what they are, not the square of it.
func TestInspectOfManyLeases(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	took := func(n int) time.Duration {
		w := newFakeWorld(t)
		w.composition(t, tinyConfig)
		lines := make([]string, n)
		for i := range lines {
			lines[i] = writtenGrant(fmt.Sprintf("L%06d", i), fmt.Sprintf("s%d", i), fmt.Sprintf("h%d", i%100), "")
		}
		appendTo(t, w.grantorFacts(), lines...)
		w.must(t, 0, "judge --once")
		began := time.Now()
		out, _ := w.must(t, 0, "inspect --all")
		if got := strings.Count(out, " live "); got != n {
			t.Fatalf("%d leases, want %d", got, n)
		}
		w.must(t, 0, fmt.Sprintf("inspect L%06d -o json", n-1))
		return time.Since(began)
	}
	few, many := took(10_000), took(100_000)
	if many > 40*few+10*time.Second {
		t.Errorf("%v for 10,000 leases, and %v for 100,000", few, many)
	}
	t.Logf("%v for 10,000 leases, %v for 100,000", few, many)
}

// A document that is printed as it is found is the same as one that is made whole first, as sorting needs it.
func TestInspectStreamsTheSameDocument(t *testing.T) {
	for name, lines := range map[string][]string{
		"none": nil, "one": {writtenGrant("L1", "a\n  \\\"leases\\\": []<&é\u202e", "alice", "")},
		"some": {writtenGrant("L1", "a", "alice", ""), writtenGrant("L2", "b", "bob", `,"dao.lease/max":{"h":1},"daolease/token":7`), writtenGrant("L3", "c", "bob", "")},
	} {
		w := newFakeWorld(t)
		w.composition(t, tinyConfig)
		appendTo(t, w.grantorFacts(), lines...)
		w.must(t, 0, "judge --once")
		appendTo(t, w.factsOf("bob"), proposalFor("P1", "c", ""), releaseOf("L3"))
		for _, args := range []string{"", " --all", " --state lapsed"} {
			whole, _ := w.must(t, 0, "inspect -o json --sort lease"+args)
			if streamed, _ := w.must(t, 0, "inspect -o json"+args); streamed != whole || !json.Valid([]byte(whole)) {
				t.Errorf("%s%s: streamed\n%s\nwhole\n%s", name, args, streamed, whole)
			}
		}
	}
}

// oneWrite takes a first write, and is then a pipe that nobody reads.
type oneWrite struct{ first string }

func (o *oneWrite) Write(p []byte) (int, error) {
	if o.first != "" {
		return 0, syscall.EPIPE
	}
	o.first = string(p)
	return len(p), nil
}

// Of many leases the first are printed before the last is looked at.
func TestInspectBeginsAtOnce(t *testing.T) {
	const leases = 1000
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	lines := make([]string, leases)
	for i := range lines {
		lines[i] = writtenGrant(fmt.Sprintf("L%06d", i), fmt.Sprintf("s%d", i), "alice", "")
	}
	appendTo(t, w.grantorFacts(), lines...)
	w.must(t, 0, "judge --once")
	for _, args := range [][]string{{"inspect"}, {"inspect", "-o", "wide"}, {"inspect", "-o", "jsonl"}, {"inspect", "-o", "json"}} {
		out := &oneWrite{}
		app := *w.App
		app.Out = out
		if code := app.Run(t.Context(), args); code != exitPipe {
			t.Errorf("%v: exit %d", args, code)
		}
		if !strings.Contains(out.first, "L000000") || strings.Contains(out.first, "L000999") {
			t.Errorf("%v: the first of %d leases are not written before the last: %d bytes", args, leases, len(out.first))
		}
	}
}

func TestLookingWithNothingInTheEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	w := lived(t)
	for _, line := range lookers() {
		cmd := program("-C " + w.dir() + " " + line)
		cmd.Args = []string{"sh", "-c", `exec "$0" -test.run='^TestAsProgram$' <&-`, cmd.Path}
		cmd.Path = "/bin/sh"
		out, err := cmd.Output()
		exit, _ := err.(*exec.ExitError)
		if exit != nil && (exit.ExitCode() != exitFound || !strings.HasPrefix(line, "check --live")) {
			t.Errorf("%s: %v %s", line, err, exit.Stderr)
		}
		if len(out) == 0 {
			t.Errorf("%s printed nothing", line)
		}
	}
}

// A lone "*" is every subject wherever subjects are filtered, as it is in the configuration.
func TestALoneStarFiltersNothing(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "a/b", "alice", ""), writtenGrant("L2", "c", "alice", ""),
		strings.Replace(writtenGrant("L3", "x", "bob", ""), `"x"`, `{"a":"/"}`, 1))
	w.must(t, 0, "judge --once")
	for pattern, want := range map[string]int{"*": 3, "a/*": 1, "a*": 0, "**": 3} {
		if n := len(w.inspected(t, "--subject", pattern).Leases); n != want {
			t.Errorf("inspect --subject %s: %d leases, want %d", pattern, n, want)
		}
		drawn, _ := w.must(t, 0, "timeline --subject "+pattern)
		if n := strings.Count(drawn, "  alice  [") + strings.Count(drawn, "  bob    ["); n != want {
			t.Errorf("timeline --subject %s: %d leases, want %d:\n%s", pattern, n, want, drawn)
		}
	}
}

// A subject that cannot be seen as it is is shown in one line and in quotes, in every table and line.
func TestSubjectsThatCannotBeSeenAreShown(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "subjects:\n  - match: \"*\"\n    reclaim: none\n")
	shown := map[string]string{"a\nb": `a\nb`, " ": `" "`, "": `""`, "\tx": `"\tx"`, "c ": `"c "`}
	n := 0
	for subject := range shown {
		n++
		text, err := json.Marshal(subject)
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("L%d", n)
		appendTo(t, w.grantorFacts(), strings.Replace(writtenGrant(id, "SUBJECT", "alice", ""), `"SUBJECT"`, string(text), 1))
	}
	check := func(when string, commands ...string) {
		t.Helper()
		for i, command := range commands {
			out, _ := w.must(t, 0, command)
			for subject, want := range shown {
				if !strings.Contains(out, want) {
					t.Errorf("%s, %d: %s does not show %q as %s:\n%s", when, i, command, subject, want, out)
				}
			}
		}
		for i := range n {
			told := w.told(t, fmt.Sprintf("L%d", i+1))
			one := 0
			for _, want := range shown {
				if strings.Contains(told, " "+want+" ") {
					one++
				}
			}
			if one != 1 {
				t.Errorf("%s: why tells %q", when, told)
			}
		}
	}
	check("from the media alone", "inspect", "log")
	w.must(t, 0, "judge --once")
	check("with a ledger", "inspect", "inspect -o wide", "log", "timeline")
	code, _, errs := w.run("why", "no\nsuch")
	if code != exitNothingHeld || !strings.Contains(errs, `no\nsuch is known of`) {
		t.Errorf("exit %d, %q", code, errs)
	}
}
