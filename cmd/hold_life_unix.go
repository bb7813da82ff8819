//go:build unix

package cmd

import (
	"context"
	"time"
)

// keep runs the command under the lease to the end of both.
func (k *keeper) keep(argv []string) error {
	if sig := k.ears.pending(); sig != nil {
		k.giveBack()
		return (&interrupted{sig}).exit()
	}
	if err := k.start(argv); err != nil {
		k.giveBack()
		return err
	}
	k.loop()
	k.after()
	if k.lost != "" {
		return fail(exitLeaseLost, "daolease why "+shellQuote(k.lease)+" says what the grantor makes of it", "lease %s on %s is lost: %s", k.lease, shortened(subjectText(k.view.Subject)), k.lost)
	}
	if k.code != 0 {
		return exitWith(k.code)
	}
	return nil
}

// start starts the command, and what watches its lease.
func (k *keeper) start(argv []string) error {
	path, err := shellFinds(k.app, argv[0])
	if err != nil {
		return err
	}
	k.env = k.s.childEnv(k.view)
	if k.o.progress != "" {
		k.seen = markOf(k.o.progress)
	}
	k.tty = openTerminal()
	var given *terminal
	if k.tty.inFront() && !pipesOn() {
		given = k.tty
	}
	if k.child, err = startChild(path, argv, k.env, given); err != nil {
		return startFailed(argv[0], err)
	}
	ignoreBackgroundWrites()
	go k.watchRecord()
	return nil
}

// after is what follows the end of the group: who left it is said, and the lease is given back. Then its record is
// awaited, so that the next hold finds the way free.
func (k *keeper) after() {
	k.tty.takeFrom(k.child.pid)
	for _, pid := range k.child.escaped(k.lease) {
		k.app.say("process %d left the command's group and goes on without the lease", pid)
	}
	if left := k.child.left(); len(left) > 0 {
		k.stuck = true
		k.app.say("lease %s is not given back: processes of the command do not die, and may outlast its bound: %v", k.lease, left)
		return
	}
	if k.ended {
		k.child.bury()
	}
	if !k.giveBack() {
		return
	}
	linger := lingerDefault
	if k.o.linger.Given {
		linger = k.o.linger.D
	}
	over := time.NewTimer(linger)
	defer over.Stop()
	for {
		select {
		case <-k.recorded:
		case <-over.C:
		case sig := <-k.ears.heard:
			if !isEnding(sig) {
				continue
			}
		}
		return
	}
}

// giveBack releases the lease. A file system that does not answer is not waited for: the lease then lapses by
// silence.
func (k *keeper) giveBack() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*lockWait)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- k.s.turn(ctx, func(t *turn) error {
			defer k.drop(t)
			if held := t.h.State.Leases[k.lease]; held == nil || held.Lapsed != "" {
				return nil
			}
			return t.release(ctx, k.lease)
		})
	}()
	select {
	case err := <-done:
		if err != nil {
			k.app.say("lease %s is not released, and will lapse by silence: %v", k.lease, err)
		}
		return err == nil
	case <-time.After(2*lockWait + time.Second):
		k.app.say("lease %s is not released, and will lapse by silence: its files do not answer", k.lease)
		return false
	}
}
