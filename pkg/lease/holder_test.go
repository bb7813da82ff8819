package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// me is a holder who has completed a look that began at each of these readings.
func me(looks ...int64) *Holder {
	h := NewHolder("me", "grantor", DefaultUnits(), State{})
	for _, at := range looks {
		h.look(at)
	}
	return h
}

// look is a completed look that shows the holder these facts, all of them the grantor's.
func (h *Holder) look(at int64, facts ...Fact) (seen []Observation) {
	h.BeginLook(at)
	for _, f := range facts {
		seen = append(seen, h.Observe("grantor", f))
	}
	h.EndLook(stream.Cursor(fmt.Sprint("after ", at)), true)
	return seen
}

func grantOf(lease string, ms int64, change ...func(*GrantTerms)) Fact {
	terms := GrantTerms{Lease: lease, Subject: StringSubject("db"), Holder: "me", Duration: Duration{"ms", ms}}
	for _, c := range change {
		c(&terms)
	}
	return must(NewGrant(DefaultUnits(), terms))
}

func token(n int64) func(*GrantTerms)      { return func(g *GrantTerms) { g.Token = n } }
func capped(ms int64) func(*GrantTerms)    { return func(g *GrantTerms) { g.Max = Duration{"ms", ms} } }
func answering(p string) func(*GrantTerms) { return func(g *GrantTerms) { g.Proposal = p } }
func to(holder string) func(*GrantTerms)   { return func(g *GrantTerms) { g.Holder = holder } }
func about(subject string) func(*GrantTerms) {
	return func(g *GrantTerms) { g.Subject = StringSubject(subject) }
}
func refusalOf(p, holder, reason string) Fact {
	return must(NewRefusal(DefaultUnits(), RefusalTerms{Proposal: p, Holder: holder, Reason: reason, By: "X", HeldBy: "bob"}))
}
func lapsedOf(lease string, c Cause) Fact { return must(NewLapsed(lease, c, "")) }

func must(f Fact, err error) Fact {
	if err != nil {
		panic(err)
	}
	return f
}

// held checks until when a lease is held: at the reading before bound, and not at bound.
func held(t *testing.T, h *Holder, lease string, bound int64) {
	t.Helper()
	if got, known := h.Bound(lease); !known || got != bound {
		t.Fatalf("bound of %s is %d (%v); want %d", lease, got, known, bound)
	}
	if err := h.Holding(lease, bound-1); err != nil {
		t.Errorf("one before the bound: %v", err)
	}
	if got := h.Left(lease, bound-1); got != 1 {
		t.Errorf("%d left one before the bound", got)
	}
	notHeld(t, h, lease, bound, PastBound)
	if got := h.Left(lease, bound); got != 0 {
		t.Errorf("%d left at the bound", got)
	}
}

func notHeld(t *testing.T, h *Holder, lease string, reading int64, why Why) {
	t.Helper()
	var e *NotHeld
	if err := h.Holding(lease, reading); !errors.As(err, &e) || e.Why != why || e.Lease != lease {
		t.Errorf("%s at %d: %v; want reason %d", lease, reading, err, why)
	}
}

func TestHoldsNothingUntilGranted(t *testing.T) {
	h := me(10)
	notHeld(t, h, "L", 11, NotGranted)
	if _, known := h.Bound("L"); known || h.Left("L", 11) != 0 || h.Due("L", 11, 3) || h.Current(11) != nil {
		t.Error("there is something about a lease that was never granted")
	}
	h.look(20, grantOf("M", 100, to("bob")))
	notHeld(t, h, "M", 21, NotGranted)
}

// Only what the resolver attributes to the grantor counts, whatever it says.
// A holder whose grantor has no name takes nothing for the grantor's.
// A look that was cut short moves the cursor, and nothing else.
// The bound is terminal: no renewal, no older reading, no repeated grant revives a lease.
// An append that took longer than the lease had left comes too late, although its reading was taken in time.
// A grant that is inadmissible leaves no trace that could harm a right one.
// A grant to another counts although it answers a proposal id that this holder has used too.
// Proposal ids are each holder's own, and a holder heeds only refusals that name it.
// After a gap old facts may be read again whose traces were pruned.
func marshal(t *testing.T, s State) string {
	t.Helper()
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func roundTrip(t *testing.T, s State) State {
	t.Helper()
	var back State
	if err := json.Unmarshal([]byte(marshal(t, s)), &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestStateGoesThroughJSON(t *testing.T) {
	h := me(10)
	h.Proposed("p", subjectOf([]byte(`{"a":1}`)), 11)
	h.Proposed("w", StringSubject("x"), 12)
	h.SetOutWithdraw("w")
	h.look(20, grantOf("L", 100, answering("p"), token(3), capped(500)), grantOf("B", 9, to("bob")), grantOf("S", 1), refusalOf("q", "me", "busy"))
	if err := h.Renewed("L", 25); err != nil {
		t.Fatal(err)
	}
	h.Gap()
	back := roundTrip(t, h.State)
	if !reflect.DeepEqual(back, h.State) {
		t.Errorf("%s came back as %s", marshal(t, h.State), marshal(t, back))
	}
	held(t, NewHolder("me", "grantor", DefaultUnits(), back), "L", 125)
}

// Notes that somebody damaged within the bounds of JSON are no reason to fall over.
func TestStateWithHoles(t *testing.T) {
	var s State
	if err := json.Unmarshal([]byte(`{"proposed":{"p":null},"leases":{"L":null}}`), &s); err != nil {
		t.Fatal(err)
	}
	if v := s.Void(); len(v.Leases)+len(v.Proposed) != 0 {
		t.Errorf("%+v", v)
	}
	h := NewHolder("me", "grantor", DefaultUnits(), s)
	notHeld(t, h, "L", 1, NotGranted)
	if h.Open(StringSubject("x")) != nil || h.ToRelease() != nil {
		t.Error("holes are something")
	}
}
