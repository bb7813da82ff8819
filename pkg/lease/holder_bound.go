package lease

import (
	"cmp"
	"fmt"
	"slices"
)

// Why is the reason for which a holder does not hold a lease.
type Why int

// The reasons, in the order in which they are found.
const (
	NotGranted   Why = iota + 1 // no grant of it to this holder has been observed
	HasEnded                    // the grantor recorded that it lapsed
	GivenBack                   // the holder set out to release it or to withdraw its proposal
	NotesVoid                   // it is known from void notes only
	NeverActedOn                // its grant is one that is never acted on
	NoReading                   // the reading is unusable
	NoBasis                     // its basis is unknown: it is held from the first renewal on
	PastBound                   // the bound was reached
)

// NotHeld is why a lease is not held (SPEC 7).
type NotHeld struct {
	Lease   string
	Why     Why
	Cause   Cause  // for HasEnded
	Unfit   string // for NeverActedOn
	Bound   int64  // for PastBound, in base units
	Reading int64  // for PastBound and NoReading, in base units
}

// Error is the reason, for a person.
func (e *NotHeld) Error() string {
	return fmt.Sprintf("lease %s is not held: %s", clip(e.Lease), e.reason())
}

func (e *NotHeld) reason() string {
	switch e.Why {
	case NotGranted:
		return "no grant of it has been observed"
	case HasEnded:
		return fmt.Sprintf("it has lapsed (%s)", e.Cause)
	case GivenBack:
		return "it has been given back"
	case NotesVoid:
		return "the notes about it are void"
	case NeverActedOn:
		return e.Unfit
	case NoReading:
		return fmt.Sprintf("%d is no reading", e.Reading)
	case NoBasis:
		return "it is not known since when it was granted; it is held once it has been renewed"
	}
	return fmt.Sprintf("its bound %d was reached (reading %d)", e.Bound, e.Reading)
}

// RenewalInterval is how long a holder waits between renewals: a third of the duration, at least one base unit.
func RenewalInterval(duration int64) int64 { return max(1, duration/3) }

// Bound is the reading at which a lease stops being held, and whether one is known (SPEC 7): the earlier of
// duration since the later of last renewal and basis, and the cap since the basis.
func (h *Holder) Bound(lease string) (int64, bool) {
	if held := h.State.Leases[lease]; held != nil {
		return h.bound(held)
	}
	return 0, false
}

func (h *Holder) bound(held *Held) (int64, bool) {
	since, known := held.since()
	duration, most, err := h.terms(held)
	if !known || err != nil {
		return 0, false
	}
	return min(since+duration, *held.Basis+most), true
}

// terms are duration and cap in base units. No cap is one that no reading can pass. They cannot be counted when
// the table no longer has their unit.
func (h *Holder) terms(held *Held) (duration, most int64, err error) {
	duration, err = h.Units.Count(held.Duration)
	if err != nil || held.Max.IsZero() {
		return duration, Limit, err
	}
	most, err = h.Units.Count(held.Max)
	return duration, most, err
}

// since is the later of last renewal and basis; unknown without a basis.
func (held *Held) since() (int64, bool) {
	if held.Basis == nil {
		return 0, false
	}
	return *later(held.Basis, held.Renewed), true
}

// Holding is nil while the lease is held at that reading, and a *NotHeld otherwise. Reaching the bound is
// passing it. A reading older than one already seen counts as that one.
func (h *Holder) Holding(lease string, reading int64) error {
	h.See(reading)
	held := h.State.Leases[lease]
	if e := held.ended(lease); e != nil {
		return e
	}
	if _, _, err := h.terms(held); err != nil {
		return &NotHeld{Lease: lease, Why: NeverActedOn, Unfit: err.Error()}
	}
	if !usable(reading) {
		return &NotHeld{Lease: lease, Why: NoReading, Reading: reading}
	}
	bound, known := h.bound(held)
	if !known {
		return &NotHeld{Lease: lease, Why: NoBasis}
	}
	if h.State.Now >= bound {
		return &NotHeld{Lease: lease, Why: PastBound, Bound: bound, Reading: h.State.Now}
	}
	return nil
}

// ended is why a lease is not held whatever the reading; nil when that is a matter of the reading.
func (held *Held) ended(lease string) *NotHeld {
	switch {
	case held == nil:
		return &NotHeld{Lease: lease, Why: NotGranted}
	case held.Lapsed != "":
		return &NotHeld{Lease: lease, Why: HasEnded, Cause: held.Lapsed}
	case held.Release != "":
		return &NotHeld{Lease: lease, Why: GivenBack}
	case held.Void:
		return &NotHeld{Lease: lease, Why: NotesVoid}
	case held.Unfit != "":
		return &NotHeld{Lease: lease, Why: NeverActedOn, Unfit: held.Unfit}
	}
	return nil
}

// Left is how many base units are left until the bound; 0 when the lease is not held.
func (h *Holder) Left(lease string, reading int64) int64 {
	if h.Holding(lease, reading) != nil {
		return 0
	}
	bound, _ := h.Bound(lease)
	return bound - h.State.Now
}

// Due says that a lease should be renewed: it is older than this part of its duration (3 for a third, 6 for a
// sixth), or would no longer be renewed at strictly less than half of it one base unit later (SPEC 7). A lease
// whose basis is unknown is due, since only a renewal lets it be held. One that has ended never is.
func (h *Holder) Due(lease string, reading, part int64) bool {
	err := h.Holding(lease, reading)
	if e, ok := err.(*NotHeld); ok {
		return e.Why == NoBasis
	}
	held := h.State.Leases[lease]
	since, _ := held.since()
	duration, _ := h.Units.Count(held.Duration)
	age := h.State.Now - since
	return age > duration/max(part, 1) || 2*(age+1) >= duration
}

// Current are the leases held at that reading, by lease id.
func (h *Holder) Current(reading int64) []Held {
	var current []Held
	for lease, held := range h.State.Leases {
		if h.Holding(lease, reading) == nil {
			current = append(current, *held)
		}
	}
	slices.SortFunc(current, func(a, b Held) int { return cmp.Compare(a.Lease, b.Lease) })
	return current
}
