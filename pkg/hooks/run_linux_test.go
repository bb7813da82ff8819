package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRunSucceeds(t *testing.T) {
	var told []Result
	c := take(t, t.TempDir(), "s", here())
	defer c.Release(true)
	r := c.Run(t.Context(), script(t.TempDir(), patience, "echo out; echo err >&2; echo out"), func(r Result) { told = append(told, r) })
	if r.Err != nil || r.Output != "out\nerr\nout\n" || len(r.Escaped) != 0 {
		t.Errorf("%+v", r)
	}
	if len(told) != 1 || told[0].Output != r.Output {
		t.Errorf("reported %+v, want the result once", told)
	}
}

func TestRunFails(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		argv []string
		dir  string
		want string
	}{
		{[]string{"sh", "-c", "exit 3"}, dir, "exit 3"},
		{[]string{"sh", "-c", "kill -KILL $$"}, dir, "killed by signal 9 (killed)"},
		{[]string{"sh", "-c", "kill -TERM $$"}, dir, "killed by signal 15 (terminated)"},
		{[]string{"./none"}, dir, `"./none" is missing`},
		{[]string{dir + "/none"}, dir, "is missing"},
		{[]string{"no-such-program-anywhere"}, dir, "no program"},
		{[]string{file("plain", "#!/bin/sh\n", 0o600)}, dir, "is not executable"},
		{[]string{dir}, dir, "is not executable"},
		{[]string{file("junk", "no program", 0o700)}, dir, "exec format error"},
		{[]string{file("lost", "#!/none/sh\n", 0o700)}, dir, "the interpreter"},
		{[]string{"sh", "-c", ":"}, dir + "/none", "no folder"},
		{[]string{"sh", "a\x00b"}, dir, "not started"},
		{nil, dir, "no program"},
	} {
		r := run(t, Procedure{Argv: c.argv, Dir: c.dir, Timeout: patience})
		if r.Err == nil || !strings.Contains(r.Err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.argv, r.Err, c.want)
		}
	}
}

func TestRunIsRelativeToItsFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/hooks", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/hooks/free", []byte("#!/bin/sh\npwd; echo \"$0\" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := run(t, Procedure{Argv: []string{"hooks/free", "a b", "$(id)", ";"}, Dir: dir, Timeout: patience})
	if r.Err != nil || r.Output != dir+"\nhooks/free a b $(id) ;\n" {
		t.Errorf("%v, %q", r.Err, r.Output)
	}
}

func TestRunTimesOut(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hangs":        "echo $$ >pids; exec sleep 1000",
		"grandchild":   "sleep 1000 & echo $$ $! >pids; sleep 1000",
		"ignores TERM": "trap '' TERM; sleep 1000 & echo $$ $! >pids; while :; do sleep 1; done",
		"stopped":      "echo $$ >pids; kill -STOP $$",
	} {
		began := time.Now()
		r := run(t, script(dir, 300*time.Millisecond, text))
		wantErr(t, r.Err, "timed out after 300ms")
		wantGone(t, pidsIn(t, dir+"/pids")...)
		if took := time.Since(began); took < 300*time.Millisecond || took > patience {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func TestRunTimeoutAsksFirst(t *testing.T) {
	for _, text := range []string{"sleep 1000 & wait", "kill -STOP $$; sleep 1000 & wait"} {
		p := script(t.TempDir(), 300*time.Millisecond, "trap 'echo asked; exit 0' TERM; "+text)
		p.Grace = patience / 4
		r := run(t, p)
		wantErr(t, r.Err, "timed out")
		if r.Output != "asked\n" {
			t.Errorf("%q: output %q, want what TERM made it print", text, r.Output)
		}
	}
}

func TestRunIsStopped(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		defer cancel(errors.New("second signal"))
		for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(pollEvery) {
			if _, err := os.Stat(dir + "/up"); err == nil {
				return
			}
		}
	}()
	c := take(t, dir, "s", here())
	defer c.Release(true)
	r := c.Run(ctx, script(dir, time.Hour, "trap '' TERM; sleep 1000 & echo $$ $! >pids; >up; wait"), nil)
	wantErr(t, r.Err, "stopped: second signal")
	wantGone(t, pidsIn(t, dir+"/pids")...)
	again := c.Run(ctx, script(dir, time.Hour, ">again"), nil)
	wantErr(t, again.Err, "not run: second signal")
	if _, err := os.Stat(dir + "/again"); err == nil {
		t.Error("a procedure was started after the end")
	}
}

func TestRunKillsWhatItsLeaderLeft(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	r := run(t, script(dir, time.Hour, "sleep 1000 & echo $! >pids"))
	if r.Err != nil || time.Since(began) > patience {
		t.Errorf("%v after %v: a grandchild that holds the output made it wait", r.Err, time.Since(began))
	}
	wantGone(t, pidsIn(t, dir+"/pids")...)
}

func TestRunPrintsWithoutEnd(t *testing.T) {
	p := script(t.TempDir(), 300*time.Millisecond, "exec yes")
	r := run(t, p)
	wantErr(t, r.Err, "timed out")
	if len(r.Output) > DefaultMaxOutput+100 || !strings.Contains(r.Output, "bytes cut]") {
		t.Errorf("kept %d bytes, cut said: %v", len(r.Output), strings.Contains(r.Output, "bytes cut]"))
	}
	p = script(t.TempDir(), patience, "head -c 3000000 /dev/zero; echo; echo end")
	p.MaxOutput = 100
	if r = run(t, p); r.Err != nil || !strings.HasSuffix(r.Output, "\nend\n") {
		t.Errorf("%v, %q: was it blocked?", r.Err, r.Output)
	}
}

func TestRunInput(t *testing.T) {
	big := []byte(strings.Repeat("x", 1<<20))
	for _, c := range []struct{ text, want string }{
		{"wc -c", "1048576\n"},
		{"", ""},
		{"exec 0<&-; echo deaf", "deaf\n"},
		{"head -c 1", "x"},
	} {
		p := script(t.TempDir(), patience, c.text)
		p.Stdin = big
		if r := run(t, p); r.Err != nil || strings.TrimLeft(r.Output, " ") != c.want {
			t.Errorf("%q: %v, %q, want %q", c.text, r.Err, r.Output, c.want)
		}
	}
	if r := shell(t, "cat; echo end"); r.Err != nil || r.Output != "end\n" {
		t.Errorf("without input: %+v", r)
	}
}

func TestRunEnvironmentIsExact(t *testing.T) {
	t.Setenv("HOOKS_OUTSIDE", "leaks")
	for _, env := range [][]string{{"A=1", "B=two words", "C=$(id)\nD=forged"}, {}, nil} {
		r := run(t, Procedure{Argv: []string{"env", "-0"}, Dir: t.TempDir(), Env: env, Timeout: patience})
		got := strings.FieldsFunc(r.Output, func(c rune) bool { return c == 0 })
		if r.Err != nil || !slices.Equal(got, env) && len(got)+len(env) != 0 {
			t.Errorf("%v, environment %q, want %q", r.Err, got, env)
		}
	}
}

func TestRunCarriesTheLargestSubject(t *testing.T) {
	for _, size := range []int{maxVariable - len("DAOLEASE_SUBJECT=") - 1, maxVariable} {
		env, dropped := CleanEnv(map[string]string{"DAOLEASE_SUBJECT": strings.Repeat("s", size)}, nothing)
		p := script(t.TempDir(), patience, "printf %s \"$DAOLEASE_SUBJECT\" | wc -c")
		p.Env = env
		want := size
		if len(dropped) > 0 {
			want = 0
		}
		if r := run(t, p); r.Err != nil || strings.TrimSpace(r.Output) != itoa(want) {
			t.Errorf("size %d: %v, %q, want %d", size, r.Err, r.Output, want)
		}
	}
}

func TestRunNothingOfASubject(t *testing.T) {
	dir := t.TempDir()
	subject := "$(touch pwned) `touch pwned`; touch pwned\n'\"; touch ../pwned # ../../x /\x7f"
	c := take(t, dir, subject, here())
	defer c.Release(true)
	p := script(dir, patience, `printf %s "$DAOLEASE_SUBJECT"`)
	p.Env, _ = CleanEnv(map[string]string{"DAOLEASE_SUBJECT": subject}, nothing)
	if r := c.Run(t.Context(), p, nil); r.Err != nil || r.Output != subject {
		t.Errorf("%v, %q", r.Err, r.Output)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != RunName(subject) {
		t.Errorf("%v, %v: want the run file and the lock", entries, err)
	}
}

func TestRunHandsOnTheRunFileAlone(t *testing.T) {
	dir := t.TempDir()
	ours, err := os.Create(filepath.Join(dir, "ours"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close() }()
	c := take(t, dir, "s", here())
	defer c.Release(true)
	r := c.Run(t.Context(), script(dir, patience, "ls /proc/$$/fd; readlink /proc/$$/fd/3"), nil)
	want := []string{"0", "1", "2", "3", filepath.Join(dir, RunName("s"))}
	got := strings.Fields(r.Output)
	got = slices.DeleteFunc(got, func(fd string) bool { // what this process was itself started with is not ours
		n, err := strconv.Atoi(fd)
		return err == nil && n > 3 && survivesExec("/proc/self/fdinfo/"+fd)
	})
	if r.Err != nil || !sameSet(got, want) {
		t.Errorf("%v, descriptors %q, want %q", r.Err, got, want)
	}
}

func TestRunSaysWhoEscaped(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"quiet": ">/dev/null 2>&1", "holds the output": ""} {
		text := "rm -f pids; setsid sh -c 'echo $$ >pids; exec sleep 1000' " + to + " & until [ -s pids ]; do sleep 0.01; done"
		c := take(t, dir, "s", here())
		began := time.Now()
		r := c.Run(t.Context(), script(dir, time.Hour, text), nil)
		if took := time.Since(began); took > patience {
			t.Errorf("%s: it made the run take %v", name, took)
		}
		pids := pidsIn(t, dir+"/pids")
		killLater(t, pids...)
		if r.Err != nil || !slices.Equal(r.Escaped, pids) {
			t.Errorf("%s: %v, escaped %v, want %v", name, r.Err, r.Escaped, pids)
		}
		c.Release(false)
		again := take(t, dir, "s", here())
		if len(again.Escaped) != 0 {
			t.Errorf("%s: the lock went with %v", name, again.Escaped)
		}
		again.Release(true)
	}
}

func TestRunWaitsForAProgramBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := Procedure{Argv: []string{path}, Dir: "/", Timeout: patience}
	wantErr(t, run(t, p).Err, "not started", "text file busy")
	time.AfterFunc(20*time.Millisecond, func() { _ = writer.Close() })
	if r := run(t, p); r.Err != nil || r.Output != "ran\n" {
		t.Errorf("%+v", r)
	}
}
