package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/daolease/daolease/pkg/stream"
)

// pass is what one pass gathers: its report, and what it has changed.
type pass struct {
	report    Report
	now       int64 // the reading of the whole pass
	stamp     int64 // the reading of what it observed
	drops     map[string]int
	gapped    set // media with a gap in this pass
	truncated set
	observed  bool // steps 2 and 3 observed, marked or authored anything
	unstamped bool // that may be younger than its stamp
	abort     error

	grantorFailed, grantorCut bool // the drain of the grantor's stream

	observations              // for the report
	owed         observations // of earlier passes, to be stamped with what this one observes
	released     marked

	dirty
}

func newPass() *pass {
	return &pass{
		drops: map[string]int{}, gapped: set{}, truncated: set{},
		observations: newObservations(), owed: newOwed(), released: marked{bit: markSeenReleased},
		dirty: newDirty(),
	}
}

// Pass is one step of the judge (SPEC 6, The pass): drain ticks, drain facts, answer and grant, classify,
// reclaim, record. It never fails half-way without saying so: see Report.Outcome, Abort and Err.
func (j *Judge) Pass(ctx context.Context) Report {
	j.open()
	defer j.close()
	j.ledger.pass++
	j.collect(ctx)
	j.report.Outcome = j.steps(ctx)
	return j.finish(ctx)
}

// open begins a pass with what the one before has left.
func (j *Judge) open() {
	j.pass = newPass()
	j.now, j.stamp = j.ledger.now, j.ledger.now
	if j.leftover != nil {
		j.dirty, j.leftover = *j.leftover, nil
	}
	for _, d := range j.aside.Drops {
		j.drop(d.Medium, d.Position, d.Reason)
	}
	j.report.Dropped = j.aside.Dropped
	for _, medium := range j.aside.Gaps {
		j.gap(medium, nil)
	}
	j.aside = Report{}
}

// close ends a pass. What leases have left is free for others, unless something between passes refers to it.
func (j *Judge) close() {
	j.observations.clear()
	j.owed.clear()
	j.released.clear()
	if j.leftover == nil {
		j.dirty.clear()
	}
	j.pass = nil
	if j.leftover == nil && j.late == nil && len(j.newborn) == 0 {
		j.ledger.tidy()
	}
}

func (j *Judge) steps(ctx context.Context) Outcome {
	err := j.drainTicks(ctx)
	if err != nil {
		j.unstamped = true
		j.fail(err)
	}
	if !j.ledger.ticked {
		if err != nil {
			return Aborted
		}
		return Idle
	}
	j.now, j.stamp = j.ledger.now, j.ledger.now
	j.adopt()
	if j.drainFacts(ctx) {
		j.answer(ctx)
	}
	j.restamp(ctx)
	switch {
	case j.abort != nil:
		return Aborted
	case j.grantorCut, j.unstamped:
		// Where the ticks were cut short, now and the stamps are too old: nothing is concluded by them or
		// journaled with them. The next pass drains on.
		return Cut
	}
	due := j.classify()
	if !j.markPending(ctx, due) {
		return Aborted
	}
	j.reclaim(ctx)
	j.record(ctx)
	if j.abort != nil {
		return Aborted
	}
	return OK
}

// finish journals what the pass came to and fills in its report.
func (j *Judge) finish(ctx context.Context) Report {
	r := &j.report
	late := j.unstamped || len(j.kept.list) > 0 || j.late != nil
	if late {
		j.delay()
	}
	switch {
	case late && r.Outcome != OK:
		// Should this process end now, all of it is read again, and stamped later.
		leftover := j.dirty
		j.leftover = &leftover
	case r.Outcome == Idle:
		if j.dirtied {
			j.carry(j.changes())
		}
	default:
		j.writeEnd(ctx)
	}
	j.fill(r)
	return *r
}

// writeEnd writes the group at the end of a pass that changed anything. Where that fails the pass was not
// completed.
func (j *Judge) writeEnd(ctx context.Context) {
	l, r := j.ledger, &j.report
	completed, watched, first := l.completed, l.watched, l.first
	if r.Outcome == OK {
		l.completed, l.watched, l.first = j.now, true, false
	} else if !j.dirtied && !j.journal.behind() {
		return
	}
	if j.journal == nil {
		return // what was changed dies with this process
	}
	end := j.changes()
	if err := j.journal.write(ctx, end, false); err != nil {
		j.fail(err)
		r.Outcome = Aborted
		l.completed, l.watched, l.first = completed, watched, first
		if end.Completed = nil; watched {
			end.Completed = &completed
		}
		return
	}
	if err := j.journal.compact(ctx, l); Usurped(err) {
		j.fail(err)
		r.Outcome = Aborted
	} else if err != nil {
		r.Failed = append(r.Failed, Failure{Medium: ledgerName, Error: "compacting: " + err.Error()})
	}
}

// fail notes why the pass ends here. Another writer of the ledger is the end of this judge.
func (j *Judge) fail(err error) {
	j.abort = errors.Join(j.abort, err)
	if errors.Is(err, errUsurped) {
		j.report.Err = errors.Join(j.report.Err, err)
	}
}

// sole checks that the ledger still ends with this judge's own last line (SPEC 6, Persisted ledger).
func (j *Judge) sole(ctx context.Context) error {
	return j.journal.check(ctx)
}

// drop counts a line that establishes nothing.
func (j *Judge) drop(medium string, at stream.Position, reason string) {
	j.report.Dropped++
	j.drops[medium]++
	if j.drops[medium] <= maxDrops {
		j.report.Drops = append(j.report.Drops, Drop{Medium: medium, Position: at, Reason: reason})
	}
}

// gap notes a gap once a medium and pass.
func (j *Judge) gap(medium string, why error) {
	if j.gapped.add(medium) {
		j.report.Gaps = append(j.report.Gaps, medium)
		if why != nil {
			if j.report.Causes == nil {
				j.report.Causes = map[string]string{}
			}
			j.report.Causes[medium] = why.Error()
		}
	}
}

func (j *Judge) truncate(medium string) {
	if j.truncated.add(medium) {
		j.report.Truncated = append(j.report.Truncated, medium)
	}
}

// fill completes the report.
func (j *Judge) fill(r *Report) {
	l := j.ledger
	r.Pass, r.Incarnation = l.pass, l.incarnation
	if l.ticked && r.Outcome != Idle {
		now := j.reading(j.now)
		r.Now = &now
	}
	if j.abort != nil {
		r.Abort = j.abort.Error()
	}
	r.Granted, r.Renewed = orEmpty(l.staying(j.granted)), l.idsOf(j.renewed)
	r.Released, r.Unknown = l.idsOf(j.released), l.idsOf(j.unknown)
	slices.Sort(r.Gaps)
	slices.Sort(r.Truncated)
	r.Pending = []Waiting{}
	for e := range l.pending {
		r.Pending = append(r.Pending, Waiting{Lease: l.idOf(e), Cause: e.Cause(), Reclaimed: e.Reclaimed})
	}
	slices.SortFunc(r.Pending, func(a, b Waiting) int { return cmp.Compare(a.Lease, b.Lease) })
	if due, any := j.nextDue(); any {
		at := j.reading(due)
		r.NextDue = &at
	}
	r.Refused, r.Gaps, r.Truncated = orEmpty(r.Refused), orEmpty(r.Gaps), orEmpty(r.Truncated)
	r.Failed, r.Drops = orEmpty(r.Failed), orEmpty(r.Drops)
	r.Reclaims, r.Lapsed = orEmpty(r.Reclaims), orEmpty(r.Lapsed)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
