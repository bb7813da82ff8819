package lease

import (
	"errors"
	"strings"
	"testing"
)

func TestConstructorsMakeGoodFacts(t *testing.T) {
	u := DefaultUnits()
	proposal, err := NewProposal(u, "p", StringSubject("db"), Duration{"s", 9}, "n")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make func() (Fact, error)
		want Fact
	}{
		"proposal": {func() (Fact, error) { return NewProposal(u, "p", StringSubject("db"), Duration{"s", 9}, "n") },
			Fact{Kind: Proposal, Proposal: "p", Subject: StringSubject("db"), Duration: Duration{"s", 9}, Note: "n"}},
		"bare proposal": {func() (Fact, error) { return NewProposal(u, "p", StringSubject(""), Duration{}, "") },
			Fact{Kind: Proposal, Proposal: "p", Subject: StringSubject("")}},
		"withdrawal": {func() (Fact, error) { return Withdrawal(proposal) },
			Fact{Kind: Proposal, Proposal: "p", Subject: StringSubject("db"), Withdrawn: true, Note: "n"}},
		"grant": {func() (Fact, error) {
			return NewGrant(u, GrantTerms{"L", StringSubject("db"), "a", Duration{"s", 9}, Duration{"h", 1}, "p", Limit, "n"})
		}, Fact{Kind: Grant, Lease: "L", Subject: StringSubject("db"), Holder: "a", Duration: Duration{"s", 9},
			Max: Duration{"h", 1}, Proposal: "p", Token: Limit, Note: "n"}},
		"refusal": {func() (Fact, error) { return NewRefusal(u, RefusalTerms{"p", "a", "busy", "L", "b"}) },
			Fact{Kind: Refusal, Proposal: "p", Holder: "a", Reason: "busy", By: "L", HeldBy: "b"}},
		"release": {func() (Fact, error) { return NewRelease("L") }, Fact{Kind: Release, Lease: "L"}},
		"lapsed": {func() (Fact, error) { return NewLapsed("L", ByCap, "r") },
			Fact{Kind: Lapsed, Lease: "L", Cause: ByCap, Reason: "r"}},
		"renewal": {func() (Fact, error) { return NewRenewal("L") }, Fact{Kind: Renewal, Lease: "L"}},
		"tick": {func() (Fact, error) { return NewTick(u, Duration{"ms", 5}, "b", 0, true) },
			Fact{Kind: Tick, Reading: Duration{"ms", 5}, Boot: "b", HasClock: true}},
		"tick without a clock": {func() (Fact, error) { return NewTick(u, Duration{"ms", 5}, "", 99, false) },
			Fact{Kind: Tick, Reading: Duration{"ms", 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.make()
			if err != nil || got != c.want {
				t.Fatalf("%+v, %v", got, err)
			}
			if back, err := Decode(got.Encode(), u); err != nil || back != got {
				t.Errorf("came back as %+v, %v", back, err)
			}
		})
	}
}

func TestConstructorsRefuse(t *testing.T) {
	u, db := DefaultUnits(), StringSubject("db")
	grant := func(change func(*GrantTerms)) func() (Fact, error) {
		terms := GrantTerms{Lease: "L", Subject: db, Holder: "a", Duration: Duration{"s", 9}}
		change(&terms)
		return func() (Fact, error) { return NewGrant(u, terms) }
	}
	for name, c := range map[string]struct {
		make func() (Fact, error)
		says string
	}{
		"proposal without id":      {func() (Fact, error) { return NewProposal(u, "", db, Duration{}, "") }, "dao.lease/proposal"},
		"proposal without subject": {func() (Fact, error) { return NewProposal(u, "p", Subject{}, Duration{}, "") }, "dao.lease/subject"},
		"proposal of zero":         {func() (Fact, error) { return NewProposal(u, "p", db, Duration{"s", 0}, "") }, "not positive"},
		"proposal of no unit":      {func() (Fact, error) { return NewProposal(u, "p", db, Duration{"", 5}, "") }, "not in the table"},
		"subject of no UTF-8":      {func() (Fact, error) { return NewProposal(u, "p", StringSubject("\xff"), Duration{}, "") }, "UTF-8"},
		"note of no UTF-8":         {func() (Fact, error) { return NewProposal(u, "p", db, Duration{}, "\xff") }, "daolease/note"},
		"value too long": {func() (Fact, error) { return NewProposal(u, "p", db, Duration{}, strings.Repeat("x", 1<<20)) },
			"longer"},
		"withdrawal of a grant":   {func() (Fact, error) { return Withdrawal(Fact{Kind: Grant, Lease: "L"}) }, "grant cannot be withdrawn"},
		"grant without lease":     {grant(func(g *GrantTerms) { g.Lease = "" }), "dao.lease/lease"},
		"grant without holder":    {grant(func(g *GrantTerms) { g.Holder = "" }), "dao.lease/holder"},
		"grant without subject":   {grant(func(g *GrantTerms) { g.Subject = Subject{} }), "dao.lease/subject"},
		"grant without duration":  {grant(func(g *GrantTerms) { g.Duration = Duration{} }), "dao.lease/duration"},
		"grant of a foreign unit": {grant(func(g *GrantTerms) { g.Duration = Duration{"hr", 1} }), "not in the table"},
		"grant of a negative cap": {grant(func(g *GrantTerms) { g.Max = Duration{"s", -1} }), "dao.lease/max"},
		"grant over the bound":    {grant(func(g *GrantTerms) { g.Duration = Duration{"s", 4503599627371} }), "over the bound"},
		"grant of a high token":   {grant(func(g *GrantTerms) { g.Token = Limit + 1 }), "daolease/token"},
		"grant of token -1":       {grant(func(g *GrantTerms) { g.Token = -1 }), "daolease/token"},
		"refusal of nothing":      {func() (Fact, error) { return NewRefusal(u, RefusalTerms{Holder: "a"}) }, "dao.lease/proposal"},
		"release of nothing":      {func() (Fact, error) { return NewRelease("") }, "dao.lease/lease"},
		"release of no UTF-8":     {func() (Fact, error) { return NewRelease("\xff") }, "UTF-8"},
		"lapsed by nothing":       {func() (Fact, error) { return NewLapsed("L", "", "") }, "dao.lease/cause"},
		"lapsed by boredom":       {func() (Fact, error) { return NewLapsed("L", "boredom", "") }, "dao.lease/cause"},
		"renewal of nothing":      {func() (Fact, error) { return NewRenewal("") }, "dao.lease/lease"},
		"tick of zero":            {func() (Fact, error) { return NewTick(u, Duration{"ms", 0}, "", 0, false) }, "not positive"},
		"tick of nothing":         {func() (Fact, error) { return NewTick(u, Duration{}, "", 0, false) }, "dao.lease/reading"},
		"tick of a clock of -1":   {func() (Fact, error) { return NewTick(u, Duration{"ms", 1}, "", -1, true) }, "daolease/clock"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := c.make()
			if err == nil || f != (Fact{}) {
				t.Fatalf("made %+v, %v", f, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
	_, err := NewGrant(u, GrantTerms{})
	var d *Defective
	if !errors.As(err, &d) || len(d.Defects) != 4 {
		t.Errorf("an empty grant: %v", err)
	}
}

func TestValidName(t *testing.T) {
	for _, name := range []string{"a", "7", "Alice", "bob@host-1.example_x", strings.Repeat("x", 64)} {
		if err := ValidName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "-x", "_x", "@x", "a/b", "a b", "a\n", "é", "aé", "a\x00", "*", strings.Repeat("x", 65)} {
		if err := ValidName(name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
