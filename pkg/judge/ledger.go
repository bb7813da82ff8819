package judge

import (
	"fmt"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Limits of what is remembered (SPEC 6).
const (
	maxQueued   = 64    // answerable proposals of one holder that are not answered yet
	maxAnswered = 256   // answered or withdrawn proposal ids of one holder
	maxSeen     = 65536 // ids of departed leases that bore no token
	maxKept     = 4096  // facts of one medium about leases not known yet
	maxID       = 256   // bytes of an id that is remembered before anything vouches for it
	maxSubject  = 4096  // bytes of a subject that is granted
)

// ledger is everything the judge knows. It changes through its methods alone, which the pass and the replay
// of the journal share, so that what is recovered from disk equals what was in memory.
type ledger struct {
	units     lease.Units
	cadence   int64
	tolerance int64

	pass        uint64
	incarnation uint64
	now         int64
	ticked      bool  // now is known
	completed   int64 // reading of the last completed pass
	watched     bool  // there is one
	boot, place string
	base        string // unit of the readings on disk
	format      int    // of what is on disk
	lostGrants  bool   // the grantor's stream had a gap: nothing is granted until recover
	first       bool   // no pass is completed yet, and there was no ledger: a lapsed takes its lease out
	resume      bool   // all evidence is to become unknown at the first tick

	slab
	urgent    map[*live]struct{} // released or revoked, and not pending yet
	pending   map[*live]struct{}
	holders   map[string]*holder
	asking    set // holders with proposals in their queue
	cursors   map[string]stream.Cursor
	names     map[string]string // what the resolver is to remember
	stalls    []stall
	token     int64 // highest drained or granted
	seen      map[string]struct{}
	seenOrder []string
}

func newLedger(u lease.Units, cadence, tolerance int64) *ledger {
	return &ledger{
		units: u, cadence: cadence, tolerance: tolerance,
		slab: newSlab(), urgent: map[*live]struct{}{}, pending: map[*live]struct{}{},
		holders: map[string]*holder{}, asking: set{},
		cursors: map[string]stream.Cursor{}, names: map[string]string{}, seen: map[string]struct{}{},
	}
}

// put takes a lease in, or replaces the one of that id. It answers an error when a unit of its terms is none of
// the table's.
func (l *ledger) put(t *Entry) (*live, error) {
	duration, err := l.units.Count(t.Duration)
	if err != nil {
		return nil, fmt.Errorf("lease %q: duration: %w", t.Lease, err)
	}
	most := int64(0)
	if !t.Max.IsZero() {
		if most, err = l.units.Count(t.Max); err != nil {
			return nil, fmt.Errorf("lease %q: max: %w", t.Lease, err)
		}
	}
	if old := l.find(t.Lease); old != nil {
		l.take(old)
	}
	e := l.allot(t.Lease, t.Holder, t.Proposal, t.Subject.Text())
	e.form = formOf(t.Subject)
	e.duration, e.durationUnit = duration, l.unitNumber(t.Duration)
	e.max, e.maxUnit = most, l.unitNumber(t.Max)
	e.Token, e.TenureStart, e.LastObservation = t.Token, t.TenureStart, t.LastObservation
	e.Unknown, e.Resumed, e.Released, e.Recorded = t.Unknown, t.Resumed, t.Released, t.Recorded
	e.Revoked, e.ByHand, e.Reclaimed = t.Revoked, t.ByHand, t.Reclaimed
	e.setCause(t.Cause)
	if t.Reason != "" || t.LastError != "" || t.Attempts != 0 || t.NextTry != 0 || len(t.Registered) > 0 {
		*l.makeRare(e) = rare{t.Reason, t.LastError, t.Attempts, t.NextTry, t.Registered}
	}
	l.token = max(l.token, e.Token)
	l.settleIn(e)
	return e, nil
}

// unitNumber is what stands for the unit of a span that is there; 0 for none.
func (l *ledger) unitNumber(d lease.Duration) uint16 {
	if d.IsZero() {
		return 0
	}
	i := slices.Index(l.unitNames, d.Unit)
	if i < 0 {
		i = len(l.unitNames)
		l.unitNames = append(l.unitNames, d.Unit)
	}
	return uint16(i + 1)
}

// settleIn puts a lease where its state belongs: among the pending, the urgent, or those that become due.
func (l *ledger) settleIn(e *live) {
	switch {
	case e.Pending():
		l.forgo(e)
		delete(l.urgent, e)
		l.pending[e] = struct{}{}
	case e.Released || e.Revoked:
		l.forgo(e)
		l.urgent[e] = struct{}{}
	case !l.awaited(e):
		l.await(e, l.passes(e))
	}
}

// take takes a lease out without a trace.
func (l *ledger) take(e *live) {
	l.give(e)
	delete(l.urgent, e)
	delete(l.pending, e)
}

// leave lets a lease go: a grant of its id is a repeat from now on.
func (l *ledger) leave(id string) {
	if e := l.find(id); e != nil {
		l.take(e)
		if e.Token == 0 {
			l.remember(id)
		}
	}
}

// known says that a lease of this id is live, or departed and remembered.
func (l *ledger) known(id string) bool {
	_, departed := l.seen[id]
	return departed || l.find(id) != nil
}

// remember notes the id of a departed lease that bore no token.
func (l *ledger) remember(id string) {
	if _, known := l.seen[id]; known {
		return
	}
	l.seen[id] = struct{}{}
	l.seenOrder = append(l.seenOrder, id)
	if len(l.seenOrder) > maxSeen {
		delete(l.seen, l.seenOrder[0])
		l.seenOrder = l.seenOrder[1:]
	}
}

// passes is the reading past which (strictly) a live lease is due by its cap or by silence.
func (l *ledger) passes(e *live) int64 {
	last := l.silentAfter(e)
	if e.max > 0 {
		last = min(last, e.TenureStart+e.max)
	}
	return last
}

// silentAfter is the reading past which (strictly) a lease is silent, as things stand (SPEC 6, pass 4).
func (l *ledger) silentAfter(e *live) int64 {
	last := e.LastObservation + e.duration + l.tolerance + l.unwatched(e.LastObservation, e.duration)
	if e.Unknown {
		last = max(last, e.Resumed+e.duration+l.unwatched(e.Resumed, e.duration))
	}
	return last
}

func (l *ledger) renew(e *live, at int64) {
	e.LastObservation, e.Unknown, e.Resumed = at, false, 0
}

func (l *ledger) release(e *live) {
	e.Released = true
	l.settleIn(e)
}

func (l *ledger) unknow(e *live, at int64) {
	e.Unknown, e.Resumed = true, at
}

func (l *ledger) revoke(e *live, reason string, byHand bool) {
	e.Revoked, e.ByHand = true, e.ByHand || byHand
	if reason != "" {
		l.makeRare(e).Reason = clip(reason, maxText)
	}
	if e.rare {
		l.makeRare(e).NextTry = 0
	}
	l.settleIn(e)
}

func (l *ledger) setPending(e *live, cause lease.Cause) {
	e.setCause(cause)
	l.settleIn(e)
}
