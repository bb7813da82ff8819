package lease

import (
	"errors"
	"slices"
	"testing"
)

func TestOthersEstablishNothing(t *testing.T) {
	h := me(10)
	h.Proposed("p", StringSubject("db"), 11)
	before := marshal(t, h.State)
	for _, author := range []string{"me", "bob", Nobody} {
		for _, f := range []Fact{grantOf("L", 100, token(9), answering("p")), refusalOf("p", "me", "busy"), grantOf("M", 100, to("bob"), token(8))} {
			if o := h.Observe(author, f); o != (Observation{}) {
				t.Errorf("%s by %q: %+v", f.Kind, author, o)
			}
		}
	}
	for _, f := range []Fact{must(NewRelease("L")), must(NewRenewal("L")), must(NewTick(DefaultUnits(), Duration{"ms", 99}, "", 0, false))} {
		if o := h.Observe("grantor", f); o != (Observation{}) {
			t.Errorf("%s by the grantor: %+v", f.Kind, o)
		}
	}
	if after := marshal(t, h.State); after != before {
		t.Errorf("the state became %s", after)
	}
	h.look(20, grantOf("L", 100, token(1)))
	if h.Observe("bob", lapsedOf("L", ByCap)); h.Holding("L", 21) != nil {
		t.Error("bob's lapsed ended the lease")
	}
}

func TestNobodyIsNoGrantor(t *testing.T) {
	h := NewHolder("me", Nobody, DefaultUnits(), State{})
	if o := h.Observe(Nobody, grantOf("L", 100)); o != (Observation{}) {
		t.Errorf("%+v", o)
	}
}

func TestCutLookMovesTheCursorOnly(t *testing.T) {
	h := me(10)
	h.BeginLook(20)
	h.EndLook("half way", false)
	if h.State.Cursor != "half way" || *h.State.Look != 10 {
		t.Errorf("cursor %q, look %d", h.State.Cursor, *h.State.Look)
	}
	h.look(30)
	if h.State.Cursor != "after 30" || *h.State.Look != 30 {
		t.Errorf("cursor %q, look %d", h.State.Cursor, *h.State.Look)
	}
	h.Gap()
	h.EndLook("no look began", true)
	if *h.State.Look != 30 || !h.State.Gapped {
		t.Errorf("look %d, gapped %v", *h.State.Look, h.State.Gapped)
	}
}

func TestGrantTooShortIsNeverActedOn(t *testing.T) {
	for ms, fit := range map[int64]bool{1: false, 2: false, 3: false, 4: true, 5: true, 6: true, 7: true, 100: true} {
		h := me(10)
		h.Proposed("p", StringSubject("db"), 11)
		o := h.look(12, grantOf("L", ms, answering("p"), token(5)))[0]
		if fit {
			if o.What != WasGranted || h.Holding("L", 12) != nil {
				t.Errorf("%d ms: %+v", ms, o)
			}
			continue
		}
		if o.What != IsUnfit || o.Why == "" || h.ToRelease() != nil {
			t.Errorf("%d ms: %+v", ms, o)
		}
		notHeld(t, h, "L", 12, NeverActedOn)
		if h.Renewed("L", 12) == nil || h.State.Proposed["p"].Answer != Granted || h.State.Token != 5 {
			t.Errorf("%d ms: %s", ms, marshal(t, h.State))
		}
		if write, err := h.SetOutRelease("L"); !write || err != nil {
			t.Errorf("it was granted, so it can be released: %v, %v", write, err)
		}
	}
}

func TestTokens(t *testing.T) {
	h := me(10)
	seen := h.look(20,
		grantOf("A", 100, token(5)),
		grantOf("B", 100, token(5)),            // equal
		grantOf("C", 100, token(4)),            // lower
		grantOf("D", 100, token(9), to("bob")), // another's raises the highest
		grantOf("E", 100, token(8)),
		grantOf("F", 100), // none at all
		grantOf("G", 100, token(10)))
	want := []What{WasGranted, NotActedOn, NotActedOn, TokenSeen, NotActedOn, WasGranted, WasGranted}
	for i, o := range seen {
		if o.What != want[i] || (o.What == NotActedOn) != (o.Why != "") {
			t.Errorf("%d: %+v", i, o)
		}
	}
	if h.State.Token != 10 {
		t.Errorf("highest token %d", h.State.Token)
	}
	var ids []string
	for _, l := range h.Current(21) {
		ids = append(ids, l.Lease)
	}
	if !slices.Equal(ids, []string{"A", "F", "G"}) {
		t.Errorf("held: %v", ids)
	}
	notHeld(t, h, "B", 21, NotGranted)
}

func TestFirstGrantOfAnIDCounts(t *testing.T) {
	h := me(10)
	o := h.look(20, grantOf("L", 100, token(1)), grantOf("L", 900, token(2)), grantOf("M", 100, to("bob"), token(3)), grantOf("M", 100, token(4)))
	if o[1].What != NotActedOn || o[3].What != NotActedOn {
		t.Errorf("%+v", o)
	}
	held(t, h, "L", 110)
	notHeld(t, h, "M", 21, NotGranted)
}

func TestInadmissibleGrantLeavesNoTrace(t *testing.T) {
	h := me(10)
	h.Proposed("p", StringSubject("db"), 11)
	h.look(20, grantOf("X", 100, to("bob"), token(5)), grantOf("L", 900, token(5), answering("p")), grantOf("M", 900, token(5), to("bob")))
	o := h.look(30, grantOf("L", 100, token(6), answering("p")), grantOf("M", 100, token(7)))
	if o[0].What != WasGranted || o[1].What != WasGranted {
		t.Errorf("%+v", o)
	}
}

func TestFirstAnswerToAProposalCounts(t *testing.T) {
	h := me(10)
	o := h.look(20, grantOf("L", 100, answering("p")), grantOf("M", 100, answering("p")), refusalOf("p", "me", "busy"))
	if o[0].What != WasGranted || o[1].What != NotActedOn || o[2].What != NotActedOn {
		t.Errorf("granted first: %+v", o)
	}
	if p := h.State.Proposed["p"]; p.Answer != Granted || p.Lease != "L" || p.Reason != "" {
		t.Errorf("%+v", p)
	}
	o = h.look(30, refusalOf("q", "me", "busy"), grantOf("N", 100, answering("q")), refusalOf("q", "me", "limit"))
	if o[0] != (Observation{What: WasRefused, Proposal: "q"}) || o[1].What != NotActedOn || o[2].What != NotActedOn {
		t.Errorf("refused first: %+v", o)
	}
	if p := h.State.Proposed["q"]; p.Answer != Refused || p.Reason != "busy" || p.By != "X" || p.HeldBy != "bob" {
		t.Errorf("%+v", p)
	}
	notHeld(t, h, "N", 31, NotGranted)
}

func TestAnotherHoldersProposalOfTheSameID(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100, answering("p")), grantOf("M", 100, to("bob"), answering("p")), grantOf("M", 100))
	notHeld(t, h, "M", 21, NotGranted)
	held(t, h, "L", 110)
}

func TestAnswersToOthersAreNotOurs(t *testing.T) {
	h := me(10)
	h.Proposed("p", StringSubject("db"), 11)
	h.look(20, grantOf("B", 100, answering("p"), to("bob")), refusalOf("p", "bob", "busy"), refusalOf("p", "", "busy"))
	if a := h.State.Proposed["p"].Answer; a != "" {
		t.Errorf("answered %q", a)
	}
	if o := h.look(30, grantOf("L", 100, answering("p")))[0]; o != (Observation{What: WasGranted, Lease: "L", Proposal: "p"}) {
		t.Errorf("%+v", o)
	}
}

func TestLapsedEndsIt(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	if o := h.look(30, lapsedOf("L", ByPolicy), lapsedOf("L", ByCap), lapsedOf("other", ByCap)); o[0].What != HasLapsed ||
		o[0].Lease != "L" || o[1] != (Observation{}) || o[2] != (Observation{}) {
		t.Errorf("%+v", o)
	}
	notHeld(t, h, "L", 31, HasEnded)
	var e *NotHeld
	if errors.As(h.Renewed("L", 31), &e); e == nil || e.Cause != ByPolicy {
		t.Errorf("renewed a lapsed lease: %v", e)
	}
	if write, err := h.SetOutRelease("L"); !write || err != nil {
		t.Errorf("a release after lapsed: %v, %v", write, err)
	}
}

func TestAfterAGapOnlyHigherTokensCount(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("A", 100, token(5)))
	h.BeginLook(30)
	h.Gap()
	h.EndLook("cut", false)
	h = NewHolder("me", "grantor", DefaultUnits(), roundTrip(t, h.State))
	o := h.look(40, grantOf("B", 100), grantOf("C", 100, token(5)), grantOf("D", 100, token(6)))
	if o[0].What != NotActedOn || o[1].What != NotActedOn || o[2].What != WasGranted {
		t.Errorf("%+v", o)
	}
	if o := h.look(50, grantOf("E", 100))[0]; o.What != WasGranted {
		t.Errorf("after a completed look: %+v", o)
	}
}
