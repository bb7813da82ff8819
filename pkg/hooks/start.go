package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// busyTries is how often a program is started that somebody has open for writing: another process of ours that
// was just forked may hold a descriptor of a file that was just written.
const busyTries = 10

// start starts a procedure in a group of its own, with the run file inherited.
func start(ctx context.Context, p Procedure, run *os.File, out *output) (*exec.Cmd, error) {
	if len(p.Argv) == 0 {
		return nil, errors.New("no program to run")
	}
	path, err := LookPath(p.Argv[0])
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		cmd := command(path, p, run, out)
		err := cmd.Start()
		if err == nil {
			return cmd, nil
		}
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries || ctx.Err() != nil {
			return nil, startError(p, path, err)
		}
		<-time.After(time.Duration(try) * 2 * pollEvery)
	}
}

// command is the procedure as os/exec wants it. Path is left relative: the system resolves it in Dir.
func command(path string, p Procedure, run *os.File, out *output) *exec.Cmd {
	cmd := &exec.Cmd{Path: path, Args: p.Argv, Dir: p.Dir, Env: p.Env}
	cmd.Stdin = bytes.NewReader(p.Stdin)
	cmd.Stdout, cmd.Stderr = out, out // one pipe, so that the order is kept
	cmd.WaitDelay = pipeBound
	inGroup(cmd, run)
	return cmd
}

// startError says why a program did not start, in the words of whoever wrote the configuration.
func startError(p Procedure, path string, err error) error {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(p.Dir, path)
	}
	_, missing := os.Stat(full)
	switch {
	case p.Dir != "" && !isFolder(p.Dir):
		return fmt.Errorf("not started: no folder %q", p.Dir)
	case errors.Is(missing, fs.ErrNotExist):
		return fmt.Errorf("not started: %q is missing", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("not started: the interpreter that %q names is missing", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("not started: %q is not executable", path)
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // "exec format error", without the call's name
	}
	return fmt.Errorf("not started: %q: %w", path, err)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
