package judge

import (
	"context"
	"fmt"
)

// observations are the leases that a pass has granted, heard of, or marked: what carries its stamp.
type observations struct {
	granted, renewed, unknown marked
}

func newObservations() observations {
	return observations{marked{bit: markSeenGranted}, marked{bit: markSeenRenewed}, marked{bit: markSeenUnknown}}
}

// newOwed is room for what earlier passes observed.
func newOwed() observations {
	return observations{marked{bit: markOwedGranted}, marked{bit: markOwedRenewed}, marked{bit: markOwedUnknown}}
}

func (o *observations) clear() {
	o.granted.clear()
	o.renewed.clear()
	o.unknown.clear()
}

// add takes over others.
func (o *observations) add(others observations) {
	o.granted.addAll(others.granted)
	o.renewed.addAll(others.renewed)
	o.unknown.addAll(others.unknown)
}

// stamp has them carry a reading that was taken after them all.
func (l *ledger) stamp(o observations, at int64) {
	for _, e := range o.granted.list {
		if e.alive {
			e.TenureStart, e.LastObservation = at, at
			l.settleIn(e)
		}
	}
	for _, e := range o.renewed.list {
		e.LastObservation = at
	}
	for _, e := range o.unknown.list {
		if e.Unknown {
			e.Resumed = at
		}
	}
}

// restamp has what was observed, marked and authored carry a reading taken after it all (SPEC 6, Stamps).
// Where there is none to be had, the next pass stamps it.
func (j *Judge) restamp(ctx context.Context) {
	if j.cfg.Stamp == nil || !j.observed || j.report.Err != nil {
		return
	}
	err := j.cfg.Stamp(ctx)
	if err == nil {
		j.unstamped = false
		err = j.drainTicks(ctx)
	}
	if err != nil {
		j.unstamped = true
		j.fail(fmt.Errorf("a second tick: %w", err))
	}
	j.stamp = j.ledger.now
	j.ledger.stamp(j.observations, j.stamp)
	j.ledger.stamp(j.owed, j.stamp)
}

// adopt takes what was granted between passes, and what earlier ones could not stamp, as observed in this one.
func (j *Judge) adopt() {
	for _, e := range j.newborn {
		if e.alive {
			j.granted.add(e)
			j.mark(&j.dirty.entries, e)
			j.observed = true
		}
	}
	j.newborn = nil
	if j.late != nil {
		j.owe(*j.late)
		j.late = nil
	}
	j.ledger.stamp(j.observations, j.stamp)
	j.ledger.stamp(j.owed, j.stamp)
}

// owe has what earlier passes observed stamped and journaled by this one.
func (j *Judge) owe(late observations) {
	j.owed, j.observed = late, true
	j.journalAlive(&j.dirty.entries, late.granted)
	j.journalAlive(&j.renewals, late.renewed)
	j.journalAlive(&j.unknowns, late.unknown)
}

func (j *Judge) journalAlive(kind *marked, m marked) {
	for _, e := range m.list {
		if e.alive {
			j.mark(kind, e)
		}
	}
}

// delay keeps what this pass has observed for a later one to stamp.
func (j *Judge) delay() {
	if j.late == nil {
		late := j.owed
		j.late, j.owed = &late, newOwed()
	}
	j.late.add(j.observations)
}
