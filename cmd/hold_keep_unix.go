//go:build unix

package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// keeper keeps one lease around one command. Its loop is one goroutine, which looks at the clock and signals
// processes, and touches no file: renewals, probes and looks are goroutines that tell what came of them. So nothing
// that hangs can keep the bound from being kept (SPEC 9).
type keeper struct {
	*holdRun
	s    *side // for turns: one goroutine at a time
	view leaseView
	env  []string // the command's

	lease string
	drop  func(*turn) // gives the lease's lock back, once it was taken

	watch        *quest
	watching     context.Context
	stopWatching context.CancelFunc
	recorded     chan struct{} // closed: the grantor has recorded the lease's end
	news         chan func()   // what goroutines tell the loop

	child *child
	tty   *terminal

	// On the clock that counts time asleep, in ms.
	duration, grace, lead int64
	bound                 int64 // the lease's, from its basis or last renewal
	renewAt, retryAt      int64 // when the next renewal is due, and the next try after one that failed
	killAt                int64 // when the grace is over; 0: nobody was asked to end
	killed                int64 // when KILL was sent first; 0: not yet

	renewing, probing bool
	aliveAt           int64    // when the last probe that succeeded began
	seen              fileMark // of --progress, at the last renewal

	stop  bool   // this process was asked to stop, as a job
	ended bool   // the command has
	code  int    // and so
	lost  string // why the lease was lost; empty: it was not
	stuck bool   // processes of the command do not die
	said  string // the last complaint
}

func (k *keeper) now() int64 { return k.app.Clock.Boot() }

// patience is how long a group that got KILL is waited for. What outlasts it sleeps uninterruptibly.
const patience = 2000

// loop is the life of the command. Whatever wakes it, the bound comes first.
func (k *keeper) loop() {
	changes, recorded := k.child.changes, k.recorded
	for !k.gone() {
		timer := time.NewTimer(k.rest())
		select {
		case sig := <-k.ears.heard:
			k.mind()
			k.heed(sig)
		case it := <-changes:
			k.mind()
			if k.change(it); k.ended {
				changes = nil
			}
		case tell := <-k.news:
			k.mind()
			tell()
		case <-recorded:
			recorded = nil
			k.lose("the grantor has taken it back", k.kill)
		case <-timer.C:
		}
		timer.Stop()
		k.mind()
		k.renewIfDue()
	}
}

// gone says that nothing of the group is left, or that what is left cannot be killed.
func (k *keeper) gone() bool {
	if !k.ended && k.killed == 0 {
		return false
	}
	if k.ended && len(k.child.left()) == 0 {
		k.child.signal(syscall.SIGKILL) // whoever was being forked while we looked
		return true
	}
	return k.killed > 0 && k.now() >= k.killed+patience
}

// mind keeps the bound: TERM in time for the grace, and KILL a moment before it. It also ends a grace that is over.
func (k *keeper) mind() {
	now := k.now()
	switch kill := k.bound - k.lead; {
	case now >= kill:
		k.lose("it could not be renewed before its bound", k.kill)
	case k.killAt > 0 && now >= k.killAt:
		k.kill()
	case now >= kill-k.grace:
		k.lose("it could not be renewed in time", k.ask)
	}
}

// lose ends the command for want of a lease. The act comes before the word: a terminal could keep us waiting.
func (k *keeper) lose(why string, act func()) {
	act()
	if k.lost == "" && !k.ended {
		k.lost = why
		k.app.say("lease %s: %s; stopping the command", k.lease, why)
	}
}

// ask has the group get TERM, once.
func (k *keeper) ask() {
	if k.killAt == 0 {
		k.killAt = k.now() + k.grace
		k.child.terminate()
	}
}

// kill has the group get KILL, again and again while it lasts: a process can be forked while it is sent.
func (k *keeper) kill() {
	k.child.signal(syscall.SIGKILL)
	if k.killed == 0 {
		k.killed = k.now()
	}
}

// change takes in that the command has stopped or ended. What it leaves in its group is asked to end.
func (k *keeper) change(it change) {
	if !it.ended {
		k.stopped(it.stopped)
		return
	}
	k.ended, k.code = true, it.code
	if it.err != nil {
		k.app.say("how the command ended cannot be told: %v", it.err)
		k.code = exitHoldFailed
	}
	k.tty.takeFrom(k.child.pid)
	if len(k.child.left()) > 0 {
		k.ask()
	}
}

// heed forwards a signal to the group.
func (k *keeper) heed(sig os.Signal) {
	switch sig {
	case syscall.SIGCONT:
		k.resume()
	case syscall.SIGTSTP:
		k.stop = true
		k.child.signal(syscall.SIGTSTP)
	default:
		k.child.signal(sig.(syscall.Signal))
	}
}

// stopped is what a shell does when a job stops: it takes the terminal back. Being a job ourselves, we stop too. A
// command that stopped because it wants the terminal gets it, if it is ours to give. That somebody sent STOP is not
// the terminal's matter.
func (k *keeper) stopped(by syscall.Signal) {
	wants := by == syscall.SIGTTIN || by == syscall.SIGTTOU
	switch {
	case by == syscall.SIGSTOP, k.tty == nil && !k.stop:
	case wants && k.tty.inFront():
		k.tty.give(k.child.pid)
		k.child.signal(syscall.SIGCONT)
	case orphaned():
		k.resume()
	default:
		k.tty.takeFrom(k.child.pid)
		k.withoutJudging(stopSelf)
	}
}

// resume goes on after a stop. The bound was looked at already, since that is what comes first.
func (k *keeper) resume() {
	k.stop = false
	k.judgeAgain()
	if k.killAt == 0 && k.killed == 0 {
		if k.tty.inFront() && !pipesOn() {
			k.tty.give(k.child.pid)
		}
		k.child.signal(syscall.SIGCONT)
	}
}

// ignoreBackgroundWrites has this process write to a terminal that it has given away: it must not be stopped by that.
// That comes after the command was started, which would inherit it.
func ignoreBackgroundWrites() { signal.Ignore(syscall.SIGTTOU) }

// The longest rests. Timers stand still while the machine sleeps, so none is long.
const (
	restMost  = 250 * time.Millisecond
	restSweep = 10 * time.Millisecond // while the group ends
)

// rest is how long nothing has to be done.
func (k *keeper) rest() time.Duration {
	now := k.now()
	if k.ended || k.killed > 0 {
		return restSweep
	}
	next := now + restMost.Milliseconds()
	for _, at := range []int64{k.bound - k.lead, k.bound - k.lead - k.grace, k.killAt, max(k.probeAt(), k.retryAt), max(k.renewAt, k.retryAt)} {
		if at > now {
			next = min(next, at)
		}
	}
	return time.Duration(max(1, next-now)) * time.Millisecond
}

// tell hands the loop what a goroutine found out.
func (k *keeper) tell(what func()) {
	select {
	case k.news <- what:
	case <-k.watching.Done():
	}
}

// once complains, unless that was the last complaint.
func (k *keeper) once(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != k.said {
		k.said = text
		k.app.say("%s", text)
	}
}
