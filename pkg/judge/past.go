package judge

import (
	"context"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Moment is the ledger as it stood after one group of its own stream. It is good until the call that it was
// handed to returns.
type Moment struct {
	Pass        uint64
	Incarnation uint64
	Now         int64 // the newest reading then, base units; 0 before a first tick
	Completed   int64 // the reading at which the newest completed pass classified, which its report calls now; 0: none yet
	Snapshot    bool  // what came before was compacted away, so nothing older can be told
	Changes     []Change

	judge *Judge
}

// Rows are the leases that were live then.
func (m *Moment) Rows() []Row { return m.judge.Rows() }

// Row is one of them.
func (m *Moment) Row(id string) (Row, bool) { return m.judge.Row(id) }

// Change is what one group notes of one lease.
type Change struct {
	What  ChangeKind
	Lease string
	At    int64       // the reading, base units
	Cause lease.Cause // of Marked
	Text  string      // the reason of Revoked, the error of Tried
	Count int         // of Tried: how many attempts there have been
}

// ChangeKind is what befell a lease.
type ChangeKind int

// The kinds of change, in the order in which those of one group take effect.
const (
	Seeded     ChangeKind = iota + 1 // it entered the ledger
	Observed                         // an eligible renewal
	Doubted                          // its evidence became unknown
	GaveBack                         // its holder's release was read
	EndedEarly                       // the grantor's policy ends it
	Marked                           // it became pending
	Tried                            // its procedure reported
	TookBack                         // its procedure succeeded
	Gone                             // it left: its lapsed is recorded
)

// Past tells a ledger's own stream again, group by group from the last compaction on, until each answers false.
// Nothing is written. What is owed for unwatched time is counted with the cadence of cfg. Errors: ErrLost,
// ErrFormat, or a medium that cannot be read.
func Past(ctx context.Context, cfg Config, each func(*Moment) bool) error {
	j, err := assemble(cfg)
	if err != nil {
		return err
	}
	cursor, err := cfg.Ledger.Mint(ctx, stream.Oldest)
	if err != nil {
		return err
	}
	p := pastReader{replayer: replayer{ledger: j.ledger}, judge: j, each: each}
	var wrong error
	answer := cfg.Ledger.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
		wrong = p.value(v)
		return wrong == nil && !p.done
	})
	switch {
	case wrong != nil:
		return wrong
	case p.done:
		return nil
	case answer.State != stream.Blocked:
		return fmt.Errorf("reading the ledger: %v: %w", answer.State, answer.Err)
	case p.group == 0 && cfg.Expected:
		return fmt.Errorf("%w: %s", ErrLost, lossOf(p.replay))
	}
	return ctx.Err()
}

// pastReader is the replay that begins every incarnation, stopping after each group.
type pastReader struct {
	replayer
	judge  *Judge
	each   func(*Moment) bool
	deltas []*delta // of the group under way
	done   bool
}

func (p *pastReader) value(v stream.Value) error {
	g, whole := journalLine{}, false
	if v.Damage == "" {
		g, whole = decodeLine(v.Bytes)
	}
	if !whole {
		p.open = nil
		return nil
	}
	if g.Line == 0 {
		p.deltas = nil
	}
	p.deltas = append(p.deltas, &g.delta)
	before := p.group
	if err := p.part(g, v.Position); err != nil || p.group == before {
		return err
	}
	return p.moment()
}

// moment hands out the ledger after the group that was just applied.
func (p *pastReader) moment() error {
	l := p.ledger
	if base := l.units.Base(); l.base != "" && l.base != base {
		return fmt.Errorf("the ledger is written in %q and the table of units counts in %q: its past cannot be told before a judge has rewritten it", l.base, base)
	}
	m := Moment{Pass: l.pass, Incarnation: l.incarnation, Now: l.now, judge: p.judge}
	if l.watched {
		m.Completed = l.completed
	}
	for _, d := range p.deltas {
		m.Snapshot = m.Snapshot || d.Snapshot
		m.Changes = append(m.Changes, d.changesAt(l.now)...)
	}
	p.deltas = nil
	p.done = !p.each(&m)
	return nil
}

// changesAt are the changes that a delta notes. What was observed bears a reading of its own; the rest is of the
// pass.
func (d *delta) changesAt(now int64) []Change {
	var list []Change
	all := func(what ChangeKind, at int64, ids []string) {
		for _, id := range ids {
			list = append(list, Change{What: what, Lease: id, At: at})
		}
	}
	stamp := now
	if d.At != nil {
		stamp = *d.At
	}
	if d.Now != nil {
		now = *d.Now
	}
	for _, e := range d.Entries {
		list = append(list, Change{What: Seeded, Lease: e.Lease, At: e.TenureStart})
	}
	all(Observed, stamp, d.Renewed)
	all(Doubted, stamp, d.Unknown)
	all(GaveBack, stamp, d.Released)
	for _, r := range d.Revoked {
		list = append(list, Change{What: EndedEarly, Lease: r.Lease, At: stamp, Text: r.Reason})
	}
	for _, c := range d.Pending {
		list = append(list, Change{What: Marked, Lease: c.Lease, At: now, Cause: c.Cause})
	}
	for _, a := range d.Attempts {
		list = append(list, Change{What: Tried, Lease: a.Lease, At: now, Count: a.Count, Text: a.Error})
	}
	all(TookBack, now, d.Succeeded)
	all(Gone, now, d.Left)
	return list
}
