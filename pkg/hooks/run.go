package hooks

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Run runs a procedure on the claimed subject and waits for it (SPEC 10). Success is exit 0. Past the timeout the
// group gets TERM and after the grace KILL; when ctx is cancelled it gets KILL at once; both are failures. When the
// leader has ended, the rest of its group is killed. reported, unless nil, is handed the result while the subject
// is still claimed. Runs on one claim follow each other.
func (c *Claim) Run(ctx context.Context, p Procedure, reported func(Result)) Result {
	result := c.run(ctx, p.withDefaults())
	if reported != nil {
		reported(result)
	}
	return result
}

func (c *Claim) run(ctx context.Context, p Procedure) Result {
	switch {
	case c.file == nil:
		return Result{Err: errors.New("not run: the claim was released")}
	case c.alive:
		return Result{Err: errors.New("not run: the procedure before has not died")}
	case ctx.Err() != nil:
		return Result{Err: fmt.Errorf("not run: %w", context.Cause(ctx))}
	}
	n := note{Boot: c.id.Boot, Deadline: c.id.Now() + (p.Timeout + p.Grace).Milliseconds()}
	// A note that cannot be written, on a full disk, keeps nobody from taking the resource back: those who have
	// the file open are the group then.
	_ = writeNote(c.file, n)
	out := newOutput(p.MaxOutput)
	cmd, err := start(ctx, p, c.file, out)
	if err != nil {
		_ = c.file.Truncate(0)
		return Result{Err: err}
	}
	n.Leader = cmd.Process.Pid
	n.Start, n.Session = identify(n.Leader)
	_ = writeNote(c.file, n)
	r := follow(cmd)
	err = c.finish(n, r.await(ctx, p))
	return Result{Err: err, Output: out.String(), Escaped: escapees(c.file, n.Leader)}
}

// finish confirms that nobody of the group is left and voids the note; else the claim stays the group's.
func (c *Claim) finish(n note, err error) error {
	left := awaitNone(deathBound, func() []int {
		group, _ := members(n)
		return group
	})
	if len(left) == 0 {
		_ = c.file.Truncate(0)
		return err
	}
	c.alive = true
	stuck := fmt.Errorf("processes of its group do not die: %s", pidWords(left))
	if err == nil {
		return stuck
	}
	return fmt.Errorf("%w; %w", err, stuck)
}

// running is a procedure that was started.
type running struct {
	cmd   *exec.Cmd
	over  chan struct{} // closed when the leader has ended and its group was killed
	ended chan error    // then what Wait answered, once everything is read

	mu     sync.Mutex
	reaped bool // the leader's pid may be another process's: no signal goes to the group any more
}

// follow begins to wait for a started procedure.
func follow(cmd *exec.Cmd) *running {
	r := &running{cmd: cmd, over: make(chan struct{}), ended: make(chan error, 1)}
	go func() {
		awaitEnd(cmd)
		r.signal(syscall.SIGKILL)
		r.mu.Lock()
		r.reaped = true
		r.mu.Unlock()
		close(r.over)
		r.ended <- cmd.Wait()
	}()
	return r
}

// signal sends a signal to the group, as long as its id cannot be another's.
func (r *running) signal(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reaped {
		signalGroup(r.cmd.Process.Pid, sig)
	}
}

// await waits for the end, by itself, at the timeout or when ctx is cancelled, and answers what it came to.
func (r *running) await(ctx context.Context, p Procedure) error {
	timeout := time.NewTimer(p.Timeout)
	defer timeout.Stop()
	var why error
	select {
	case <-r.over:
		return r.verdict(<-r.ended)
	case <-ctx.Done():
		why = fmt.Errorf("stopped: %w", context.Cause(ctx))
	case <-timeout.C:
		why = fmt.Errorf("timed out after %v", p.Timeout)
		r.terminate(ctx, p.Grace)
	}
	r.signal(syscall.SIGKILL)
	select {
	case <-r.ended:
	case <-time.After(deathBound):
		// In uninterruptible sleep. The leader is reaped whenever it wakes; nobody waits for that here.
	}
	return why
}

// terminate asks the group to end and waits for its leader, at most the grace. CONT lets a stopped process hear it.
func (r *running) terminate(ctx context.Context, grace time.Duration) {
	r.signal(syscall.SIGTERM)
	r.signal(sigCont)
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-r.over:
	case <-ctx.Done():
	case <-over.C:
	}
}

// verdict reads the end of a leader that ended by itself. That its output stayed open, or that it did not read its
// standard input, is no failure.
func (r *running) verdict(err error) error {
	state := r.cmd.ProcessState
	switch {
	case state == nil:
		return fmt.Errorf("its end is unknown: %w", err)
	case state.Success():
		return nil
	case state.ExitCode() >= 0:
		return fmt.Errorf("exit %d", state.ExitCode())
	}
	if sig, ok := endSignal(state); ok {
		return fmt.Errorf("killed by signal %d (%v)", int(sig), sig)
	}
	return fmt.Errorf("ended: %v", state)
}
