//go:build unix

package stream_test

import (
	"bytes"
	"errors"
	"fmt"
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

func TestProcessesAppendAtOnce(t *testing.T) {
	const writers, each = 4, 300
	path := filepath.Join(t.TempDir(), "facts.jsonl")
	m := openPath(t, path, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	outputs := make([]bytes.Buffer, writers)
	done := make(chan error, writers)
	for i := range writers {
		cmd := process(t, "writer", path, each)
		cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
		must(t, cmd.Start())
		go func() { done <- cmd.Wait() }()
	}
	next := map[int]int{}
	total, running := 0, writers
	for running > 0 || total < writers*each {
		select {
		case err := <-done:
			running--
			if err != nil {
				t.Fatalf("a writer: %v\n%s%s%s%s", err, &outputs[0], &outputs[1], &outputs[2], &outputs[3])
			}
		default:
		}
		ended := running == 0
		r := read(t.Context(), m, c, stream.Budget{})
		if r.State != stream.Blocked || len(r.damaged) > 0 {
			t.Fatalf("%v (%v), damaged %q", r.State, r.Err, r.damaged)
		}
		for _, text := range r.texts {
			var writer, n int
			if _, err := fmt.Sscanf(text, `{"writer":%d,"n":%d}`, &writer, &n); err != nil || next[writer] != n {
				t.Fatalf("read %q, want value %d of it", text, next[writer])
			}
			next[writer]++
		}
		total += len(r.texts)
		if ended && len(r.texts) == 0 && total < writers*each {
			t.Fatalf("%d values of %d were read", total, writers*each)
		}
		c = r.Cursor
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
