package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// world is a composition on disk and the real command: what it prints, how it ends, and what it leaves in files.
type world struct {
	*testing.T
	dir, command string
}

// bound is how long anything may take. It is generous, because no test is about speed.
const bound = time.Minute

// quick is spans so short that lives take moments.
const quick = "cadence: 100ms\ntolerance: 100ms\nreclaim: {retry: {initial: 50ms, max: 200ms}}\n"

// newWorld lays a composition out: its configuration, and hooks by name.
func newWorld(t *testing.T, config string, hooks map[string]string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	w := &world{T: t, dir: dir, command: daolease(t)}
	w.must(err)
	w.must(os.Chmod(dir, 0o755))
	for _, name := range []string{"grantor", "holders", "hooks", "log"} {
		w.must(os.Mkdir(w.path(name), 0o755))
	}
	w.write("daolease.yaml", 0o644, config)
	for name, text := range hooks {
		w.hook(name, text)
	}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// write replaces a file at once, so that whoever reads it has the old or the new.
func (w *world) write(name string, mode os.FileMode, text string) {
	w.Helper()
	path := w.path(name)
	w.must(os.WriteFile(path+".new", []byte(text), mode))
	w.must(os.Chmod(path+".new", mode))
	w.must(os.Rename(path+".new", path))
}

// hook writes a procedure.
func (w *world) hook(name, text string) {
	w.Helper()
	w.write("hooks/"+name, 0o755, "#!/bin/sh\n"+text)
}

func (w *world) read(name string) string {
	w.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	return string(text)
}

// result is how one command ended.
type result struct {
	args      string
	out, errs string
	code      int
}

func (r result) String() string {
	return fmt.Sprintf("daolease %s: exit %d\n%s%s", r.args, r.code, r.out, r.errs)
}

// cmd is the command in this composition, not started.
func (w *world) cmd(args ...string) *exec.Cmd {
	cmd := exec.Command(w.command, append([]string{"-C", w.dir}, args...)...)
	cmd.Env = append(os.Environ(), "DAOLEASE_AS=", "DAOLEASE_DIR=")
	return cmd
}

// run runs a command to its end.
func (w *world) run(args ...string) result {
	w.Helper()
	return w.finish(w.cmd(args...))
}

func (w *world) finish(cmd *exec.Cmd) result {
	w.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	w.must(cmd.Start())
	err := w.wait(cmd)
	r := result{args: strings.Join(cmd.Args[3:], " "), out: out.String(), errs: errs.String(), code: cmd.ProcessState.ExitCode()}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		w.Errorf("%v: %v", r, err)
	}
	return r
}

// wait waits for the end of a started command, which is killed when it does not come.
func (w *world) wait(cmd *exec.Cmd) error {
	w.Helper()
	late := time.AfterFunc(2*bound, func() {
		w.Errorf("%s never ended", strings.Join(cmd.Args, " "))
		_ = cmd.Process.Kill()
	})
	defer late.Stop()
	return cmd.Wait()
}

// want runs a command that must end with this code and say all of this, on whichever stream. It answers stdout.
func (w *world) want(code int, args []string, parts ...string) string {
	w.Helper()
	return w.wanted(w.run(args...), code, parts...)
}

func (w *world) wanted(r result, code int, parts ...string) string {
	w.Helper()
	if r.code != code {
		w.Fatalf("want exit %d: %v", code, r)
	}
	for _, part := range parts {
		if !strings.Contains(r.out+r.errs, part) {
			w.Fatalf("%q is not said: %v", part, r)
		}
	}
	return strings.TrimSpace(r.out)
}

// as is the words of a holder's command.
func as(name string, words ...string) []string { return append([]string{"--as", name}, words...) }

// until waits for a condition.
func (w *world) until(what string, met func() bool) {
	w.Helper()
	for end := time.Now().Add(bound); !met(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("never: %s\nfacts:\n%s\nlog:\n%s", what, w.read("grantor/facts.jsonl"), w.read("log/hooks"))
		}
	}
}

// line is one fact as it stands on a medium.
type line struct {
	Status   string `json:"dao.lease/status"`
	Event    string `json:"dao.lease/event"`
	Lease    string `json:"dao.lease/lease"`
	Holder   string `json:"dao.lease/holder"`
	Subject  any    `json:"dao.lease/subject"`
	Proposal string `json:"dao.lease/proposal"`
	Cause    string `json:"dao.lease/cause"`
	Token    int64  `json:"daolease/token"`
	Reason   string `json:"daolease/reason"`
}

// facts are the whole lines of a medium.
func (w *world) facts(medium string) []line {
	w.Helper()
	var list []line
	text := w.read(medium)
	for _, one := range strings.SplitAfter(text, "\n") {
		var l line
		if !strings.HasSuffix(one, "\n") || strings.Contains(one, "\x00") {
			continue
		}
		if err := json.Unmarshal([]byte(one), &l); err != nil {
			w.Fatalf("%s: %q: %v", medium, one, err)
		}
		list = append(list, l)
	}
	return list
}

// of are the grantor's facts of one status, by lease (or by proposal for refusals).
func (w *world) of(status string) map[string][]line {
	w.Helper()
	found := map[string][]line{}
	for _, l := range w.facts("grantor/facts.jsonl") {
		if l.Status == "dao.lease/"+status {
			key := l.Lease
			if status == "rejected" {
				key = l.Proposal
			}
			found[key] = append(found[key], l)
		}
	}
	return found
}

// lapsed says that this lease is recorded as lapsed.
func (w *world) lapsed(lease string) bool { return len(w.of("lapsed")[lease]) > 0 }

// logged are the lines that hooks wrote to log/hooks.
func (w *world) logged() []string { return strings.Fields(w.read("log/hooks")) }

// process is a command that runs beside the test.
type process struct {
	w     *world
	cmd   *exec.Cmd
	said  *transcript
	ended chan struct{}
}

// transcript is what a process has said on both streams, readable while it speaks.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a command. When the test ends before it, it is killed.
func (w *world) start(args ...string) *process {
	w.Helper()
	return w.begin(w.cmd(args...))
}

func (w *world) begin(cmd *exec.Cmd) *process {
	w.Helper()
	p := &process{w: w, cmd: cmd, said: &transcript{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.said, p.said
	w.must(cmd.Start())
	go func() {
		_ = cmd.Wait() // its state tells
		close(p.ended)
	}()
	w.Cleanup(func() {
		p.kill()
		if w.Failed() {
			w.Logf("%s said:\n%s", strings.Join(cmd.Args[3:], " "), p.said)
		}
	})
	return p
}

// judge starts a judge and waits for its first word.
func (w *world) judge(args ...string) *process {
	w.Helper()
	p := w.start(append([]string{"judge"}, args...)...)
	p.says("incarnation")
	return p
}

// says waits until the process has said this.
func (p *process) says(part string) {
	p.w.Helper()
	p.w.until("it says "+part, func() bool {
		select {
		case <-p.ended:
			if !strings.Contains(p.said.String(), part) {
				p.w.Fatalf("it ended without saying %q: %s", part, p.said)
			}
		default:
		}
		return strings.Contains(p.said.String(), part)
	})
}

// kill ends the process at once, as a power loss would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) signal(sig syscall.Signal) {
	p.w.Helper()
	p.w.must(p.cmd.Process.Signal(sig))
}

// ends waits for the end, which must have this code.
func (p *process) ends(code int) {
	p.w.Helper()
	select {
	case <-p.ended:
	case <-time.After(2 * bound):
		p.w.Fatalf("it never ended; it said: %s", p.said)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.w.Fatalf("it ended with %v, want exit %d; it said: %s", p.cmd.ProcessState, code, p.said)
	}
}

// stop suspends a judge cleanly.
func (p *process) stop() {
	p.w.Helper()
	p.signal(syscall.SIGTERM)
	p.ends(0)
}

// append writes a line at the end of a file, as anybody may to a medium of theirs.
func (w *world) append(name, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	f, err := os.OpenFile(w.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	w.must(err)
	_, err = f.WriteString(text + "\n")
	w.must(errors.Join(err, f.Close()))
}

// tick appends a tick in seconds, where ticks are external.
func (w *world) tick(medium string, second int) {
	w.Helper()
	w.append(medium, fmt.Sprintf(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"s":%d}}`, second))
}

// grant appends a grant written by hand.
func (w *world) grant(lease, subject, holder string, seconds int) {
	w.Helper()
	w.append("grantor/facts.jsonl", fmt.Sprintf(
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":%q,"dao.lease/subject":%q,"dao.lease/holder":%q,"dao.lease/duration":{"s":%d}}`,
		lease, subject, holder, seconds))
}

// renewal appends a renewal written by hand.
func (w *world) renewal(holder, lease string) {
	w.Helper()
	w.append("holders/"+holder+"/facts.jsonl", fmt.Sprintf(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q}`, lease))
}

// release appends a release written by hand.
func (w *world) release(holder, lease string) {
	w.Helper()
	w.append("holders/"+holder+"/facts.jsonl", fmt.Sprintf(`{"dao.lease/status":"dao.lease/released","dao.lease/lease":%q}`, lease))
}

// lockOut keeps a lock, as a process that hangs would.
func (w *world) lockOut(name string) (unlock func()) {
	w.Helper()
	f, err := stream.LockFile(w.Context(), w.path(name), time.Minute, nil)
	w.must(err)
	return func() { stream.UnlockFile(f) }
}
