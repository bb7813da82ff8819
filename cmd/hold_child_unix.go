//go:build unix

package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/daolease/daolease/pkg/hooks"
)

// child is the command that hold runs, with the group that it leads.
type child struct {
	pid     int
	group   hooks.Group
	changes chan change // closed after the change that ended it
	let     chan struct{}
	done    chan struct{} // closed once it is reaped
}

// change is what befell a child.
type change struct {
	ended   bool
	code    int            // as shells show it
	stopped syscall.Signal // by which signal, where it did not end
	err     error          // its end cannot be told
}

// startChild starts a command. It keeps descriptors 0 to 2 and nothing else of ours, in a group of its own, which
// gets the terminal (if not nil) before its first instruction.
//
// All of the child's life is the matter of one thread: a child that is to die with its parent dies with the thread
// that started it.
func startChild(path string, argv, env []string, tty *terminal) (*child, error) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	bindToParent(attr)
	if tty != nil {
		attr.Foreground, attr.Ctty = true, tty.fd()
	}
	c := &child{changes: make(chan change), let: make(chan struct{}), done: make(chan struct{})}
	started := make(chan error)
	go func() {
		defer close(c.done)
		runtime.LockOSThread() // and never unlocked, so that the thread ends with this
		how := &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}, Sys: attr}
		pid, _, err := syscall.StartProcess(path, argv, how)
		if errors.Is(err, syscall.ENOEXEC) { // a script without its first line is one for sh
			pid, _, err = syscall.StartProcess("/bin/sh", append([]string{"sh", path}, argv[1:]...), how)
		}
		if err == nil {
			c.pid, c.group = pid, hooks.GroupOf(pid)
		}
		started <- err
		if err == nil {
			c.attend()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// attend hands on what befalls the child until it has ended, and reaps it when it may.
func (c *child) attend() {
	for {
		it := awaitChange(c.pid)
		c.changes <- it
		if it.ended {
			close(c.changes)
			<-c.let
			reap(c.pid)
			return
		}
	}
}

// signal signals every process of the child's group. The child is not reaped before bury, so the group is its own.
func (c *child) signal(sig syscall.Signal) { _ = syscall.Kill(-c.pid, sig) }

// terminate asks the group to end. CONT lets a stopped process hear it.
func (c *child) terminate() {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
}

// left are the living processes of the group.
func (c *child) left() []int {
	left, _ := c.group.Members() // what cannot be looked at counts as alive
	return left
}

// bury gives the child's pid back. Only a child that has ended can be.
func (c *child) bury() {
	close(c.let)
	<-c.done
}

// escaped are the processes that left the group and go on, as far as can be told: they have the lease in their
// environment.
func (c *child) escaped(lease string) []int {
	left := c.left()
	// What --alive runs, and the judge's hooks, have the lease in their environment too.
	return slices.DeleteFunc(carriers("DAOLEASE_LEASE="+lease, probeMark, "DAOLEASE_ATTEMPT"), func(pid int) bool {
		return pid == c.pid || slices.Contains(left, pid)
	})
}

// shellPath is where programs are looked for where there is no PATH.
const shellPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// shellFinds finds a program as a shell does: 127 where there is none, 126 where it cannot be executed.
func shellFinds(app *App, word string) (string, error) {
	candidates := []string{word}
	if !strings.ContainsRune(word, '/') {
		candidates = nil
		path := app.Env("PATH")
		if path == "" {
			path = shellPath
		}
		for _, dir := range filepath.SplitList(path) {
			if dir == "" {
				dir = "."
			}
			candidates = append(candidates, dir+"/"+word)
		}
	}
	var unfit error
	for _, path := range candidates {
		switch fi, err := os.Stat(path); {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) {
				unfit = err
			}
		case fi.IsDir():
			unfit = fmt.Errorf("%s is a folder", path)
		case fi.Mode().Perm()&0o111 == 0:
			unfit = fmt.Errorf("%s may not be executed", path)
		default:
			return path, nil
		}
	}
	if unfit != nil {
		return "", fail(exitCannotExec, "", "%q cannot be run: %w", word, unfit)
	}
	return "", fail(exitNoCommand, "", "there is no program %q", word)
}

// startFailed is the exit of a program that was found and did not start.
func startFailed(word string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitNoCommand, "", "%q cannot be run: its interpreter is missing", word)
	}
	return fail(exitCannotExec, "", "%q cannot be run: %w", word, err)
}

// childEnv is the environment of this process with the variables of SPEC 9. One that the system cannot carry is left
// out.
func (s *side) childEnv(view leaseView) []string {
	own := map[string]string{"DAOLEASE_DIR": s.comp.Dir, "DAOLEASE_AS": s.name, "DAOLEASE_SUBJECT": view.Subject.Text()}
	own["DAOLEASE_LEASE"], own["DAOLEASE_TOKEN"] = view.id(), ""
	if view.Token != nil {
		own["DAOLEASE_TOKEN"] = strconv.FormatInt(*view.Token, 10)
	}
	var env []string
	for _, line := range s.app.Environ() {
		name, _, _ := strings.Cut(line, "=")
		if _, ours := own[name]; !ours {
			env = append(env, line)
		}
	}
	for _, name := range []string{"DAOLEASE_LEASE", "DAOLEASE_SUBJECT", "DAOLEASE_TOKEN", "DAOLEASE_DIR", "DAOLEASE_AS"} {
		if value := own[name]; value != "" && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	return env
}
