package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

func newDemoCmd(app *App) *cobra.Command {
	keep := false
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupAnyone,
		Short:   "Play a whole life of a lease in ten seconds, explained as it happens",
		Long: `demo makes a composition in a temporary folder, runs a judge on it, and lets two holders want the same thing.
One of them dies. Everything that is shown is done by the commands that it names.`,
		Example: `  daolease demo
  daolease demo --keep    # leave the folder for a look at the files`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), app, keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the folder where it is")
	return cmd
}

// demo is one performance: its folder, and what writes to the stage.
type demo struct {
	app *App
	dir string

	mu sync.Mutex // of the output: the judge speaks between the lines
}

// demoConfig is short spans, so that a life takes seconds.
const demoConfig = `# A lease on anything, for five seconds unless renewed.
cadence: 200ms
tolerance: 200ms
subjects:
  - match: "*"
    duration: 5s
    reclaim: [hooks/free]
`

// demoHook stands for what takes a resource back.
const demoHook = `#!/bin/sh
echo "taking \"$DAOLEASE_SUBJECT\" back from $DAOLEASE_HOLDER, because of $DAOLEASE_CAUSE"
`

// demoBound is how long any one act may take before the performance is broken off.
const demoBound = 30 * time.Second

func runDemo(ctx context.Context, app *App, keep bool) (err error) {
	ctx, stopHearing := interruptible(ctx)
	defer stopHearing()
	defer func() { err = orSignal(ctx, err) }()
	dir, err := os.MkdirTemp("", "daolease-demo-")
	if err != nil {
		return err
	}
	d := &demo{app: app, dir: dir}
	if keep {
		defer d.tell("The folder stays: %s", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := d.build(); err != nil {
		return err
	}
	d.tell("A composition: a folder with a configuration, a hook, and a folder for each holder.")
	d.tell("Its judge runs beside the resource. It is the only one who takes anything back.")
	stop, err := d.judge(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return d.play(ctx)
}

// build makes the composition.
func (d *demo) build() error {
	for _, name := range []string{"hooks", "holders", "grantor"} {
		if err := d.app.makeFolder(filepath.Join(d.dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := d.app.replaceFile(filepath.Join(d.dir, "hooks", "free"), []byte(demoHook), 0o755); err != nil {
		return err
	}
	return d.app.replaceFile(configFile(d.dir), []byte(demoConfig), 0o644)
}

// play is the story.
func (d *demo) play(ctx context.Context) error {
	d.tell("alice asks for the build machine. The judge grants it: a lease of five seconds.")
	lease, err := d.run(ctx, 0, "--as", "alice", "propose", "build-machine")
	if err != nil {
		return err
	}
	d.tell("She proves that she is alive by renewing, well before the five seconds are over.")
	for range 3 {
		if err := d.pause(ctx, 600*time.Millisecond); err != nil {
			return err
		}
		if _, err := d.run(ctx, 0, "--as", "alice", "renew"); err != nil {
			return err
		}
	}
	d.tell("bob wants it too. There is one slot, so he is told who is in the way.")
	if _, err := d.run(ctx, exitRefused, "--as", "bob", "propose", "build-machine"); err != nil {
		return err
	}
	if _, err := d.run(ctx, 0, "inspect"); err != nil {
		return err
	}
	d.tell("bob waits. alice is killed. Nobody is told: from now on there is only silence.")
	d.tell("Five seconds and the tolerance later the judge concludes, runs the hook, and only then records lapsed.")
	next, err := d.run(ctx, 0, "--as", "bob", "propose", "build-machine", "--wait", "20s")
	if err != nil {
		return err
	}
	d.tell("bob holds it now. alice, should she wake up, is told what has become of her lease.")
	if _, err := d.run(ctx, exitNothingHeld, "--as", "alice", "renew", strings.TrimSpace(lease)); err != nil {
		return err
	}
	d.tell("bob is done and gives it back. That too is recorded only after the hook has run.")
	if _, err := d.run(ctx, 0, "--as", "bob", "release", strings.TrimSpace(next), "--wait", "10s"); err != nil {
		return err
	}
	d.tell("Every fact is a line in a file. This is all of them, and who wrote each:")
	_, err = d.run(ctx, 0, "log")
	return err
}

// judge starts the judge as a process of its own.
func (d *demo) judge(ctx context.Context) (stop func() error, err error) {
	d.show("$ daolease judge &\n")
	cmd := d.command(ctx, "judge")
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ready, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		d.relay(out, ready)
	}()
	select {
	case <-ready:
	case <-over:
		return nil, fail(exitFailure, "", "the judge did not start: %w", cmd.Wait())
	case <-time.After(demoBound):
		_ = cmd.Process.Kill()
		return nil, fail(exitFailure, "", "the judge did not start within %v", demoBound)
	}
	return func() error {
		_ = cmd.Process.Signal(os.Interrupt)
		<-over
		return cmd.Wait()
	}, nil
}

// relay shows what the judge says, and tells when it has said the first word.
func (d *demo) relay(out io.Reader, ready chan<- struct{}) {
	lines := bufio.NewReader(out)
	for first := true; ; first = false {
		line, err := lines.ReadString('\n')
		if line != "" {
			d.show("    " + strings.TrimPrefix(line, "daolease: "))
		}
		if err != nil {
			return
		}
		if first {
			close(ready)
		}
	}
}

// command is a command of this program on the stage, free of what the caller's environment says of other leases.
// A signal that breaks the demo off interrupts it.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.app.Program, append([]string{"-C", d.dir}, args...)...)
	cmd.Env = slices.DeleteFunc(d.app.Environ(), func(v string) bool { return strings.HasPrefix(v, "DAOLEASE_") })
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = demoBound
	return cmd
}

// run runs a command of the story, and shows it with what it prints. Another exit code than the story's
// breaks it off.
func (d *demo) run(ctx context.Context, want int, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, demoBound)
	defer cancel()
	d.show("$ daolease " + strings.Join(args, " ") + "\n")
	var stdout bytes.Buffer
	var both sharedBuffer
	cmd := d.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, &both), &both
	err := cmd.Run()
	d.show(string(both.text))
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		return "", err
	}
	if code != want {
		return "", fail(exitFailure, "on a machine so busy that a command takes seconds a lease of the demo lapses too early: run it again", "the demo expected exit %d of daolease %s, and got %d", want, strings.Join(args, " "), code)
	}
	if want != 0 {
		d.show(fmt.Sprintf("(exit %d)\n", want))
	}
	return stdout.String(), nil
}

func (d *demo) pause(ctx context.Context, span time.Duration) error {
	select {
	case <-time.After(span):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sharedBuffer takes what a command writes to stdout and to stderr, each copied by a goroutine of its own.
type sharedBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

// tell explains what comes next.
func (d *demo) tell(format string, args ...any) { d.show("\n# " + fmt.Sprintf(format, args...) + "\n") }

func (d *demo) show(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.app.print([]byte(text))
}
