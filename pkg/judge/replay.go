package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// ErrLost means that the ledger cannot be trusted to hold every live lease: it is missing although a judge
// has run here, or damaged elsewhere than at its end (SPEC 6).
var ErrLost = errors.New("the ledger is lost")

// ErrFormat means that the ledger was written by a newer program. Nothing of it is lost.
var ErrFormat = errors.New("the ledger's format is newer than this program")

// ledgerFormat is the version of what this program writes. An older ledger is read, and rewritten.
const ledgerFormat = 1

// Beginning is how an incarnation found its ledger (SPEC 6, Persisted ledger).
type Beginning int

// The ways to begin.
const (
	// First: there was none, and none was expected.
	First Beginning = iota + 1
	// Threaded: written in this boot and whole to its end. What was not journaled is read again.
	Threaded
	// Recovered: after a reboot, an adoption, or the loss of its end. All evidence is unknown.
	Recovered
)

// replay is what reading the ledger's medium back came to.
type replay struct {
	group     uint64        // number of the last whole group; 0: there is none
	end       stream.Cursor // behind everything read
	discarded int           // damaged lines and lines of unfinished groups at the end
	found     bool          // the medium held anything
	later     bool          // something shows that there was more than a first group
}

// replayer puts groups together from lines.
type replayer struct {
	ledger *ledger
	lines  int      // of the group under way
	number uint64   // of the group under way
	open   []*delta // what they carry
	// fresh is, when that group is a snapshot, the ledger that it makes: a million leases are not kept twice.
	fresh  *ledger
	failed error // why a line of the snapshot cannot be applied; it counts if the group turns out whole
	replay
}

// drop gives up the group under way.
func (r *replayer) drop() {
	r.discarded += r.lines
	r.lines, r.open, r.fresh, r.failed = 0, nil, nil, nil
}

// add takes what the next line of the group carries.
func (r *replayer) add(d *delta) {
	if r.lines++; r.lines == 1 && d.Snapshot {
		r.fresh = newLedger(r.ledger.units, r.ledger.cadence, r.ledger.tolerance)
	}
	if r.fresh == nil {
		r.open = append(r.open, d)
	} else if r.failed == nil {
		r.failed = r.fresh.apply(d)
	}
}

// apply makes the changes of a whole group.
func (r *replayer) apply() error {
	if r.fresh != nil && r.failed == nil {
		*r.ledger = *r.fresh
	}
	err := r.failed
	for _, d := range r.open {
		if err == nil {
			err = r.ledger.apply(d)
		}
	}
	r.ledger.tidy()
	r.lines, r.open, r.fresh, r.failed = 0, nil, nil, nil
	return err
}

// readBack applies every whole group to the ledger. Damage that is not at the end is ErrLost: a whole group
// follows it that is not the one expected next.
func readBack(ctx context.Context, m stream.Medium, l *ledger) (replay, error) {
	r := &replayer{ledger: l}
	cursor, err := m.Mint(ctx, stream.Oldest)
	if err != nil {
		return r.replay, err
	}
	var wrong error
	answer := m.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
		wrong = r.line(v)
		return wrong == nil
	})
	switch {
	case wrong != nil:
		return r.replay, wrong
	case answer.State != stream.Blocked:
		return r.replay, fmt.Errorf("reading the ledger: %v: %w", answer.State, errors.Join(answer.Err, stream.ErrTransport))
	}
	r.end = answer.Cursor
	r.drop()
	if u, ok := m.(interface {
		Unfinished(context.Context) (int64, error)
	}); ok {
		tail, err := u.Unfinished(ctx)
		if err != nil {
			return r.replay, err
		}
		if tail > 0 {
			r.discarded++
			r.found = true
		}
	}
	return r.replay, nil
}

// line takes the next line in.
func (r *replayer) line(v stream.Value) error {
	r.found = true
	if v.Damage == "" {
		if g, whole := decodeLine(v.Bytes); whole {
			return r.part(g, v.Position)
		}
	}
	r.drop()
	r.discarded++
	return nil
}

// part takes a sound line in: the beginning of a group, or what continues the one under way.
func (r *replayer) part(g journalLine, at stream.Position) error {
	if g.Start != nil && g.Start.Format > ledgerFormat {
		return fmt.Errorf("%w: it is written in format %d, this program knows %d", ErrFormat, g.Start.Format, ledgerFormat)
	}
	r.later = r.later || g.Group > 1 || g.Snapshot
	switch {
	case g.Line == 0:
		r.drop()
		r.number = g.Group
	case g.Group != r.number || g.Line != r.lines:
		r.drop()
		r.discarded++
		return nil
	}
	r.add(&g.delta)
	if !g.Last {
		return nil
	}
	first := r.group == 0 && r.fresh != nil || r.group == 0 && r.number == 1
	if !first && r.number != r.group+1 {
		return fmt.Errorf("%w: at position %v group %d follows group %d", ErrLost, at, r.number, r.group)
	}
	if err := r.apply(); err != nil {
		return fmt.Errorf("the ledger at position %v: %w", at, err)
	}
	r.group, r.discarded = r.number, 0
	return nil
}

// rescale lets a unit table stand in for the one that the ledger was written with: readings are noted in
// the base unit of then.
func (l *ledger) rescale(u lease.Units, base string) error {
	if base == "" || base == u.Base() {
		return nil
	}
	factor, known := u.Magnitude(base)
	if !known {
		return fmt.Errorf("the ledger's readings are in %q, which is no unit of the table", base)
	}
	scale := func(n *int64) error {
		if *n > lease.Limit/factor {
			return fmt.Errorf("reading %d%s is over the bound in %s", *n, base, u.Base())
		}
		*n *= factor
		return nil
	}
	numbers := []*int64{&l.now, &l.completed}
	for i := range l.stalls {
		numbers = append(numbers, &l.stalls[i].From, &l.stalls[i].To)
	}
	for e := range l.all() {
		numbers = append(numbers, &e.TenureStart, &e.LastObservation, &e.Resumed)
		if e.rare {
			numbers = append(numbers, &l.makeRare(e).NextTry)
		}
	}
	for _, n := range numbers {
		if err := scale(n); err != nil {
			return err
		}
	}
	l.requeue()
	return nil
}

// requeue puts every lease where it belongs anew.
func (l *ledger) requeue() {
	for e := range l.all() {
		l.forgo(e)
		l.settleIn(e)
	}
}
