package judge

import (
	"context"
	"errors"
	"fmt"
)

// Settled is the outcome of Settle, which is no pass.
const Settled Outcome = "settled"

// Settle takes the reports of procedures that have ended since the last pass and records what was taken
// back, without reading anything. It is for a judge that is being stopped.
func (j *Judge) Settle(ctx context.Context) Report {
	j.open()
	defer j.close()
	j.collect(ctx)
	j.record(ctx)
	j.report.Outcome = Settled
	return j.finish(ctx)
}

// Running are the leases whose procedure was started and has not reported, by id.
func (j *Judge) Running() []string {
	ids := map[string]struct{}{}
	for e := range j.running {
		ids[j.ledger.idOf(e)] = struct{}{}
	}
	return sortedKeys(ids)
}

// Flush has everything that was journaled on disk. What lies before the cursors can be evicted then.
func (j *Judge) Flush(ctx context.Context) error {
	if j.leftover != nil {
		return errors.New("what the last pass read is not journaled yet: the next pass does")
	}
	d := &delta{Pass: j.ledger.pass, Incarnation: j.ledger.incarnation}
	if l := j.ledger; l.watched {
		// The end of a pass that was aborted because nobody answered may be on disk all the same.
		completed := l.completed
		d.Completed = &completed
	}
	return j.journal.write(ctx, d, true)
}

// Subjects are the texts of all subjects that have a live lease, sorted.
func (j *Judge) Subjects() []string {
	texts := set{}
	for e := range j.ledger.all() {
		texts.add(j.ledger.subjectText(e))
	}
	return sortedKeys(texts)
}

// Taken is how many live leases a subject has, by its text.
func (j *Judge) Taken(subject string) int {
	n := 0
	for range j.ledger.onSubject(subject) {
		n++
	}
	return n
}

// Configure takes over another cadence, tolerance, budget, retention, rules, retry, parallel and reclaimer
// between two passes. Everything else, the unit table among it, changes only at a start. A live lease that
// the new configuration does not accept is an error, and nothing is taken over then.
func (j *Judge) Configure(cfg Config) error {
	l := j.ledger
	cadence, err := l.units.Count(cfg.Cadence)
	if err != nil {
		return fmt.Errorf("cadence: %w", err)
	}
	tolerance := int64(0)
	if cfg.Tolerance.N != 0 {
		if tolerance, err = l.units.Count(cfg.Tolerance); err != nil {
			return fmt.Errorf("tolerance: %w", err)
		}
	}
	if err := l.accepted(cfg.Accept); err != nil {
		return err
	}
	l.cadence, l.tolerance = cadence, tolerance
	j.cfg.Cadence, j.cfg.Tolerance, j.cfg.Accept = cfg.Cadence, cfg.Tolerance, cfg.Accept
	j.cfg.Rules, j.cfg.Retry, j.cfg.Parallel, j.cfg.Reclaimer = cfg.Rules, cfg.Retry, cfg.Parallel, cfg.Reclaimer
	if cfg.DrainBudget > 0 {
		j.cfg.DrainBudget = cfg.DrainBudget
	}
	if j.journal != nil {
		j.journal.most = cfg.Retention
	}
	l.requeue() // a shorter tolerance makes leases due sooner than they are queued for
	return nil
}

// accepted asks of every live lease whether a configuration has room for it.
func (l *ledger) accepted(accept func(e Entry) error) error {
	if accept == nil {
		return nil
	}
	for _, e := range l.sorted() {
		if err := accept(*l.entry(e)); err != nil {
			return err
		}
	}
	return nil
}

// Count is how many leases the ledger holds, and how many of them are pending.
func (j *Judge) Count() (all, pending int) { return j.ledger.count, len(j.ledger.pending) }

// Holds says that a holder has a live lease.
func (j *Judge) Holds(holder string) bool {
	_, holds := j.ledger.head(&j.ledger.byHolder, textHolder, holder)
	return holds
}
