package lease

import (
	"errors"
	"testing"
)

func TestBasis(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(h *Holder)
		bound int64 // 0: unknown
	}{
		"the last look that did not show it": {func(h *Holder) { h.look(10); h.look(20); h.look(30, grantOf("L", 100)) }, 120},
		"not the look that shows it":         {func(h *Holder) { h.look(30, grantOf("L", 100)) }, 0},
		"the proposal, when later": {func(h *Holder) {
			h.look(10)
			h.Proposed("p", StringSubject("db"), 15)
			h.look(30, grantOf("L", 100, answering("p")))
		}, 115},
		"the look, when later": {func(h *Holder) {
			h.Proposed("p", StringSubject("db"), 15)
			h.look(20)
			h.look(30, grantOf("L", 100, answering("p")))
		}, 120},
		"the proposal alone": {func(h *Holder) {
			h.Proposed("p", StringSubject("db"), 15)
			h.look(30, grantOf("L", 100, answering("p")))
		}, 115},
		"not another proposal": {func(h *Holder) {
			h.look(10)
			h.Proposed("p", StringSubject("db"), 15)
			h.look(30, grantOf("L", 100, answering("q")))
		}, 110},
		"not a look cut short": {func(h *Holder) {
			h.look(10)
			h.BeginLook(20)
			h.EndLook("cut", false)
			h.look(30, grantOf("L", 100))
		}, 110},
		"not a look at no reading": {func(h *Holder) {
			h.look(10)
			h.look(0)
			h.look(30, grantOf("L", 100))
		}, 110},
		"the first reading of a proposal appended twice": {func(h *Holder) {
			h.Proposed("p", StringSubject("db"), 15)
			h.Proposed("p", StringSubject("db"), 25)
			h.look(30, grantOf("L", 100, answering("p")))
		}, 115},
		"not a proposal noted after its answer": {func(h *Holder) {
			h.look(30, grantOf("L", 100, answering("p")))
			h.Proposed("p", StringSubject("db"), 35)
		}, 0},
		"the first renewal, without either": {func(h *Holder) {
			h.look(30, grantOf("L", 100))
			if err := h.Renewed("L", 35); err != nil {
				panic(err)
			}
		}, 135},
		"the cap since the first renewal, then": {func(h *Holder) {
			h.look(30, grantOf("L", 100, capped(150)))
			for at := int64(35); at < 120; at += 40 {
				if err := h.Renewed("L", at); err != nil {
					panic(err)
				}
			}
		}, 185},
	} {
		t.Run(name, func(t *testing.T) {
			h := me()
			c.do(h)
			if c.bound != 0 {
				held(t, h, "L", c.bound)
				return
			}
			if b, known := h.Bound("L"); known {
				t.Errorf("bound %d is known", b)
			}
			notHeld(t, h, "L", 40, NoBasis)
			if !h.Due("L", 40, 3) {
				t.Error("it is not due for the renewal that would let it be held")
			}
		})
	}
}

func TestBound(t *testing.T) {
	renew := func(at ...int64) func(*Holder) error {
		return func(h *Holder) error {
			for _, r := range at {
				if err := h.Renewed("L", r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		grant Fact
		renew func(*Holder) error
		bound int64
	}{
		"duration since the basis":         {grantOf("L", 100), renew(), 110},
		"duration since the renewal":       {grantOf("L", 100), renew(50), 150},
		"the last of several renewals":     {grantOf("L", 100), renew(50, 100, 149), 249},
		"a renewal older than the last":    {grantOf("L", 100), renew(60, 50), 160},
		"a renewal older than the basis":   {grantOf("L", 100), renew(5), 110},
		"the cap, which renewals move not": {grantOf("L", 100, capped(120)), renew(50, 100), 130},
		"a cap below the duration":         {grantOf("L", 100, capped(20)), renew(), 30},
		"a cap above":                      {grantOf("L", 100, capped(1000)), renew(50), 150},
	} {
		t.Run(name, func(t *testing.T) {
			h := me(10)
			h.look(20, c.grant)
			if err := c.renew(h); err != nil {
				t.Fatal(err)
			}
			held(t, h, "L", c.bound)
		})
	}
}

func TestBoundIsTerminal(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	notHeld(t, h, "L", 110, PastBound)
	notHeld(t, h, "L", 109, PastBound) // readings never decrease
	var e *NotHeld
	if err := h.Renewed("L", 110); !errors.As(err, &e) || e.Why != PastBound || e.Bound != 110 || e.Reading != 110 {
		t.Errorf("renewed at the bound: %v", err)
	}
	if b, _ := h.Bound("L"); b != 110 {
		t.Errorf("the bound moved to %d", b)
	}
	h.look(120, grantOf("L", 100))
	notHeld(t, h, "L", 121, PastBound)
	if h.Due("L", 121, 3) {
		t.Error("it is due")
	}
}

func TestRenewalThatAnsweredPastTheBound(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	h.See(110) // what another part of the program read meanwhile
	if err := h.Renewed("L", 105); err == nil {
		t.Error("it moved the bound")
	}
	notHeld(t, h, "L", 111, PastBound)
}

func TestUnusableReading(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	for _, r := range []int64{0, -1, Limit + 1} {
		notHeld(t, h, "L", r, NoReading)
		if err := h.Renewed("L", r); err == nil {
			t.Errorf("renewed at %d", r)
		}
		if h.Left("L", r) != 0 || h.Current(r) != nil || h.Due("L", r, 3) {
			t.Errorf("it is held at %d", r)
		}
	}
	if h.State.Now != 20 {
		t.Errorf("now is %d", h.State.Now)
	}
	held(t, h, "L", 110)
	p := me()
	p.Proposed("p", StringSubject("db"), 0)
	p.look(30, grantOf("M", 100, answering("p")))
	notHeld(t, p, "M", 31, NoBasis)
}

func TestDue(t *testing.T) {
	for _, c := range []struct{ duration, part, first int64 }{ // the first age at which it is due
		{30000, 3, 10001}, {30000, 6, 5001}, {6000, 6, 1001}, {100, 3, 34},
		{4, 3, 1}, {5, 3, 2}, {6, 3, 2}, {7, 3, 3}, {8, 3, 3}, {4, 6, 1}, {100, 0, 49}, {100, 1, 49},
	} {
		h := me(10)
		h.look(10, grantOf("L", c.duration))
		h.State.Now = 10
		if h.Due("L", 10+c.first-1, c.part) {
			t.Errorf("%d by %d is due at age %d", c.duration, c.part, c.first-1)
		}
		if !h.Due("L", 10+c.first, c.part) {
			t.Errorf("%d by %d is not due at age %d", c.duration, c.part, c.first)
		}
		if c.duration > 1 && 2*c.first >= c.duration {
			t.Errorf("%d by %d would be renewed at no less than half", c.duration, c.part)
		}
	}
	h := me(10)
	h.look(20, grantOf("L", 100))
	if err := h.Renewed("L", 60); err != nil || h.Due("L", 90, 3) || !h.Due("L", 94, 3) {
		t.Errorf("a renewal does not count (%v)", err)
	}
}

func TestUnitsThatAreGone(t *testing.T) {
	h := me(10)
	h.look(20, grantOf("L", 100))
	other, err := NewUnits(map[string]int64{"s": 1})
	if err != nil {
		t.Fatal(err)
	}
	h = NewHolder("me", "grantor", other, h.State)
	notHeld(t, h, "L", 21, NeverActedOn)
	if h.Renewed("L", 21) == nil || h.Due("L", 21, 3) {
		t.Error("it can be renewed")
	}
	if o := h.look(30, grantOf("M", 100))[0]; o.What != IsUnfit {
		t.Errorf("%+v", o)
	}
}

func TestNotHeldSaysWhy(t *testing.T) {
	said := map[string]bool{}
	for why := NotGranted; why <= PastBound; why++ {
		text := (&NotHeld{Lease: "L\x1b", Why: why, Cause: ByCap, Unfit: "too short", Bound: 7, Reading: 9}).Error()
		if said[text] || len(text) < len("lease \"L\\x1b\" is not held: ")+5 {
			t.Errorf("%d: %q", why, text)
		}
		said[text] = true
	}
}
