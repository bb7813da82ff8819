package judge

import (
	"maps"
	"slices"

	"github.com/daolease/daolease/pkg/stream"
)

// set is names without order.
type set map[string]struct{}

// add answers true when the name was not there yet.
func (s set) add(name string) bool {
	_, there := s[name]
	s[name] = struct{}{}
	return !there
}

func (s set) has(name string) bool {
	_, there := s[name]
	return there
}

// dirty is what has changed in the ledger since the last group.
type dirty struct {
	dirtied   bool
	entries   marked // granted
	renewals  marked
	unknowns  marked
	releases  marked
	records   marked
	revoked   marked
	pendings  marked
	attempts  marked
	succeeded marked
	left      set
	mixed     []mixedFact
	stalls    []stall
	resumed   bool
	holders   set
	cursors   set
}

func newDirty() dirty {
	return dirty{
		entries: marked{bit: markEntry}, renewals: marked{bit: markRenewal}, unknowns: marked{bit: markUnknown},
		releases: marked{bit: markRelease}, records: marked{bit: markRecord}, revoked: marked{bit: markRevoked},
		pendings: marked{bit: markPending}, attempts: marked{bit: markAttempt}, succeeded: marked{bit: markSucceeded},
		holders: set{}, cursors: set{}, left: set{},
	}
}

// clear forgets all of it.
func (d *dirty) clear() {
	for _, kind := range [...]*marked{
		&d.entries, &d.renewals, &d.unknowns, &d.releases, &d.records, &d.revoked, &d.pendings, &d.attempts, &d.succeeded,
	} {
		kind.clear()
	}
	for _, names := range [...]set{d.left, d.holders, d.cursors} {
		clear(names)
	}
	d.dirtied, d.resumed, d.mixed, d.stalls = false, false, nil, nil
}

// mark notes that a lease changed in one way.
func (d *dirty) mark(kind *marked, e *live) {
	kind.add(e)
	d.dirtied = true
}

// reborn forgets what happened to a departed lease whose id is granted again before that was journaled.
func (d *dirty) reborn(id string) {
	if !d.left.has(id) {
		return
	}
	delete(d.left, id)
	d.mixed = slices.DeleteFunc(d.mixed, func(m mixedFact) bool { return m.Lease == id })
}

// changes takes everything that has changed since the last group, as the next group's delta.
func (j *Judge) changes() *delta {
	l, p := j.ledger, &j.dirty
	d := &delta{
		Pass: l.pass, Incarnation: l.incarnation, Token: l.token, LostGrants: l.lostGrants,
		Stalls: p.stalls, Mixed: p.mixed, Left: sortedKeys(p.left), Resumed: p.resumed,
		Renewed: l.staying(p.renewals), Released: l.staying(p.releases),
		Recorded: l.staying(p.records), Succeeded: l.staying(p.succeeded),
	}
	if l.ticked {
		now, at := l.now, j.stamp
		d.Now, d.At = &now, &at
	}
	if l.watched {
		completed := l.completed
		d.Completed = &completed
	}
	l.changedLeases(d, p)
	if len(p.holders) > 0 {
		d.Holders = holders{}
		for name := range p.holders {
			d.Holders[name] = l.holders[name].copy()
		}
	}
	if r, remembers := j.cfg.Resolver.(Rememberer); remembers {
		d.Known = r.News()
		maps.Copy(l.names, d.Known)
	}
	if len(p.cursors) > 0 {
		d.Cursors = map[string]stream.Cursor{}
		for key := range p.cursors {
			d.Cursors[key] = l.cursors[key]
		}
	}
	p.clear()
	return d
}

// staying are the ids of those that have not left. What happened to the others is told by their leaving.
func (l *ledger) staying(m marked) []string {
	var ids []string
	if len(m.list) > 0 {
		ids = make([]string, 0, len(m.list))
	}
	for _, e := range m.list {
		if e.alive {
			ids = append(ids, l.idOf(e))
		}
	}
	return ids
}

// changedLeases adds what is more than an id. A lease that was granted and has left is written too, unless its
// id was granted anew: the id of one without a token is remembered when it leaves.
func (l *ledger) changedLeases(d *delta, p *dirty) {
	for _, e := range p.entries.list {
		if e.alive || p.left.has(l.idOf(e)) {
			d.Entries = append(d.Entries, l.entry(e))
		}
	}
	for _, e := range p.unknowns.list {
		if e.alive && e.Unknown {
			d.Unknown = append(d.Unknown, l.idOf(e))
		}
	}
	for _, e := range p.revoked.list {
		if e.alive {
			d.Revoked = append(d.Revoked, revoked{Lease: l.idOf(e), Reason: l.rarely(e).Reason, ByHand: e.ByHand})
		}
	}
	for _, e := range p.pendings.list {
		if e.alive {
			d.Pending = append(d.Pending, caused{Lease: l.idOf(e), Cause: e.Cause()})
		}
	}
	for _, e := range p.attempts.list {
		if x := l.rarely(e); e.alive {
			d.Attempts = append(d.Attempts, attempt{Lease: l.idOf(e), Count: x.Attempts, Error: x.LastError, NextTry: x.NextTry})
		}
	}
}

// copy keeps a carried delta from changing under a later pass.
func (h *holder) copy() *holder {
	return &holder{Queue: slices.Clone(h.Queue), Answered: slices.Clone(h.Answered)}
}
