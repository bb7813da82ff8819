//go:build unix

package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
	"golang.org/x/sys/unix"
)

// roleVar tells the test binary that it is a process of a test, and which.
const roleVar = "DAOLEASE_STREAM_TEST_ROLE"

// TestProcess is not a test: it is what another test runs in a process of its own.
func TestProcess(t *testing.T) {
	role, argument, _ := strings.Cut(os.Getenv(roleVar), " ")
	path, number, _ := strings.Cut(argument, " ")
	n, _ := strconv.Atoi(number)
	switch role {
	case "writer":
		m := openPath(t, path, evicting())
		for i := range n {
			if i%inFlight == 0 {
				if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
					t.Fatal("nobody lets it go on:", err)
				}
			}
			if _, err := m.Append(t.Context(), stream.How{}, fmt.Appendf(nil, `{"writer":%d,"n":%d}`, os.Getpid(), i)); err != nil {
				t.Fatal(err)
			}
		}
	case "endless":
		m := openPath(t, path, stream.FileOptions{})
		for {
			mustAppend(t, m, []byte(`{"pad":"`+strings.Repeat("x", n)+`"}`))
		}
	case "limited":
		limitFileSize(t, uint64(n))
		fillUp(t, openPath(t, path, stream.FileOptions{}))
	default:
		t.Skip("not a test")
	}
}

// process is the command that runs a role.
func process(t *testing.T, role string, args ...any) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), roleVar+"="+role+" "+strings.TrimSpace(fmt.Sprintln(args...)))
	return cmd
}

// inFlight is how many values a writer appends before it waits to be let go on, so that what all of them have in flight
// is never more than what is retained.
const inFlight = 20

// writer is a process that appends, and what was read of it.
type writer struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	output bytes.Buffer
	next   int
}

func startWriter(t *testing.T, path string, values int) *writer {
	t.Helper()
	w := &writer{cmd: process(t, "writer", path, values)}
	w.cmd.Stdout, w.cmd.Stderr = &w.output, &w.output
	stdin, err := w.cmd.StdinPipe()
	must(t, err)
	w.stdin = stdin
	must(t, w.cmd.Start())
	return w
}

// letGoOn has it append the next values.
func (w *writer) letGoOn() { _, _ = w.stdin.Write([]byte{1}) }

func TestProcessesAppendAtOnce(t *testing.T) {
	const processes, each = 4, 15 * inFlight
	path := filepath.Join(t.TempDir(), "facts.jsonl")
	m := openPath(t, path, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	writers := map[int]*writer{}
	ended := make(chan error, processes)
	for range processes {
		w := startWriter(t, path, each)
		writers[w.cmd.Process.Pid] = w
		go func() { ended <- w.cmd.Wait() }()
		w.letGoOn()
	}
	for running := processes; running > 0; {
		select {
		case err := <-ended:
			running--
			if err != nil {
				t.Error("a writer:", err)
			}
		default:
		}
		r := read(t.Context(), m, c, stream.Budget{})
		if r.State != stream.Blocked || len(r.damaged) > 0 {
			t.Fatalf("%v (%v), damaged %q", r.State, r.Err, r.damaged)
		}
		c = r.Cursor
		for _, text := range r.texts {
			var pid, n int
			if _, err := fmt.Sscanf(text, `{"writer":%d,"n":%d}`, &pid, &n); err != nil || writers[pid] == nil || writers[pid].next != n {
				t.Fatalf("read %q", text)
			}
			if writers[pid].next++; writers[pid].next%inFlight == 0 {
				writers[pid].letGoOn()
			}
		}
	}
	for _, w := range writers {
		if w.next != each {
			t.Errorf("%d values of %d were read; it said %s", w.next, each, &w.output)
		}
	}
	if _, err := os.Stat(path + ".1"); err != nil {
		t.Error("nothing was evicted:", err)
	}
}

// TestAKilledProcess kills writers of long lines, of which some are torn: each spoils only itself.
func TestAKilledProcess(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	read, torn := 0, 0
	for range 8 {
		cmd := process(t, "endless", m.Path(), 200<<10)
		must(t, cmd.Start())
		before, err := m.Size(t.Context())
		must(t, err)
		for size := before; size < before+4<<20 && err == nil; {
			size, err = m.Size(t.Context())
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		end := mustAppend(t, m, []byte(`{"after":true}`)) // the lock died with its holder
		r := drain(t, m, c)
		wantState(t, r.Answer, stream.Blocked)
		if n := len(r.texts); n < 2 || r.texts[n-1] != `{"after":true}` || r.positions[len(r.positions)-1] != end.Position {
			t.Fatalf("read %d values", n)
		}
		for _, text := range r.texts[:len(r.texts)-1] {
			if len(text) != 200<<10+10 {
				t.Fatalf("a value of %d bytes", len(text))
			}
		}
		read, torn, c = read+len(r.texts), torn+len(r.damaged), r.Cursor
		if len(r.damaged) > 1 {
			t.Fatalf("one kill spoiled %d lines", len(r.damaged))
		}
	}
	t.Logf("%d values read, %d torn", read, torn)
}

// fillUp appends until there is no more room, and checks what full means.
func fillUp(t *testing.T, m *stream.File) {
	value := []byte(`{"pad":"` + strings.Repeat("x", 3000) + `"}`)
	c := mustMint(t, m, stream.Oldest)
	for n := range 10000 {
		_, err := m.Append(t.Context(), stream.How{Sync: n%2 == 0}, value)
		if err == nil {
			continue
		}
		if !errors.Is(err, stream.ErrFull) || errors.Is(err, stream.ErrTransport) || !strings.Contains(err.Error(), m.Path()) {
			t.Fatalf("append %d: %v", n, err)
		}
		r := drain(t, m, c)
		wantState(t, r.Answer, stream.Blocked)
		if len(r.texts) != n || n == 0 {
			t.Fatalf("%d values are there of %d", len(r.texts), n)
		}
		return
	}
	t.Fatal("it was never full")
}

func limitFileSize(t *testing.T, most uint64) {
	t.Helper()
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most}))
}

func TestFullByTheLimitOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts.jsonl")
	if out, err := process(t, "limited", path, 64<<10).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// With room again, what was left unfinished spoils only itself.
	m := openPath(t, path, stream.FileOptions{})
	mustAppend(t, m, object(1))
	r := everything(t, m)
	if n := len(r.texts); n < 10 || r.texts[n-1] != `{"n":1}` || len(r.damaged) != 1 {
		t.Fatalf("read %d values, damaged %q", n, r.damaged)
	}
}

// withUmask runs fn under a umask.
func withUmask(t *testing.T, mask int, fn func()) {
	t.Helper()
	before := unix.Umask(mask)
	defer unix.Umask(before)
	fn()
}
