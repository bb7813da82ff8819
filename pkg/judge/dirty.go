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
	entries   map[string]*Entry // granted
	renewals  map[string]*Entry
	unknowns  map[string]*Entry
	releases  map[string]*Entry
	records   map[string]*Entry
	revoked   map[string]*Entry
	pendings  map[string]*Entry
	attempts  map[string]*Entry
	succeeded map[string]*Entry
	left      set
	mixed     []mixedFact
	stalls    []stall
	resumed   bool
	holders   set
	cursors   set
}

func newDirty() dirty {
	return dirty{
		entries: map[string]*Entry{}, renewals: map[string]*Entry{}, unknowns: map[string]*Entry{},
		releases: map[string]*Entry{}, records: map[string]*Entry{}, revoked: map[string]*Entry{},
		pendings: map[string]*Entry{}, attempts: map[string]*Entry{}, succeeded: map[string]*Entry{},
		holders: set{}, cursors: set{}, left: set{},
	}
}

// mark notes that an entry changed in one way.
func (d *dirty) mark(kind map[string]*Entry, e *Entry) {
	kind[e.Lease] = e
	d.dirtied = true
}

// reborn forgets what happened to a departed lease whose id is granted again before that was journaled.
func (d *dirty) reborn(id string) {
	if !d.left.has(id) {
		return
	}
	delete(d.left, id)
	for _, kind := range [...]map[string]*Entry{d.renewals, d.unknowns, d.releases, d.records, d.revoked, d.pendings, d.attempts, d.succeeded} {
		delete(kind, id)
	}
	d.mixed = slices.DeleteFunc(d.mixed, func(m mixedFact) bool { return m.Lease == id })
}

// changes takes everything that has changed since the last group, as the next group's delta.
func (j *Judge) changes() *delta {
	l, p := j.ledger, &j.dirty
	d := &delta{
		Pass: l.pass, Incarnation: l.incarnation, Token: l.token, LostGrants: l.lostGrants,
		Stalls: p.stalls, Mixed: p.mixed, Left: sortedKeys(p.left), Resumed: p.resumed,
		Renewed: sortedKeys(p.renewals), Released: sortedKeys(p.releases),
		Recorded: sortedKeys(p.records), Succeeded: sortedKeys(p.succeeded),
	}
	if l.ticked {
		now, at := l.now, j.stamp
		d.Now, d.At = &now, &at
	}
	if l.watched {
		completed := l.completed
		d.Completed = &completed
	}
	d.changedEntries(p)
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
	*p = newDirty()
	return d
}

func (d *delta) changedEntries(p *dirty) {
	for _, id := range sortedKeys(p.entries) {
		d.Entries = append(d.Entries, p.entries[id])
	}
	for _, id := range sortedKeys(p.unknowns) {
		if p.unknowns[id].Unknown {
			d.Unknown = append(d.Unknown, id)
		}
	}
	for _, id := range sortedKeys(p.revoked) {
		e := p.revoked[id]
		d.Revoked = append(d.Revoked, revoked{Lease: id, Reason: e.Reason, ByHand: e.ByHand})
	}
	for _, id := range sortedKeys(p.pendings) {
		d.Pending = append(d.Pending, caused{Lease: id, Cause: p.pendings[id].Cause})
	}
	for _, id := range sortedKeys(p.attempts) {
		e := p.attempts[id]
		d.Attempts = append(d.Attempts, attempt{Lease: id, Count: e.Attempts, Error: e.LastError, NextTry: e.NextTry})
	}
}

// copy keeps a carried delta from changing under a later pass.
func (h *holder) copy() *holder {
	return &holder{Queue: slices.Clone(h.Queue), Answered: slices.Clone(h.Answered)}
}
