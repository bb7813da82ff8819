package lease

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// From the moment it sets out to release, whatever the append answers, it does not hold the lease.
func TestReleaseEndsHoldingAtOnce(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	if write, err := h.SetOutRelease("L"); !write || err != nil {
		t.Fatal(write, err)
	}
	notHeld(t, h, "L", 21, GivenBack)
	if err := h.Renewed("L", 22); err == nil {
		t.Error("renewed")
	}
	if h.Due("L", 60, 3) || h.Current(23) != nil {
		t.Error("it is due, or current")
	}
	h.look(24, grantOf("L", 100))
	notHeld(t, h, "L", 25, GivenBack)
}

func TestReleaseIsWrittenOnce(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	for range 2 { // the first append did not answer ok
		if write, err := h.SetOutRelease("L"); !write || err != nil {
			t.Fatal(write, err)
		}
	}
	h.Released("L")
	h.Released("unknown")
	if write, err := h.SetOutRelease("L"); write || err != nil {
		t.Errorf("written again: %v, %v", write, err)
	}
	notHeld(t, h, "L", 21, GivenBack)
}

func TestReleaseNeedsNoHolding(t *testing.T) {
	h := me(10)
	var e *NotHeld
	if write, err := h.SetOutRelease("L"); write || !errors.As(err, &e) || e.Why != NotGranted {
		t.Errorf("never granted: %v, %v", write, err)
	}
	h.look(20, grantOf("L", 100), grantOf("M", 100))
	h.See(500)
	if write, err := h.SetOutRelease("L"); !write || err != nil {
		t.Errorf("past the bound: %v, %v", write, err)
	}
}

// The withdrawal of a proposal gives back what answers it, be it granted already or later.
func TestWithdrawal(t *testing.T) {
	h := me(10)
	h.Proposed("p", StringSubject("db"), 11)
	h.look(20, grantOf("L", 100, answering("p")), grantOf("M", 100))
	if !h.SetOutWithdraw("p") || !h.SetOutWithdraw("q") {
		t.Fatal("not to be written")
	}
	notHeld(t, h, "L", 21, GivenBack)
	if h.Holding("M", 21) != nil {
		t.Error("it gave back another lease")
	}
	h.look(30, grantOf("N", 100, answering("q")))
	notHeld(t, h, "N", 31, GivenBack)
	// Neither withdrawal answered ok, so it may be that nobody releases these.
	if got := h.ToRelease(); !slices.Equal(got, []string{"L", "N"}) {
		t.Errorf("to release: %v", got)
	}
	h.Withdrawn("p")
	if got := h.ToRelease(); !slices.Equal(got, []string{"N"}) {
		t.Errorf("to release: %v", got)
	}
	if h.SetOutWithdraw("p") {
		t.Error("the withdrawal is written twice")
	}
	if write, err := h.SetOutRelease("L"); write || err != nil {
		t.Errorf("the withdrawal released it: %v, %v", write, err)
	}
	h.Withdrawn("q")
	h.Withdrawn("unknown")
	h.look(40, grantOf("O", 100, answering("p")))
	if got := h.ToRelease(); got != nil {
		t.Errorf("to release: %v", got)
	}
	notHeld(t, h, "N", 41, GivenBack)
}

// A grant without proposal is no answer to anything.
func TestWithdrawalTouchesNoGrantWithoutProposal(t *testing.T) {
	h := me(10)
	h.SetOutWithdraw("")
	h.look(20, grantOf("L", 100))
	if h.ToRelease() != nil {
		t.Error("to be released")
	}
	held(t, h, "L", 110)
}

// A grant whose bound has passed when it is observed is released.
func TestLateGrantIsToBeReleased(t *testing.T) {
	h := me(10)
	h.look(109, grantOf("in time", 100), grantOf("short", 3))
	h.look(300)
	h.State.Look = later(nil, new(int64(10)))
	h.look(300, grantOf("late", 290), grantOf("later", 100), grantOf("too", 3), grantOf("fine", 291))
	if got := h.ToRelease(); !slices.Equal(got, []string{"late", "later"}) {
		t.Errorf("to release: %v", got)
	}
	notHeld(t, h, "late", 300, PastBound)
	held(t, h, "fine", 301)
	if _, err := h.SetOutRelease("late"); err != nil || len(h.ToRelease()) != 2 {
		t.Errorf("a release that is not written leaves the list (%v)", err)
	}
	h.Released("late")
	h.look(310, lapsedOf("later", BySilence))
	if got := h.ToRelease(); got != nil {
		t.Errorf("to release: %v", got)
	}
}

func TestOpen(t *testing.T) {
	h := me(10)
	number := subjectOf([]byte(`7`))
	h.Proposed("b", StringSubject("7"), 11)
	h.Proposed("a", number, 11)
	h.Proposed("c", StringSubject("8"), 11)
	h.Proposed("d", number, 11)
	h.Proposed("e", number, 11)
	h.look(20, grantOf("L", 100, answering("d")))
	h.SetOutWithdraw("e")
	h.Withdrawn("e")
	h.SetOutWithdraw("a") // not known to be written
	if got := h.Open(number); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("open: %v", got)
	}
}

func TestVoidHoldsNothing(t *testing.T) {
	h := me(10)
	h.Proposed("p", StringSubject("db"), 11)
	h.Proposed("open", StringSubject("db"), 12)
	h.Proposed("elsewhere", StringSubject("x"), 12)
	h.look(20, grantOf("L", 100, answering("p"), token(5)), grantOf("M", 100, about("x"), token(6)), grantOf("gone", 100), grantOf("back", 100),
		grantOf("B", 9, to("bob")))
	h.look(30, lapsedOf("gone", ByCap))
	if _, err := h.SetOutRelease("back"); err != nil {
		t.Fatal(err)
	}
	h.Released("back")
	before := marshal(t, h.State)
	v := NewHolder("me", "grantor", DefaultUnits(), roundTrip(t, h.State.Void()))
	if after := marshal(t, h.State); after != before {
		t.Errorf("the state itself changed to %s", after)
	}
	if v.State.Cursor != "" || v.State.Look != nil || v.State.Token != 6 || v.State.Now != 30 {
		t.Errorf("%s", marshal(t, v.State))
	}
	notHeld(t, v, "L", 31, NotesVoid)
	if err := v.Renewed("L", 31); err == nil {
		t.Error("renewed")
	}
	if _, known := v.Bound("L"); known || v.Due("L", 31, 3) || v.Current(31) != nil {
		t.Error("there is tenure left")
	}
	leases, proposals := v.Leftover(StringSubject("db"))
	if !slices.Equal(leases, []string{"L"}) || !slices.Equal(proposals, []string{"open"}) {
		t.Errorf("left over: %v, %v", leases, proposals)
	}
	v.Proposed("new", StringSubject("db"), 31)
	if _, proposals = v.Leftover(StringSubject("db")); !slices.Equal(proposals, []string{"open"}) {
		t.Errorf("a new proposal is left over: %v", proposals)
	}
	if write, err := v.SetOutRelease("L"); !write || err != nil {
		t.Errorf("it cannot be released: %v, %v", write, err)
	}
	v.Released("L")
	v.SetOutWithdraw("open")
	v.Withdrawn("open")
	if leases, proposals = v.Leftover(StringSubject("db")); leases != nil || proposals != nil {
		t.Errorf("left over: %v, %v", leases, proposals)
	}
}

// What void notes said of time does not help a grant that comes later, and what they saw still counts.
func TestAfterVoid(t *testing.T) {
	h := me(10)
	h.Proposed("p", StringSubject("db"), 11)
	h.look(20, grantOf("A", 100, token(5)), grantOf("B", 100, to("bob")))
	h = NewHolder("me", "grantor", DefaultUnits(), h.State.Void())
	h.Proposed("p", StringSubject("db"), 40)
	o := h.look(50, grantOf("A", 100, token(6)), grantOf("B", 100), grantOf("C", 100, token(6)), grantOf("L", 100, answering("p")))
	if o[0].What != NotActedOn || o[1].What != NotActedOn || o[2].What != NotActedOn || o[3].What != WasGranted {
		t.Errorf("%+v", o)
	}
	notHeld(t, h, "L", 51, NoBasis)
	if leases, _ := h.Leftover(StringSubject("db")); !slices.Equal(leases, []string{"A"}) {
		t.Errorf("left over: %v", leases)
	}
}

// What a state remembers is bounded: the newest of what no longer matters stay, and all that is held.
func TestPrune(t *testing.T) {
	const many = kept + 44
	h := me(1)
	var grants []Fact
	for i := range many {
		h.Proposed(fmt.Sprintf("open-%03d", i), StringSubject("db"), 2)
		grants = append(grants,
			grantOf(fmt.Sprintf("past-%03d", i), 100, answering(fmt.Sprintf("p-%03d", i))),
			grantOf(fmt.Sprintf("held-%03d", i), 10_000),
			grantOf(fmt.Sprintf("gone-%03d", i), 10_000),
			lapsedOf(fmt.Sprintf("gone-%03d", i), ByCap),
			grantOf(fmt.Sprintf("bobs-%03d", i), 100, to("bob")),
			refusalOf(fmt.Sprintf("q-%03d", i), "me", "busy"))
	}
	h.look(50, grants...)
	h.look(5000)
	if got := len(h.Current(5000)); got != many {
		t.Errorf("%d of %d are held", got, many)
	}
	if got := len(h.State.Leases); got != many+kept {
		t.Errorf("%d leases", got)
	}
	if got := len(h.State.Proposed); got != 2*kept {
		t.Errorf("%d proposals", got)
	}
	if len(h.State.Others) != kept || h.State.Others[0] != "bobs-044" {
		t.Errorf("%d of others, %v", len(h.State.Others), h.State.Others[:1])
	}
	for id, there := range map[string]bool{"past-171": false, "past-172": true, "past-299": true, "gone-171": false, "gone-172": true} {
		if (h.State.Leases[id] != nil) != there {
			t.Errorf("lease %s: %v", id, h.State.Leases[id])
		}
	}
	for id, there := range map[string]bool{"open-043": false, "open-044": true, "p-171": false, "p-172": true, "q-171": false, "q-172": true} {
		if (h.State.Proposed[id] != nil) != there {
			t.Errorf("proposal %s: %v", id, h.State.Proposed[id])
		}
	}
}
