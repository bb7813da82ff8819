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
		j.mark(j.pendings, c.entry)
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
func (j *Judge) startable() []*Entry {
	var list []*Entry
	for e := range j.ledger.pending {
		if !e.running && !e.Reclaimed && (e.NextTry <= j.now || e.ByHand) && !j.handedOn(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(min(a.Attempts, 1), min(b.Attempts, 1)), cmp.Compare(a.NextTry, b.NextTry), cmp.Compare(a.Lease, b.Lease))
	})
	return list
}

// handedOn says that the subject of a pending lease is, by all appearances, another one's by now: a lapsed for it
// is on the stream, its subject has one slot, and a lease with a higher token is live there. So it is where the
// end of the ledger was lost together with the success of a procedure: the slot was free when the other was
// granted. That is no proof that lets the lease go without its procedure, since a lapsed can be written by hand;
// but a procedure now would take the subject from its living holder, so it waits until that tenure is over.
func (j *Judge) handedOn(e *Entry) bool {
	if !e.Recorded || e.ByHand || j.cfg.Rules == nil {
		return false
	}
	if rule, known := j.cfg.Rules.Rule(e.Subject); !known || rule.Slots != 1 {
		return false
	}
	for other := range j.ledger.bySubject[e.Subject.Text()] {
		if other.Token > e.Token && !other.Pending() {
			return true
		}
	}
	return false
}

// startSome begins procedures while there is room, and answers what has found none. Retries take at most
// half of the room.
func (j *Judge) startSome(ctx context.Context, todo []*Entry) []*Entry {
	var rest, done []*Entry
	retries := 0
	for e := range j.running {
		if e.Attempts > 0 {
			retries++
		}
	}
	for i, e := range todo {
		full := j.cfg.Parallel > 0 && len(j.running) >= j.cfg.Parallel
		if full || e.Attempts > 0 && j.cfg.Parallel > 0 && retries >= max(1, j.cfg.Parallel/2) || j.subjectBusy(e) {
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
		if e.Attempts > 0 {
			retries++
		}
	}
	j.persistSuccess(ctx, done)
	return rest
}

// subjectBusy says that a procedure on the same subject is running: they never overlap.
func (j *Judge) subjectBusy(e *Entry) bool {
	for other := range j.ledger.bySubject[e.Subject.Text()] {
		if other.running {
			return true
		}
	}
	return false
}

// collect asks for reports of the procedures that are running.
func (j *Judge) collect(ctx context.Context) {
	var done []*Entry
	asked := slices.SortedFunc(maps.Keys(j.running), func(a, b *Entry) int { return cmp.Compare(a.Lease, b.Lease) })
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
func (j *Judge) ask(ctx context.Context, e *Entry) bool {
	progress, err := j.cfg.Reclaimer.Reclaim(ctx, j.task(e))
	if progress == Running {
		return false
	}
	e.Attempts++
	report := Reclaim{Lease: e.Lease, Subject: e.Subject.Text(), Cause: e.Cause, OK: progress == Done, Attempt: e.Attempts}
	if progress == Done {
		e.Reclaimed, e.LastError, e.NextTry = true, "", 0
		j.mark(j.succeeded, e)
	} else {
		e.LastError = "it failed without saying why"
		if err != nil {
			e.LastError = clip(err.Error(), maxText)
		}
		report.Error = e.LastError
		e.NextTry = j.nextTry(e)
	}
	j.mark(j.dirty.attempts, e)
	j.report.Reclaims = append(j.report.Reclaims, report)
	return true
}

// task is a lease as its procedure is told of it.
func (j *Judge) task(e *Entry) Task {
	return Task{
		Lease: e.Lease, Holder: e.Holder, Subject: e.Subject, Cause: e.Cause, Reason: e.Reason, Token: e.Token,
		Attempt: e.Attempts + 1, Incarnation: j.ledger.incarnation, ByHand: e.ByHand, Row: j.row(e),
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

// nextTry is the reading from which a lease is tried again: the delay doubles with each attempt.
func (j *Judge) nextTry(e *Entry) int64 {
	delay := j.cfg.Retry.Initial
	if delay == 0 {
		return 0
	}
	for i := 1; i < e.Attempts && delay < j.cfg.Retry.Max; i++ {
		delay *= 2
	}
	return j.ledger.now + min(delay, max(j.cfg.Retry.Max, j.cfg.Retry.Initial))
}

// persistSuccess has successes on disk before anything is recorded, in one group for all that reported.
func (j *Judge) persistSuccess(ctx context.Context, done []*Entry) {
	if len(done) == 0 || j.journal == nil {
		return
	}
	if err := j.journal.write(ctx, j.changes(), true); err != nil {
		j.fail(err)
	}
}
