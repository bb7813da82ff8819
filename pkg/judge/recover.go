package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Recovery is what a lost ledger is begun anew with (SPEC 6, recover).
type Recovery struct {
	// Inventory is who is to hold what afterwards. Each subject is reclaimed first, and granted afresh.
	Inventory []Terms
	// TokenAbove is a token that no lease has borne. It is needed where the grantor's stream is lost too, or
	// is an old copy.
	TokenAbove int64
	// Incarnation is that of the last judge, as far as it is known.
	Incarnation uint64
	// Reclaim takes the subjects of these tasks back and answers when that is over: an error for each that
	// could not be. A task without a lease is a subject of the inventory that no grant names.
	Reclaim func(ctx context.Context, tasks []Task) []error
}

// Restored is what a recovery has done.
type Restored struct {
	Recorded []Ended      `json:"recorded"` // leases taken back
	Granted  []lease.Fact `json:"-"`        // the inventory's new leases
	Failed   []Unreturned `json:"failed"`
}

// Unreturned is a subject that could not be taken back. A lease on it stays, pending.
type Unreturned struct {
	Lease   string `json:"lease,omitempty"`
	Subject string `json:"subject"`
	Holder  string `json:"holder"`
	Error   string `json:"error"`
}

// recoverReason is the reason of the records that a recovery writes.
// ErrNoTick means that time has not begun: no tick stands on the tick stream.
var ErrNoTick = errors.New("no tick yet: a recovery needs a reading to begin from")

const recoverReason = "the ledger was lost"

// Recover begins a ledger anew: it takes back what the grantor's stream shows as granted and not lapsed, and
// what the inventory names, records the former, grants the latter under new ids and higher tokens, and writes
// the ledger last. Killed at any point, it can be run again. The caller holds the judge's lock.
func Recover(ctx context.Context, cfg Config, r Recovery) (Restored, error) {
	done := Restored{Recorded: []Ended{}, Failed: []Unreturned{}}
	j, err := survey(ctx, cfg)
	if err != nil {
		return done, err
	}
	j.ledger.token = max(j.ledger.token, r.TokenAbove)
	tasks := j.recoveryTasks(r.Inventory)
	failed := map[string]bool{} // subjects
	lost := map[string]string{} // leases, with why
	for i, err := range r.Reclaim(ctx, tasks) {
		if t := tasks[i]; err != nil {
			failed[t.Subject.Text()] = true
			lost[t.Lease] = err.Error()
			done.Failed = append(done.Failed, Unreturned{t.Lease, t.Subject.Text(), t.Holder, err.Error()})
		}
	}
	if err := ctx.Err(); err != nil {
		return done, err // killed procedures are no failures to build a ledger on
	}
	under, release, err := j.cfg.Facts.Hold(ctx)
	if err != nil {
		return done, err
	}
	defer release()
	if err := j.readToEnd(ctx); err != nil {
		return done, err
	}
	if err := j.recoverRecords(ctx, under, tasks, lost, &done); err != nil {
		return done, err
	}
	if done.Granted, err = j.recoverGrants(ctx, under, r.Inventory, failed); err != nil {
		return done, err
	}
	return done, j.recoverLedger(ctx, r.Incarnation)
}

// survey is a judge without a ledger that has read the grantor's stream from its beginning.
func survey(ctx context.Context, cfg Config) (*Judge, error) {
	j, err := assemble(cfg)
	if err != nil {
		return nil, err
	}
	l := j.ledger
	l.first = true
	j.pass = newPass()
	if err := j.drainTicks(ctx); err != nil {
		return nil, err
	}
	if !l.ticked {
		return nil, ErrNoTick
	}
	j.now, j.stamp = l.now, l.now
	if err := j.readToEnd(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// Unrecorded are the grants on the grantor's stream without a lapsed, what a recovery would take back, and
// the highest token that is to be seen. found is false where there is no grantor's stream to be read.
func Unrecorded(ctx context.Context, cfg Config) (rows []Row, token int64, found bool, err error) {
	j, err := survey(ctx, cfg)
	if err != nil {
		return nil, 0, false, err
	}
	j.drainHolders(ctx)
	for _, row := range j.Rows() {
		if !row.Released {
			rows = append(rows, row)
		}
	}
	oldest, err := cfg.Facts.Mint(ctx, stream.Oldest)
	if err != nil {
		return nil, 0, false, err
	}
	cfg.Facts.Read(ctx, oldest, stream.Budget{Values: 1}, func(stream.Value) bool { found = true; return true })
	return rows, j.ledger.token, found, nil
}

// recoveryTasks are the leases to take back, then the subjects of the inventory that none of them is on.
func (j *Judge) recoveryTasks(inventory []Terms) []Task {
	var tasks []Task
	seen := map[string]bool{}
	for _, e := range j.ledger.sorted() {
		seen[j.ledger.subjectText(e)] = true
		e.setCause(lease.ByPolicy)
		j.ledger.makeRare(e).Reason = recoverReason
		tasks = append(tasks, j.task(e))
	}
	for _, t := range inventory {
		if text := t.Subject.Text(); !seen[text] {
			seen[text] = true
			tasks = append(tasks, Task{
				Holder: t.Holder, Subject: t.Subject, Cause: lease.ByPolicy, Reason: recoverReason, Attempt: 1,
				Row: Row{Subject: t.Subject, Holder: t.Holder, Duration: t.Duration},
			})
		}
	}
	return tasks
}

// recoverRecords records the leases that were taken back. The others stay in the ledger, pending, so that the
// judge goes on trying.
func (j *Judge) recoverRecords(ctx context.Context, under stream.Appender, tasks []Task, lost map[string]string, done *Restored) error {
	var ended []*live
	for _, t := range tasks {
		e := j.ledger.find(t.Lease)
		if t.Lease == "" || e == nil {
			continue
		}
		j.ledger.setPending(e, lease.ByPolicy)
		x := j.ledger.makeRare(e)
		x.Attempts = 1
		if why, is := lost[t.Lease]; is {
			x.LastError = clip(why, maxText)
			continue
		}
		e.Reclaimed = true
		ended = append(ended, e)
	}
	for from := 0; from < len(ended); from += lapsedBatch {
		if err := j.appendBatch(ctx, under, ended[from:min(from+lapsedBatch, len(ended))]); err != nil {
			return fmt.Errorf("recording lapsed: %w", err)
		}
	}
	done.Recorded = append(done.Recorded, j.report.Lapsed...)
	return nil
}

// recoverGrants grants the inventory afresh, except what could not be taken back.
func (j *Judge) recoverGrants(ctx context.Context, under stream.Appender, inventory []Terms, failed map[string]bool) ([]lease.Fact, error) {
	for range maxRereads {
		if err := j.readToEnd(ctx); err != nil {
			return nil, err
		}
		g, err := j.beginGranting(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range inventory {
			if failed[t.Subject.Text()] {
				continue
			}
			if err := g.grant(t); err != nil {
				return nil, err
			}
		}
		if err := g.append(ctx, under); !isMoved(err) {
			return g.facts, err
		}
	}
	return nil, fmt.Errorf("%w: others write to the grantor's stream without its lock", stream.ErrMoved)
}

// recoverLedger mints the cursors and writes the ledger, which ends the loss.
func (j *Judge) recoverLedger(ctx context.Context, incarnation uint64) error {
	l := j.ledger
	media := map[string]stream.Medium{}
	for name, s := range j.sources {
		media[holdersPath+name] = s.medium
	}
	if j.cfg.Policy != nil {
		media[policyName] = j.cfg.Policy
	}
	for key, m := range media {
		c, err := m.Mint(ctx, stream.Newest)
		if err != nil {
			return err
		}
		l.setCursor(key, c)
	}
	l.first, l.lostGrants, l.incarnation = false, false, incarnation
	l.boot, l.place = j.cfg.Boot, j.cfg.Place
	l.base, l.format = l.units.Base(), ledgerFormat
	_, err := j.cfg.Ledger.Rewrite(ctx, "", l.snapshotLines(l.base))
	return err
}
