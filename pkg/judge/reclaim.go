package judge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// markPending makes what is due pending and has that on disk before any procedure starts: one sync for all
// of a pass. False: it could not be written, and nothing may start.
func (j *Judge) markPending(ctx context.Context, due []conclusion) bool {
	for _, c := range due {
		j.ledger.setPending(c.entry, c.cause)
		j.mark(&j.pendings, c.entry)
	}
	unsynced := false
	for e := range j.ledger.pending {
		unsynced = unsynced || !e.onDisk
	}
	if !unsynced {
		return true
	}
	if err := j.journal.write(ctx, j.changes(), true); err != nil {
		j.fail(err)
		return false
	}
	for e := range j.ledger.pending {
		e.onDisk = true
	}
	return true
}

// reclaim is step 5: start what may start, wait as long as the reclaimer allows, and take reports.
func (j *Judge) reclaim(ctx context.Context) {
	if j.cfg.Reclaimer == nil {
		return
	}
	w, waits := j.cfg.Reclaimer.(Waiter)
	if waits {
		w.Begin()
	}
	todo := j.startable()
	for {
		todo = j.startSome(ctx, todo)
		if j.abort != nil || len(j.running) == 0 || !waits || !w.Wait(ctx) {
			break
		}
		j.collect(ctx)
	}
}

// startable are the pending leases whose procedure may begin, those never tried before those that failed.
func (j *Judge) startable() []*live {
	var list []*live
	for e := range j.ledger.pending {
		if !e.running && !e.Reclaimed && (j.ledger.rarely(e).NextTry <= j.now || e.ByHand) && j.handedOn(e) == nil {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *live) int {
		x, y := j.ledger.rarely(a), j.ledger.rarely(b)
		return cmp.Or(cmp.Compare(min(x.Attempts, 1), min(y.Attempts, 1)), cmp.Compare(x.NextTry, y.NextTry), j.ledger.byID(a, b))
	})
	return list
}

// handedOn is the lease that, by all appearances, has the subject of a pending one by now; nil: there is none. A
// lapsed for the pending one is on the stream, its subject has one slot, and a lease with a higher token is live
// there. So it is where the end of the ledger was lost together with the success of a procedure: the slot was free
// when the other was granted. That is no proof that lets the lease go without its procedure, since a lapsed can be
// written by hand; but a procedure now would take the subject from its living holder, so it waits until that tenure
// is over.
func (j *Judge) handedOn(e *live) *live {
	if !e.Recorded || !e.Pending() || e.Reclaimed || e.ByHand || j.cfg.Rules == nil {
		return nil
	}
	l := j.ledger
	if rule, known := j.cfg.Rules.Rule(l.subjectOf(e)); !known || rule.Slots != 1 {
		return nil
	}
	for other := range l.onSubject(l.subjectText(e)) {
		if other.Token > e.Token && !other.Pending() {
			return other
		}
	}
	return nil
}

// startSome begins procedures while there is room, and answers what has found none. Retries take at most
// half of the room.
func (j *Judge) startSome(ctx context.Context, todo []*live) []*live {
	var rest, done []*live
	retries := 0
	for e := range j.running {
		if j.tried(e) {
			retries++
		}
	}
	for i, e := range todo {
		full := j.cfg.Parallel > 0 && len(j.running) >= j.cfg.Parallel
		if full || j.tried(e) && j.cfg.Parallel > 0 && retries >= max(1, j.cfg.Parallel/2) || j.subjectBusy(e) {
			rest = append(rest, e)
			continue
		}
		if err := j.sole(ctx); err != nil {
			j.fail(err)
			rest = append(rest, todo[i:]...)
			break
		}
		if j.ask(ctx, e) {
			if e.Reclaimed {
				done = append(done, e)
			}
			continue
		}
		j.running[e], e.running = struct{}{}, true
		if j.tried(e) {
			retries++
		}
	}
	j.persistSuccess(ctx, done)
	return rest
}

// tried says that a procedure for a lease has failed before.
func (j *Judge) tried(e *live) bool { return j.ledger.rarely(e).Attempts > 0 }

// subjectBusy says that a procedure on the same subject is running: they never overlap.
func (j *Judge) subjectBusy(e *live) bool {
	for other := range j.ledger.onSubject(j.ledger.subjectText(e)) {
		if other.running {
			return true
		}
	}
	return false
}

// collect asks for reports of the procedures that are running.
func (j *Judge) collect(ctx context.Context) {
	var done []*live
	asked := slices.SortedFunc(maps.Keys(j.running), j.ledger.byID)
	for _, e := range asked {
		if j.ask(ctx, e) {
			delete(j.running, e)
			e.running = false
			if e.Reclaimed {
				done = append(done, e)
			}
		}
	}
	j.persistSuccess(ctx, done)
}

// ask has the reclaimer take a lease back, or go on with it; true when it has reported.
func (j *Judge) ask(ctx context.Context, e *live) bool {
	progress, err := j.cfg.Reclaimer.Reclaim(ctx, j.task(e))
	if progress == Running {
		return false
	}
	l := j.ledger
	x := l.makeRare(e)
	x.Attempts++
	report := Reclaim{Lease: l.idOf(e), Subject: l.subjectText(e), Cause: e.Cause(), OK: progress == Done, Attempt: x.Attempts}
	if progress == Done {
		e.Reclaimed, x.LastError, x.NextTry = true, "", 0
		j.mark(&j.succeeded, e)
	} else {
		x.LastError = "it failed without saying why"
		if err != nil {
			x.LastError = clip(err.Error(), maxText)
		}
		report.Error = x.LastError
		x.NextTry = j.nextTry(x.Attempts)
	}
	j.mark(&j.dirty.attempts, e)
	j.report.Reclaims = append(j.report.Reclaims, report)
	return true
}

// task is a lease as its procedure is told of it.
func (j *Judge) task(e *live) Task {
	l, x := j.ledger, j.ledger.rarely(e)
	return Task{
		Lease: l.idOf(e), Holder: l.heldBy(e), Subject: l.subjectOf(e), Cause: e.Cause(), Reason: x.Reason, Token: e.Token,
		Attempt: x.Attempts + 1, Incarnation: l.incarnation, ByHand: e.ByHand, Row: j.row(e),
	}
}

// maxText bounds what is remembered of why a procedure failed, or a lease was revoked.
const maxText = 1024

// clip bounds a text, and makes it one that JSON carries unchanged.
func clip(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "")
}

// nextTry is the reading from which a lease is tried again after so many attempts: the delay doubles with each attempt.
func (j *Judge) nextTry(attempts int) int64 {
	delay := j.cfg.Retry.Initial
	if delay == 0 {
		return 0
	}
	for i := 1; i < attempts && delay < j.cfg.Retry.Max; i++ {
		delay *= 2
	}
	return j.ledger.now + min(delay, max(j.cfg.Retry.Max, j.cfg.Retry.Initial))
}

// persistSuccess has successes on disk before anything is recorded, in one group for all that reported.
func (j *Judge) persistSuccess(ctx context.Context, done []*live) {
	if len(done) == 0 || j.journal == nil {
		return
	}
	if err := j.journal.write(ctx, j.changes(), true); err != nil {
		j.fail(err)
	}
}
