package judge

import (
	"fmt"

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

	entries   map[string]*Entry
	due       queue
	urgent    map[*Entry]struct{} // released or revoked, and not pending yet
	pending   map[*Entry]struct{}
	byHolder  map[string]map[*Entry]struct{}
	bySubject map[string]map[*Entry]struct{}
	answering map[proposalKey]*Entry // live leases by the proposal they answer
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
		entries: map[string]*Entry{}, urgent: map[*Entry]struct{}{}, pending: map[*Entry]struct{}{},
		byHolder: map[string]map[*Entry]struct{}{}, bySubject: map[string]map[*Entry]struct{}{},
		answering: map[proposalKey]*Entry{}, holders: map[string]*holder{}, asking: set{},
		cursors: map[string]stream.Cursor{}, names: map[string]string{}, seen: map[string]struct{}{},
	}
}

// put takes an entry in, or replaces the one of that id. It answers an error when a unit of its terms is
// none of the table's.
func (l *ledger) put(e *Entry) error {
	var err error
	if e.duration, err = l.units.Count(e.Duration); err != nil {
		return fmt.Errorf("lease %q: duration: %w", e.Lease, err)
	}
	if !e.Max.IsZero() {
		if e.max, err = l.units.Count(e.Max); err != nil {
			return fmt.Errorf("lease %q: max: %w", e.Lease, err)
		}
	}
	if old := l.entries[e.Lease]; old != nil {
		l.take(old)
	}
	l.entries[e.Lease] = e
	index(l.byHolder, e.Holder, e)
	index(l.bySubject, e.Subject.Text(), e)
	if e.Proposal != "" {
		l.answering[proposalKey{e.Holder, e.Proposal}] = e
	}
	l.token = max(l.token, e.Token)
	e.index = -1
	l.settleIn(e)
	return nil
}

// settleIn puts an entry where its state belongs: among the pending, the urgent, or the due queue.
func (l *ledger) settleIn(e *Entry) {
	switch {
	case e.Pending():
		l.due.remove(e)
		delete(l.urgent, e)
		l.pending[e] = struct{}{}
	case e.Released || e.Revoked:
		l.due.remove(e)
		l.urgent[e] = struct{}{}
	case e.index < 0:
		l.due.push(e, l.passes(e))
	}
}

// take takes an entry out without a trace.
func (l *ledger) take(e *Entry) {
	delete(l.entries, e.Lease)
	unindex(l.byHolder, e.Holder, e)
	unindex(l.bySubject, e.Subject.Text(), e)
	if key := (proposalKey{e.Holder, e.Proposal}); l.answering[key] == e {
		delete(l.answering, key)
	}
	l.due.remove(e)
	delete(l.urgent, e)
	delete(l.pending, e)
}

// leave lets a lease go: a grant of its id is a repeat from now on.
func (l *ledger) leave(id string) {
	if e := l.entries[id]; e != nil {
		l.take(e)
		if e.Token == 0 {
			l.remember(id)
		}
	}
}

// known says that a lease of this id is live, or departed and remembered.
func (l *ledger) known(id string) bool {
	_, departed := l.seen[id]
	return departed || l.entries[id] != nil
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
func (l *ledger) passes(e *Entry) int64 {
	last := l.silentAfter(e)
	if e.max > 0 {
		last = min(last, e.TenureStart+e.max)
	}
	return last
}

// silentAfter is the reading past which (strictly) a lease is silent, as things stand (SPEC 6, pass 4).
func (l *ledger) silentAfter(e *Entry) int64 {
	last := e.LastObservation + e.duration + l.tolerance + l.unwatched(e.LastObservation, e.duration)
	if e.Unknown {
		last = max(last, e.Resumed+e.duration+l.unwatched(e.Resumed, e.duration))
	}
	return last
}

func (l *ledger) renew(e *Entry, at int64) {
	e.LastObservation, e.Unknown, e.Resumed = at, false, 0
}

func (l *ledger) release(e *Entry) {
	e.Released = true
	l.settleIn(e)
}

func (l *ledger) unknow(e *Entry, at int64) {
	e.Unknown, e.Resumed = true, at
}

func (l *ledger) revoke(e *Entry, reason string, byHand bool) {
	e.Revoked, e.ByHand = true, e.ByHand || byHand
	if reason != "" {
		e.Reason = clip(reason, maxText)
	}
	e.NextTry = 0
	l.settleIn(e)
}

func (l *ledger) setPending(e *Entry, cause lease.Cause) {
	e.Cause = cause
	l.settleIn(e)
}

func index(m map[string]map[*Entry]struct{}, key string, e *Entry) {
	if m[key] == nil {
		m[key] = map[*Entry]struct{}{}
	}
	m[key][e] = struct{}{}
}

func unindex(m map[string]map[*Entry]struct{}, key string, e *Entry) {
	delete(m[key], e)
	if len(m[key]) == 0 {
		delete(m, key)
	}
}
