package judge

import (
	"slices"

	"github.com/daolease/daolease/pkg/lease"
)

// conclusion is a lease that is due, and the first cause that holds.
type conclusion struct {
	entry *live
	cause lease.Cause
	why   string // for people
}

// overdue are the leases whose silence, or cap, is in question in this pass.
func (j *Judge) overdue() []*live { return j.ledger.overdue(j.now) }

// classify is step 4: it finds what is due, and decides nothing else. Nothing is acted on before all are
// classified.
func (j *Judge) classify() []conclusion {
	l := j.ledger
	if since, any := l.watchedUntil(); any && j.now-since > l.cadence {
		s := stall{From: since, To: j.now}
		l.noteStall(s)
		l.forgetStalls()
		j.stalls = append(j.stalls, s)
		unwatched := j.reading(j.now - since - l.cadence)
		j.report.Unwatched = &unwatched
		j.dirtied = true
	}
	var due []conclusion
	for e := range l.urgent {
		due = append(due, j.conclude(e))
	}
	for _, e := range j.overdue() {
		if c := j.conclude(e); c.cause != "" {
			due = append(due, c)
		}
	}
	slices.SortFunc(due, func(a, b conclusion) int { return l.byID(a.entry, b.entry) })
	return due
}

// conclude is the first cause that holds for a live lease (SPEC 6, pass 4): release, cap, policy, silence.
func (j *Judge) conclude(e *live) conclusion {
	l := j.ledger
	switch {
	case e.Released:
		return conclusion{e, lease.ByRelease, "its holder released it"}
	case e.max > 0 && j.now-e.TenureStart > e.max:
		return conclusion{e, lease.ByCap, "held since " + j.reading(e.TenureStart).String() + ", longer than " + l.terms(e.max, e.maxUnit).String()}
	case e.Revoked:
		return conclusion{e, lease.ByPolicy, l.rarely(e).Reason}
	case j.now > l.silentAfter(e) && j.fresh && j.watchedNow(l.heldBy(e)):
		return conclusion{e, lease.BySilence, "last observed at " + j.reading(e.LastObservation).String()}
	}
	return conclusion{entry: e}
}

// nextDue is the first reading at which anything can be due: a lease, or the next attempt at a pending one.
func (j *Judge) nextDue() (int64, bool) {
	l := j.ledger
	if !l.ticked {
		return 0, false
	}
	at, any := int64(0), false
	sooner := func(reading int64) {
		if !any || reading < at {
			at, any = reading, true
		}
	}
	if bound := l.firstBound(); bound != never {
		sooner(bound + 1)
	}
	if len(l.urgent) > 0 {
		sooner(l.now)
	}
	for e := range l.pending {
		if !e.running && !e.Reclaimed && j.handedOn(e) == nil {
			sooner(max(l.rarely(e).NextTry, l.now))
		}
	}
	return at, any
}
