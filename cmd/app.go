package cmd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// App is the only door to the world: streams, environment, working folder, clocks, users. A test makes its
// own; Main makes the real one.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
	Environ  func() []string
	Cwd      func() (string, error)
	Hostname func() (string, error)
	Clock    Clock
	Zone     *time.Location // in which the time of day is printed, for people only
	Users    userNames
	UID      int    // the effective user, or -1 where the system has no such numbers
	Program  string // how to call this program again, in remedies

	OutIsTerminal, ErrIsTerminal bool
	Size                         func() (width, height int) // of the terminal; zeros where there is none
	Unread                       func(context.Context) bool // waits until nobody can read stdout any more

	args     []string     // of this run
	dirFlag  string       // -C
	asFlag   string       // --as
	log      slog.Handler // what is said goes here instead of to stderr as text; nil: as text
	progress *progress    // the line on stderr that is drawn over; nil: none
}

// Main runs the process's own arguments and answers its exit code (SPEC 9).
//
// Descriptors 0 to 2 that are closed need no care: Go's runtime opens /dev/null on them before anything else is
// opened. Nor can they be told from one that was given: each has a description of its own, open for reading and
// writing, as also Python's subprocess.DEVNULL and Node's stdio 'ignore' make it, and to call those closed would be
// worse.
func Main() int {
	deepened(0)
	return newApp().Run(context.Background(), os.Args[1:])
}

// deepened has the stack of its caller be as deep as a command needs it. Grown by doubling it would be copied time and
// again in the midst of a call, and to copy it Go looks up every function that is active: a command that is over in
// milliseconds would spend a good part of a millisecond, and half a megabyte, on that.
//
//go:noinline
func deepened(by int) int {
	if by == 0 {
		return 0 // the room is not used: that the function could is what counts
	}
	var room [17 << 10]byte
	for i := range room {
		room[i] = byte(by)
	}
	return int(room[by])
}

func newApp() *App {
	program, err := os.Executable()
	if err != nil {
		program = "daolease"
	}
	return &App{
		In: os.Stdin, Out: outlet(os.Stdout), Err: outlet(os.Stderr),
		Env: os.Getenv, Environ: os.Environ, Cwd: os.Getwd, Hostname: os.Hostname,
		Clock: newOneBoot(systemClock{}), Zone: time.Local, Users: systemUsers(), UID: os.Geteuid(), Program: program,
		OutIsTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrIsTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Size:          terminalSize,
		Unread:        func(ctx context.Context) bool { return unread(ctx, os.Stdout) },
	}
}

func terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// styled says that colours and the cursor may be used on stdout (SPEC 9).
func (a *App) styled() bool {
	kind := a.Env("TERM")
	return a.OutIsTerminal && a.Env("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// whileRead ends a context when nobody can read stdout any more, which a command that writes seldom would not
// notice. The cause is then what a write would have answered.
func (a *App) whileRead(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if a.Unread != nil {
		go func() {
			if a.Unread(ctx) {
				cancel(&stdoutError{syscall.EPIPE})
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// endOfOutput is the error with which such a command ends: none at a signal, which is how it is told to end.
func endOfOutput(ctx context.Context) error {
	if gone := new(stdoutError); errors.As(context.Cause(ctx), &gone) {
		return gone
	}
	return nil
}

// Run executes one command line on a fresh tree of commands and answers its exit code. Every error that any
// of them returned is printed here, once.
func (a *App) Run(ctx context.Context, args []string) int {
	run := *a // the flags and the output's fate belong to this run alone
	out := &watchedWriter{w: a.Out}
	run.Out, run.args = out, append([]string{}, args...)
	err := run.execute(ctx, newTreeFor(&run, run.args))
	if err == nil {
		err = out.failure()
	}
	defer run.fallSilent()
	return run.report(err)
}

// execute runs the command of a tree that the arguments name.
func (a *App) execute(ctx context.Context, root *cobra.Command) error {
	entered := markEntered(root)
	root.SetArgs(a.args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !*entered {
		return asUsage(root, cmd, err)
	}
	return err
}

// print writes data to stdout in one write.
func (a *App) print(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	_, err := a.Out.Write(data)
	return err
}

// watchedWriter remembers the first failure of stdout, also where a library that wrote did not look.
type watchedWriter struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// stdoutError is a failed write to stdout.
type stdoutError struct{ err error }

func (e *stdoutError) Error() string { return "writing to stdout: " + e.err.Error() }
func (e *stdoutError) Unwrap() error { return e.err }

// gone says that nobody reads any more, which is no failure worth a word.
func (e *stdoutError) gone() bool {
	return errors.Is(e.err, syscall.EPIPE) || errors.Is(e.err, io.ErrClosedPipe)
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	if err != nil {
		w.err = &stdoutError{err}
	}
	return n, w.err
}

func (w *watchedWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
