package judge

import (
	"maps"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// delta is what one line of the journal carries: what has changed, in absolute values, so that applying one
// twice changes nothing more (SPEC 6, Persisted ledger). Field order here is the order of application.
type delta struct {
	Snapshot    bool    `json:"snapshot,omitempty"` // forget everything first
	Start       *start  `json:"start,omitempty"`
	Resumed     bool    `json:"resumed,omitempty"` // what the start owed has been done
	Pass        uint64  `json:"pass,omitempty"`
	Incarnation uint64  `json:"incarnation,omitempty"`
	Now         *int64  `json:"now,omitempty"`
	Completed   *int64  `json:"completed,omitempty"`
	Token       int64   `json:"token,omitempty"`
	LostGrants  bool    `json:"lost_grants,omitempty"`
	Stalls      []stall `json:"stalls,omitempty"`

	Cursors map[string]stream.Cursor `json:"cursors,omitempty"` // an empty one: forgotten
	Known   map[string]string        `json:"known,omitempty"`   // by the resolver
	Seen    []string                 `json:"seen,omitempty"`
	Entries []*Entry                 `json:"granted,omitempty"`

	At      *int64   `json:"at,omitempty"` // the reading of what was observed
	Renewed []string `json:"renewed,omitempty"`
	Unknown []string `json:"unknown,omitempty"` // after the renewed: what was renewed before the gap

	Released  []string    `json:"released,omitempty"`
	Recorded  []string    `json:"recorded,omitempty"`
	Revoked   []revoked   `json:"revoked,omitempty"`
	Holders   holders     `json:"holders,omitempty"`
	Pending   []caused    `json:"pending,omitempty"`
	Attempts  []attempt   `json:"attempts,omitempty"`
	Succeeded []string    `json:"succeeded,omitempty"`
	Left      []string    `json:"left,omitempty"`
	Mixed     []mixedFact `json:"registered,omitempty"`
}

// start is what an incarnation notes when it begins.
type start struct {
	Format int    `json:"format"`
	Boot   string `json:"boot"`
	Place  string `json:"place"`
	Base   string `json:"base"` // the unit in which readings are noted
	// First: no judge has completed a pass yet. Resume: all evidence is to become unknown at the first tick.
	First  bool `json:"first,omitempty"`
	Resume bool `json:"resume,omitempty"`
}

type (
	holders map[string]*holder
	revoked struct {
		Lease  string `json:"lease"`
		Reason string `json:"reason,omitempty"`
		ByHand bool   `json:"by_hand,omitempty"`
	}
	caused struct {
		Lease string      `json:"lease"`
		Cause lease.Cause `json:"cause"`
	}
	attempt struct {
		Lease   string `json:"lease"`
		Count   int    `json:"count"`
		Error   string `json:"error,omitempty"`
		NextTry int64  `json:"next_try,omitempty"`
	}
	mixedFact struct {
		Lease  string `json:"lease"`
		Medium string `json:"medium"`
	}
)

// sound says that a delta which was read has everything that applying it asks for. This program writes no
// other; whoever wrote one had the sum right and the rest wrong.
func (d *delta) sound() bool {
	for _, e := range d.Entries {
		if e == nil || e.Cause != "" && !e.Cause.Valid() {
			return false
		}
	}
	for _, c := range d.Pending {
		if !c.Cause.Valid() {
			return false
		}
	}
	for _, h := range d.Holders {
		if h == nil {
			return false
		}
	}
	return d.At != nil || len(d.Unknown) == 0 && len(d.Renewed) == 0
}

// apply makes the change that a delta carries. It errs only where the unit table lacks a unit of a lease.
func (l *ledger) apply(d *delta) error {
	if d.Snapshot {
		*l = *newLedger(l.units, l.cadence, l.tolerance)
	}
	l.applyHead(d)
	for name, c := range d.Cursors {
		l.setCursor(name, c)
	}
	maps.Copy(l.names, d.Known)
	for _, id := range d.Seen {
		l.remember(id)
	}
	for _, e := range d.Entries {
		if _, err := l.put(e); err != nil {
			return err
		}
	}
	l.applyObserved(d)
	l.applyReclaims(d)
	return nil
}

func (l *ledger) applyHead(d *delta) {
	if d.Start != nil {
		l.boot, l.place, l.base, l.format = d.Start.Boot, d.Start.Place, d.Start.Base, d.Start.Format
		l.first, l.resume = d.Start.First, d.Start.Resume
	}
	l.resume = l.resume && !d.Resumed
	l.pass, l.incarnation = max(l.pass, d.Pass), max(l.incarnation, d.Incarnation)
	if d.Now != nil {
		l.now, l.ticked = *d.Now, true
	}
	if d.Completed != nil {
		l.completed, l.watched, l.first = *d.Completed, true, false
	}
	l.token = max(l.token, d.Token)
	l.lostGrants = l.lostGrants || d.LostGrants
	for _, s := range d.Stalls {
		l.noteStall(s)
	}
}

func (l *ledger) applyObserved(d *delta) {
	for _, id := range d.Renewed {
		if e := l.heard([]byte(id)); e != nil {
			l.renew(e, *d.At)
		}
	}
	l.each(d.Unknown, func(e *live) { l.unknow(e, *d.At) })
	l.each(d.Released, l.release)
	l.each(d.Recorded, func(e *live) { e.Recorded = true })
	for _, r := range d.Revoked {
		if e := l.find(r.Lease); e != nil {
			l.revoke(e, r.Reason, r.ByHand)
		}
	}
	for name, h := range d.Holders {
		l.setHolder(name, h)
	}
	for _, m := range d.Mixed {
		if e := l.find(m.Lease); e != nil {
			l.register(e, m.Medium)
		}
	}
}

func (l *ledger) applyReclaims(d *delta) {
	for _, c := range d.Pending {
		if e := l.find(c.Lease); e != nil {
			l.setPending(e, c.Cause)
		}
	}
	for _, a := range d.Attempts {
		if e := l.find(a.Lease); e != nil {
			x := l.makeRare(e)
			x.Attempts, x.LastError, x.NextTry = a.Count, a.Error, a.NextTry
		}
	}
	l.each(d.Succeeded, func(e *live) { e.Reclaimed = true })
	for _, id := range d.Left {
		l.leave(id)
	}
}

// each calls fn with every named lease that is live.
func (l *ledger) each(ids []string, fn func(*live)) {
	for _, id := range ids {
		if e := l.find(id); e != nil {
			fn(e)
		}
	}
}

// snapshot is the whole ledger as one delta.
func (l *ledger) snapshot(base string) *delta {
	d := l.snapshotHead(base)
	d.Entries = make([]*Entry, 0, l.count)
	for e := range l.all() {
		d.Entries = append(d.Entries, l.entry(e))
	}
	return d
}

// snapshotHead is that without the leases.
func (l *ledger) snapshotHead(base string) *delta {
	head := &delta{
		Snapshot: true, Start: l.start(base),
		Pass: l.pass, Incarnation: l.incarnation, Token: l.token, LostGrants: l.lostGrants,
		Stalls: l.stalls, Cursors: l.cursors, Known: l.names, Seen: l.seenOrder, Holders: l.holders,
	}
	if l.ticked {
		head.Now = &l.now
	}
	if l.watched {
		head.Completed = &l.completed
	}
	return head
}

// start is what the incarnation under way notes.
func (l *ledger) start(base string) *start {
	return &start{Format: ledgerFormat, Boot: l.boot, Place: l.place, Base: base, First: l.first, Resume: l.resume}
}

func (l *ledger) setCursor(name string, c stream.Cursor) {
	if c == "" {
		delete(l.cursors, name)
		return
	}
	l.cursors[name] = c
}
