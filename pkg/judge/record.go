package judge

import (
	"context"
	"fmt"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// record is step 6: a lapsed for each lease that was taken back, under one hold of the append lock. Those
// appended with ok leave.
func (j *Judge) record(ctx context.Context) {
	if j.abort != nil {
		return
	}
	var write, gone []*live
	for e := range j.ledger.pending {
		switch {
		case e.Reclaimed && e.Recorded:
			gone = append(gone, e)
		case e.Reclaimed:
			write = append(write, e)
		}
	}
	for _, e := range gone {
		j.depart(e)
	}
	if len(write) == 0 {
		return
	}
	if j.journal.behind() || len(j.succeeded.list) > 0 { // no record before its success is on disk
		if err := j.journal.write(ctx, j.changes(), true); err != nil {
			j.fail(err)
			return
		}
	}
	slices.SortFunc(write, j.ledger.byID)
	if err := j.appendLapsed(ctx, write); err != nil {
		j.unwritten(fmt.Errorf("recording lapsed: %w", err))
	}
}

// lapsedBatch is how many records are written at once.
const lapsedBatch = 4096

func (j *Judge) appendLapsed(ctx context.Context, ended []*live) error {
	under, release, err := j.cfg.Facts.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := j.sole(ctx); err != nil {
		return err
	}
	for batch := range slices.Chunk(ended, lapsedBatch) {
		if err := j.appendBatch(ctx, under, batch); err != nil {
			return err
		}
	}
	return nil
}

// appendBatch appends records under the lock. Where nothing foreign lies between, the cursor moves behind
// what was written.
func (j *Judge) appendBatch(ctx context.Context, under stream.Appender, batch []*live) error {
	values := make([][]byte, len(batch))
	for i, e := range batch {
		f, err := lease.NewLapsed(j.ledger.idOf(e), e.Cause(), j.ledger.rarely(e).Reason)
		if err != nil {
			return err
		}
		values[i] = f.Encode()
	}
	done, err := under.Append(ctx, stream.How{Sync: true, Expect: j.ledger.cursors[grantorName], Cursor: true}, values...)
	switch {
	case isMoved(err):
		return j.appendBehind(ctx, under, batch, values)
	case err != nil:
		return err
	}
	j.ledger.setCursor(grantorName, done.Cursor)
	j.cursors.add(grantorName)
	for _, e := range batch {
		j.recorded(e)
	}
	return nil
}

// appendBehind appends records behind lines that are not read yet. A record that is among these is not
// written twice; the positions of those written are remembered, so that they are no repeats when read.
func (j *Judge) appendBehind(ctx context.Context, under stream.Appender, batch []*live, values [][]byte) error {
	there, err := j.recordsAhead(ctx)
	if err != nil {
		return err
	}
	for i, e := range batch {
		if at, found := there[j.ledger.idOf(e)]; found {
			j.own[at] = struct{}{}
			j.depart(e)
			continue
		}
		done, err := under.Append(ctx, stream.How{Sync: true}, values[i])
		if err != nil {
			return err
		}
		j.own[done.Position] = struct{}{}
		j.recorded(e)
	}
	return nil
}

func (j *Judge) recorded(e *live) {
	j.report.Lapsed = append(j.report.Lapsed, Ended{j.ledger.idOf(e), e.Cause()})
	j.depart(e)
}

// recordsAhead are the first records of leases that lie ahead of the cursor on the grantor's stream.
func (j *Judge) recordsAhead(ctx context.Context) (map[string]stream.Position, error) {
	found := map[string]stream.Position{}
	budget := stream.Budget{Values: j.cfg.DrainBudget, Bytes: j.cfg.DrainBytes}
	answer := j.cfg.Facts.Read(ctx, j.ledger.cursors[grantorName], budget, func(v stream.Value) bool {
		if _, mine := j.own[v.Position]; mine || v.Damage != "" {
			return true
		}
		f, err := lease.Decode(v.Bytes, j.ledger.units)
		if err != nil || f.Kind != lease.Lapsed {
			return true
		}
		author, err := j.cfg.Resolver.Author(ctx, grantorName, v)
		if _, before := found[f.Lease]; err == nil && author == j.cfg.Grantor && !before {
			found[f.Lease] = v.Position
		}
		return err == nil
	})
	if answer.State != stream.Blocked {
		return nil, errLate
	}
	return found, nil
}
