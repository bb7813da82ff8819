//go:build unix

package cmd

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// bench is where a hold sits as the judge while no other does (SPEC 9, hold --judge).
type bench struct {
	comp    *Composition
	fails   func(error)   // is told what keeps this process from judging, other than that another judges
	leaving chan struct{} // closed: it is to be left
	left    chan struct{} // closed: it was
	leave   func()
}

// sitDown begins to judge whenever nobody else does.
func sitDown(c *Composition, fails func(error)) *bench {
	b := &bench{comp: c, fails: fails, leaving: make(chan struct{}), left: make(chan struct{})}
	b.leave = sync.OnceFunc(func() { close(b.leaving) })
	go b.run()
	return b
}

// pause is how often a bench looks whether it may sit, or has to rise.
func (b *bench) pause() time.Duration { return max(20*time.Millisecond, b.comp.Config.Cadence/2) }

func (b *bench) run() {
	defer close(b.left)
	for {
		if err := b.sit(); err != nil && codeOf(err) != exitOtherJudge {
			b.fails(err)
		}
		select {
		case <-b.leaving:
			return
		case <-time.After(b.pause()):
		}
	}
}

// sit judges until it has to give way: procedures that run get up to their timeouts, and the state is suspended.
func (b *bench) sit() error {
	told := make(chan os.Signal, 1)
	s, err := sit(context.Background(), b.comp, &judgeOptions{told: told})
	if err != nil {
		return err
	}
	defer s.rise()
	over := make(chan struct{})
	defer close(over)
	go func() {
		tick := time.NewTicker(b.pause())
		defer tick.Stop()
		for !b.comp.judgeWaits() {
			select {
			case <-tick.C:
				continue
			case <-b.leaving:
			case <-over:
				return
			}
			break
		}
		told <- syscall.SIGTERM
	}()
	return s.loop(context.Background())
}

// judgeUnless sits down with --judge. What keeps it from judging ends the wait for the lease, for which nobody might
// ever answer.
func (k *keeper) judgeUnless(cancel context.CancelCauseFunc) error {
	if !k.o.judge {
		return nil
	}
	c := k.sides[0].comp
	if err := c.readyForJudge(); err != nil {
		return err
	}
	k.sides[0].vigil.said = true // that nobody judges is this process's own concern
	k.bench = sitDown(c, func(err error) {
		cancel(err)
		k.complained.Do(func() { k.app.report(err) })
	})
	return nil
}

// leaveBench rises, and waits until what is being taken back is. A signal ends that wait: what runs then is found by
// the next judge.
func (h *holdRun) leaveBench() {
	if h.bench == nil {
		return
	}
	h.bench.leave()
	for {
		select {
		case <-h.bench.left:
		case sig := <-h.ears.heard:
			if !isEnding(sig) {
				continue
			}
		}
		return
	}
}

// withoutJudging does something once this process does not judge.
func (k *keeper) withoutJudging(do func()) {
	if k.bench == nil {
		do()
		return
	}
	b := k.bench
	b.leave()
	go func() {
		<-b.left
		k.tell(do)
	}()
}

// judgeAgain sits down again after a stop.
func (k *keeper) judgeAgain() {
	if k.bench == nil {
		return
	}
	select {
	case <-k.bench.leaving:
		before := k.bench
		k.bench = sitDown(before.comp, before.fails)
	default:
	}
}
