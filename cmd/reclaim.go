package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/hooks"
	"github.com/daolease/daolease/pkg/judge"
)

// procedures runs reclaim hooks beside the passes of a judge (SPEC 10). The judge decides what starts, and in
// which order; here each procedure is one goroutine that claims its subject, runs and reports.
type procedures struct {
	comp *Composition
	say  func(format string, args ...any)
	news func(format string, args ...any) // says what goes as it should
	kill context.Context                  // ends: every group is killed

	ended chan struct{} // holds one when a procedure has reported
	wait  time.Duration // the most that one pass waits in all; negative: until all have reported
	until <-chan time.Time
	fresh []*procedure // those that this pass has started

	stopped chan struct{} // closed: nothing new starts

	mu      sync.Mutex
	config  *Config
	running map[string]*procedure // by lease
	hands   map[string]bool       // leases that were taken back by hand, until their lapsed is recorded
}

// procedure is one that was started for a lease.
type procedure struct {
	stop context.CancelFunc
	done bool
	err  error
}

func newProcedures(ctx context.Context, c *Composition, t *teller) *procedures {
	p := &procedures{
		comp: c, say: t.say, news: t.news, kill: ctx, config: c.Config, wait: c.Config.passWait(),
		ended: make(chan struct{}, 1), stopped: make(chan struct{}), running: map[string]*procedure{}, hands: map[string]bool{},
	}
	t.byHand = p.byHand
	return p
}

// Begin implements judge.Waiter: a pass's time for waiting begins.
func (p *procedures) Begin() {
	p.until, p.fresh = nil, nil
	if p.wait >= 0 {
		p.until = time.After(p.wait)
	}
}

// Wait implements judge.Waiter. A pass with a bound waits for what it has started itself, so that a procedure
// which outlasts one pass does not hold up the others; its end is a reason to pass again.
func (p *procedures) Wait(ctx context.Context) bool {
	if p.isStopping() && p.busy() == 0 {
		return false // what is left was never started
	}
	select {
	case <-p.ended:
		return true
	default:
	}
	if p.wait >= 0 && !slices.ContainsFunc(p.fresh, p.goesOn) {
		return false
	}
	select {
	case <-p.ended:
		return true
	case <-p.until:
		return false
	case <-ctx.Done():
		return false
	}
}

func (p *procedures) goesOn(one *procedure) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !one.done
}

// Reclaim implements judge.Reclaimer: it starts the procedure of a lease, or tells how far it has come.
func (p *procedures) Reclaim(_ context.Context, t judge.Task) (judge.Progress, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.ByHand {
		p.hands[t.Lease] = true
	}
	if running := p.running[t.Lease]; running != nil {
		if !running.done {
			if t.ByHand {
				running.stop()
			}
			return judge.Running, nil
		}
		delete(p.running, t.Lease)
		if running.err != nil && !t.ByHand {
			return judge.Failed, running.err
		}
		return judge.Done, nil
	}
	if p.isStopping() {
		return judge.Running, nil
	}
	return p.start(t)
}

// start begins a procedure. What needs none is done at once.
func (p *procedures) start(t judge.Task) (judge.Progress, error) {
	rule, found := p.config.rule(t.Subject)
	switch {
	case !found && !t.ByHand:
		return judge.Failed, fmt.Errorf("no entry of subjects in %s matches %q", configFile(p.comp.Dir), shortened(t.Subject.Text()))
	case (t.ByHand || len(rule.Command) == 0) && !p.ranBefore(t):
		return judge.Done, nil
	}
	ctx, stop := context.WithCancel(p.kill)
	running := &procedure{stop: stop}
	p.running[t.Lease] = running
	p.fresh = append(p.fresh, running)
	go func() {
		err := p.run(ctx, t, rule)
		stop()
		p.mu.Lock()
		running.done, running.err = true, err
		p.mu.Unlock()
		select {
		case p.ended <- struct{}{}:
		default:
		}
	}()
	return judge.Running, nil
}

// ranBefore says that a procedure of a former judge may still be about: its run file is there.
func (p *procedures) ranBefore(t judge.Task) bool {
	_, err := os.Lstat(filepath.Join(p.comp.runDir(), hooks.RunName(t.Subject.Text())))
	return err == nil
}

// run takes the subject and runs its hook. A group of a former judge that is still alive is waited for until
// its deadline, when it is killed.
func (p *procedures) run(ctx context.Context, t judge.Task, rule *SubjectRule) error {
	subject, id := t.Subject.Text(), p.comp.identity(rule)
	if t.ByHand {
		_, err := hooks.KillGroup(p.comp.runDir(), subject, id)
		return err
	}
	claim, err := p.claim(ctx, t, id)
	if err != nil {
		return err
	}
	p.escaped(t, claim.Escaped)
	if len(rule.Command) == 0 {
		claim.Release(true)
		return nil
	}
	result := claim.Run(ctx, p.procedure(t, rule), nil)
	claim.Release(result.Err == nil)
	p.escaped(t, result.Escaped)
	if result.Output != "" {
		say := p.say
		if result.Err == nil {
			say = p.news
		}
		say("lease %s: its procedure said: %s", t.Lease, result.Output)
	}
	return result.Err
}

// claim waits for a subject on which a former judge's procedure still runs.
func (p *procedures) claim(ctx context.Context, t judge.Task, id hooks.Identity) (*hooks.Claim, error) {
	const patience = time.Second
	for said := false; ; {
		claim, err := hooks.Take(p.comp.runDir(), t.Subject.Text(), id)
		var busy *hooks.BusyError
		if !errors.As(err, &busy) {
			return claim, err
		}
		if !said {
			p.say("lease %s waits: %v", t.Lease, busy)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, busy
		case <-time.After(max(min(busy.Left, patience), patience/20)):
		}
	}
}

func (p *procedures) escaped(t judge.Task, pids []int) {
	if len(pids) > 0 {
		p.say("lease %s: processes %v left the group of its procedure; they bar nothing, and may still act on %q", t.Lease, pids, shortened(t.Subject.Text()))
	}
}

// procedure is the hook of a lease with everything it is told.
func (p *procedures) procedure(t judge.Task, rule *SubjectRule) hooks.Procedure {
	vars := map[string]string{
		"DAOLEASE_LEASE": t.Lease, "DAOLEASE_SUBJECT": t.Subject.Text(), "DAOLEASE_HOLDER": t.Holder,
		"DAOLEASE_CAUSE": string(t.Cause), "DAOLEASE_REASON": t.Reason, "DAOLEASE_TOKEN": "",
		"DAOLEASE_ATTEMPT":     strconv.Itoa(t.Attempt),
		"DAOLEASE_INCARNATION": strconv.FormatUint(t.Incarnation, 10), "DAOLEASE_DIR": p.comp.Dir,
	}
	if t.Token > 0 {
		vars["DAOLEASE_TOKEN"] = strconv.FormatInt(t.Token, 10)
	}
	env, dropped := hooks.CleanEnv(vars, p.comp.app.Env)
	if len(dropped) > 0 {
		p.say("lease %s: %v cannot be handed over in the environment; the procedure finds it on stdin", t.Lease, dropped)
	}
	entry := struct {
		judge.Row
		Attempt     int    `json:"attempt"`
		Incarnation uint64 `json:"incarnation"`
		Cause       string `json:"cause"`
		Reason      string `json:"reason,omitempty"`
	}{t.Row, t.Attempt, t.Incarnation, string(t.Cause), t.Reason}
	stdin, err := json.Marshal(entry)
	if err != nil {
		stdin = nil // nothing in a row is beyond JSON
	}
	return hooks.Procedure{Argv: rule.Command, Dir: p.comp.Dir, Env: env, Stdin: append(stdin, '\n'), Timeout: rule.Timeout}
}

// identity is the boot and clock in which a procedure's deadline is noted.
func (c *Composition) identity(rule *SubjectRule) hooks.Identity {
	id := hooks.Identity{Boot: c.app.Clock.BootID(), Now: c.app.Clock.Running}
	if rule != nil {
		id.Timeout = rule.Timeout
	}
	return id
}

// stop has nothing new started from now on. The goroutine that calls it does so alone.
func (p *procedures) stop() {
	if !p.isStopping() {
		close(p.stopped)
	}
}

func (p *procedures) isStopping() bool {
	select {
	case <-p.stopped:
		return true
	default:
		return false
	}
}

// busy counts the procedures that have not reported.
func (p *procedures) busy() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	for _, r := range p.running {
		if !r.done {
			count++
		}
	}
	return count
}

// anySucceeded says that a procedure has ended well, of which the judge has not been told yet.
func (p *procedures) anySucceeded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.running {
		if r.done && r.err == nil {
			return true
		}
	}
	return false
}

// use takes another configuration over; what runs keeps its argv and timeout.
func (p *procedures) use(config *Config) {
	p.mu.Lock()
	p.config = config
	p.mu.Unlock()
	if p.wait >= 0 {
		p.wait = config.passWait()
	}
}

// passWait is the most that one pass waits for its procedures: as configured, and never so long that the next
// pass could not begin within the cadence.
func (c *Config) passWait() time.Duration { return min(c.Reclaim.Wait, c.Cadence/2) }
