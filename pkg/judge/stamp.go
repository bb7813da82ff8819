package judge

import (
	"context"
	"fmt"
	"maps"
)

// observations are the leases that a pass has granted, heard of, or marked: what carries its stamp.
type observations struct {
	granted, renewed, unknown map[string]*Entry
}

func newObservations() observations {
	return observations{granted: map[string]*Entry{}, renewed: map[string]*Entry{}, unknown: map[string]*Entry{}}
}

// with adds others; to none it makes a beginning.
func (o *observations) with(others observations) *observations {
	if o == nil {
		some := newObservations()
		o = &some
	}
	maps.Copy(o.granted, others.granted)
	maps.Copy(o.renewed, others.renewed)
	maps.Copy(o.unknown, others.unknown)
	return o
}

// stamp has them carry a reading that was taken after them all.
func (l *ledger) stamp(o observations, at int64) {
	for id, e := range o.granted {
		if l.entries[id] == e {
			e.TenureStart, e.LastObservation = at, at
			l.settleIn(e)
		}
	}
	for _, e := range o.renewed {
		e.LastObservation = at
	}
	for _, e := range o.unknown {
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
		if j.ledger.entries[e.Lease] == e {
			j.granted[e.Lease] = e
			j.mark(j.dirty.entries, e)
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
	for kind, leases := range map[*map[string]*Entry]map[string]*Entry{
		&j.dirty.entries: late.granted, &j.renewals: late.renewed, &j.unknowns: late.unknown,
	} {
		for id, e := range leases {
			if j.ledger.entries[id] == e {
				j.mark(*kind, e)
			}
		}
	}
}
