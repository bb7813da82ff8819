package judge

import (
	"cmp"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
)

// live is one live lease in memory. It has no pointers, and its texts lie elsewhere, so that a million of them
// cost the garbage collector nothing: a slab hands them out. Readings and spans are base units.
type live struct {
	Token           int64
	TenureStart     int64
	LastObservation int64
	Resumed         int64 // only when Unknown
	duration        int64
	max             int64 // 0: none

	at   textPlace // of lease, holder, proposal and subject, one behind the other
	lens [4]uint32
	slot uint32
	then uint32 // slot of the lease that was heard of after this one last time

	ofHolder, onSubject link // the leases of the same holder, and on the same subject

	durationUnit, maxUnit uint16 // number in the slab's table of units; maxUnit 0: none
	marks                 marks
	cause                 uint8 // place in causes
	form                  form

	Unknown, Released, Recorded, Revoked, ByHand, Reclaimed bool

	alive   bool // it has not left
	running bool // its procedure was started by this judge and has not reported
	onDisk  bool // its pending state is synced
	rare    bool // there is something about it in the slab's map of rare things
}

// link chains leases that have something in common.
type link struct{ next, prev uint32 }

// nobody ends a chain.
const nobody = ^uint32(0)

// form is how a subject is written.
type form uint8

const (
	noSubject form = iota
	stringSubject
	jsonSubject
)

// rare is what few leases have.
type rare struct {
	Reason     string // of the policy that ends it
	LastError  string
	Attempts   int
	NextTry    int64
	Registered []string // the mixed-author media on which a fact of its holder was read
}

// causes by the number that a live lease bears; the first is none.
var causes = [...]lease.Cause{"", lease.ByRelease, lease.ByCap, lease.ByPolicy, lease.BySilence}

// Cause is why the lease is pending; empty while it is not.
func (e *live) Cause() lease.Cause { return causes[e.cause] }

func (e *live) setCause(c lease.Cause) { e.cause = uint8(max(0, slices.Index(causes[:], c))) }

// Pending says that the lease is due and not yet gone.
func (e *live) Pending() bool { return e.cause != 0 }

// The texts of a lease, in the order in which they lie.
const (
	textLease = iota
	textHolder
	textProposal
	textSubject
)

func (s *slab) text(e *live, which int) string {
	skip := uint32(0)
	for _, length := range e.lens[:which] {
		skip += length
	}
	return s.texts.get(e.at, skip, e.lens[which])
}

func (s *slab) idOf(e *live) string        { return s.texts.get(e.at, 0, e.lens[textLease]) }
func (s *slab) heldBy(e *live) string      { return s.text(e, textHolder) }
func (s *slab) proposalOf(e *live) string  { return s.text(e, textProposal) }
func (s *slab) subjectText(e *live) string { return s.text(e, textSubject) }

// byID orders leases.
func (s *slab) byID(a, b *live) int { return cmp.Compare(s.idOf(a), s.idOf(b)) }

func (s *slab) subjectOf(e *live) lease.Subject {
	switch e.form {
	case stringSubject:
		return lease.StringSubject(s.subjectText(e))
	case jsonSubject:
		subject, err := lease.ParseSubject([]byte(s.subjectText(e)))
		_ = err // it was a subject when it was put in
		return subject
	}
	return lease.Subject{}
}

func formOf(s lease.Subject) form {
	switch {
	case s.IsZero():
		return noSubject
	case s.IsString():
		return stringSubject
	}
	return jsonSubject
}

// rarely is what few leases have, to be read.
func (s *slab) rarely(e *live) rare {
	if !e.rare {
		return rare{}
	}
	return *s.rares[e.slot]
}

// makeRare is the same, to be written.
func (s *slab) makeRare(e *live) *rare {
	if !e.rare {
		e.rare = true
		s.rares[e.slot] = &rare{}
	}
	return s.rares[e.slot]
}

// entry is the lease as it is written and shown.
func (l *ledger) entry(e *live) *Entry {
	t := l.entryOf(e)
	return &t
}

func (l *ledger) entryOf(e *live) Entry {
	x := l.rarely(e)
	return Entry{
		Lease: l.idOf(e), Subject: l.subjectOf(e), Holder: l.heldBy(e), Token: e.Token, Proposal: l.proposalOf(e),
		Duration: l.terms(e.duration, e.durationUnit), Max: l.terms(e.max, e.maxUnit),
		TenureStart: e.TenureStart, LastObservation: e.LastObservation, Unknown: e.Unknown, Resumed: e.Resumed,
		Released: e.Released, Recorded: e.Recorded, Revoked: e.Revoked, Reason: x.Reason, ByHand: e.ByHand,
		Cause: e.Cause(), Attempts: x.Attempts, LastError: x.LastError, NextTry: x.NextTry, Reclaimed: e.Reclaimed,
		Registered: x.Registered,
	}
}

// terms is a span as the grant named it.
func (l *ledger) terms(count int64, unit uint16) lease.Duration {
	if unit == 0 {
		return lease.Duration{}
	}
	name := l.unitNames[unit-1]
	base, _ := l.units.Magnitude(name)
	return lease.Duration{Unit: name, N: count / base}
}
