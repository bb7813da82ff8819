package lease

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for line, want := range map[string]Fact{
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":"db"}`: {
			Kind: Proposal, Proposal: "p", Subject: StringSubject("db")},
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":"","dao.lease/duration":{"s":9},"daolease/note":"n","daolease/withdrawn":true}`: {
			Kind: Proposal, Proposal: "p", Subject: StringSubject(""), Duration: Duration{"s", 9}, Note: "n", Withdrawn: true},
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/subject":"db","dao.lease/holder":"a","dao.lease/duration":{"s":9},"dao.lease/proposal":"p","dao.lease/max":{"h":1},"daolease/token":7,"daolease/note":"n"}`: {
			Kind: Grant, Lease: "L", Subject: StringSubject("db"), Holder: "a", Duration: Duration{"s", 9}, Proposal: "p", Max: Duration{"h", 1}, Token: 7, Note: "n"},
		`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"p","dao.lease/holder":"a","daolease/reason":"busy","daolease/by":"L","daolease/held-by":"b"}`: {
			Kind: Refusal, Proposal: "p", Holder: "a", Reason: "busy", By: "L", HeldBy: "b"},
		`{"dao.lease/status":"dao.lease/released","dao.lease/lease":"L"}`: {Kind: Release, Lease: "L"},
		`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L","dao.lease/cause":"policy","daolease/reason":"why"}`: {
			Kind: Lapsed, Lease: "L", Cause: ByPolicy, Reason: "why"},
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}`: {Kind: Renewal, Lease: "L"},
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":5},"daolease/boot":"b","daolease/clock":0}`: {
			Kind: Tick, Reading: Duration{"ms", 5}, Boot: "b", HasClock: true},

		// Keys and values may be written with escapes, in any order and with space.
		` { "dao.lease\/lease" : "\u004c" , "dao.lease\u002fevent" : "dao.lease\/renewal" } `: {Kind: Renewal, Lease: "L"},
		// Null is absent, whatever the key.
		`{"dao.lease/status":null,"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","dao.lease/reading":null,"dao.lease/cause":null,"dao.lease/holder":null}`: {Kind: Renewal, Lease: "L"},
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":"db","dao.lease/lease":null,"dao.lease/duration":null}`: {
			Kind: Proposal, Proposal: "p", Subject: StringSubject("db")},
		// Unknown keys are ignored, and keys are compared byte for byte.
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","dao.lease/other":{"a":[1]},"DAO.LEASE/STATUS":"x","note":7}`: {Kind: Renewal, Lease: "L"},
		// What a kind does not carry is left out, be it well formed.
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","dao.lease/holder":"h","dao.lease/proposal":"p","dao.lease/subject":1,"dao.lease/duration":{"s":1},"dao.lease/max":{"s":1},"dao.lease/reading":{"s":1},"dao.lease/cause":"cap","daolease/token":1,"daolease/note":"n","daolease/reason":"r","daolease/by":"b","daolease/held-by":"c","daolease/boot":"d","daolease/clock":1,"daolease/withdrawn":true}`: {Kind: Renewal, Lease: "L"},
		// This tool's own keys are never a defect.
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":[1],"daolease/note":7,"daolease/withdrawn":"true"}`: {
			Kind: Proposal, Proposal: "p", Subject: subjectOf([]byte(`[1]`))},
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":5},"daolease/boot":[],"daolease/clock":-1}`: {Kind: Tick, Reading: Duration{"ms", 5}},
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":5},"daolease/clock":"5"}`:                   {Kind: Tick, Reading: Duration{"ms", 5}},
	} {
		got, err := Decode([]byte(line), DefaultUnits())
		if err != nil || got != want {
			t.Errorf("%s\n got %+v, %v\nwant %+v", line, got, err, want)
		}
	}
}

func TestToken(t *testing.T) {
	for text, want := range map[string]int64{
		`1`: 1, `4503599627370496`: Limit, `4503599627370497`: 0, `0`: 0, `-1`: 0, `1.0`: 0, `1e3`: 0, `"7"`: 0, `true`: 0,
		`null`: 0, `[7]`: 0, `{}`: 0, `99999999999999999999`: 0,
	} {
		line := `{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/subject":"db","dao.lease/holder":"a","dao.lease/duration":{"s":9},"daolease/token":` + text + `}`
		f, err := Decode([]byte(line), DefaultUnits())
		if err != nil || f.Token != want {
			t.Errorf("%s: token %d, %v", text, f.Token, err)
		}
	}
}

func TestNoFact(t *testing.T) {
	for _, line := range []string{
		``, ` `, "\t\r", `{}`, `{"note":"hello"}`, `[1,2]`, `42`, `null`, `"dao.lease/status"`, `true`,
		`{"dao.lease/status":null}`, `{"dao.lease/status":null,"dao.lease/event":null,"dao.lease/lease":7}`,
		`{"Dao.lease/status":"dao.lease/released"}`, `{"x":{"dao.lease/status":"dao.lease/released"}}`,
	} {
		if f, err := Decode([]byte(line), DefaultUnits()); err != ErrNoFact {
			t.Errorf("%q: %+v, %v", line, f, err)
		}
		if d, err := Defects([]byte(line), DefaultUnits()); err != ErrNoFact || d != nil {
			t.Errorf("%q: %v, %v", line, d, err)
		}
	}
}

func TestUndecodable(t *testing.T) {
	nest := func(n int, open, core, shut string) string {
		return strings.Repeat(open, n) + core + strings.Repeat(shut, n)
	}
	for name, c := range map[string]struct{ line, reason string }{
		"no JSON":                {`not json`, "no JSON"},
		"open":                   {`{"dao.lease/event":`, "no JSON"},
		"a NUL":                  {"{\"dao.lease/event\"\x00", "no JSON"},
		"a comma too many":       {`{"dao.lease/event":"dao.lease/tick",}`, "no JSON"},
		"half a surrogate":       {`{"a":"\ud800"}`, "no JSON"},
		"trailing bytes":         {`{} {}`, "follows"},
		"trailing junk":          {`{"a":1}x`, "follows"},
		"a key twice":            {`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","dao.lease/lease":"L"}`, "twice"},
		"a foreign key twice":    {`{"x":1,"x":1}`, "twice"},
		"twice by escape":        {`{"dao.lease/event":"dao.lease/renewal","dao.lease\/event":"dao.lease/renewal"}`, "twice"},
		"twice far down":         {`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","x":[[{"a":1,"a":2}]]}`, "twice"},
		"twice in no object":     {`[{"a":1,"a":2}]`, "twice"},
		"invalid UTF-8":          {"{\"note\":\"\xff\"}", "UTF-8"},
		"invalid UTF-8 in a key": {"{\"\xc0\x80\":1}", "UTF-8"},
		"deep arrays":            {`{"a":` + nest(1000, `[`, ``, `]`) + `}`, "deep"},
		"deep objects":           {nest(1001, `{"a":`, `1`, `}`), "deep"},
		"deeper than any parser": {nest(100000, `[`, ``, `]`), "deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(c.line), DefaultUnits())
			var u *Undecodable
			if !errors.As(err, &u) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v; want one that says %q", err, c.reason)
			}
			if d, err := Defects([]byte(c.line), DefaultUnits()); !errors.As(err, &u) || d != nil {
				t.Errorf("Defects: %v, %v", d, err)
			}
		})
	}
}

// Nesting of exactly 1,000 is no damage, and brackets inside strings are no nesting.
func TestNestingAtTheBound(t *testing.T) {
	for name, x := range map[string]string{
		"arrays":  strings.Repeat(`[`, 999) + strings.Repeat(`]`, 999),
		"more":    `[` + strings.Repeat(`[`, 998) + strings.Repeat(`]`, 998) + `,[],{}]`,
		"strings": `"` + strings.Repeat(`[{\"`, 2000) + `"`,
		"wide":    `[` + strings.Repeat(`[],`, 2000) + `[]]`,
	} {
		f, err := Decode([]byte(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","x":`+x+`}`), DefaultUnits())
		if err != nil || f != (Fact{Kind: Renewal, Lease: "L"}) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// The line's memory is the medium's: a fact that pointed into it would change afterwards.
func TestDecodeKeepsNothingOfTheLine(t *testing.T) {
	line := []byte(`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/subject":{"k":"v"},"dao.lease/holder":"a","dao.lease/duration":{"s":9}}`)
	f, err := Decode(line, DefaultUnits())
	if err != nil {
		t.Fatal(err)
	}
	want := string(f.Encode())
	for i := range line {
		line[i] = 'x'
	}
	if got := string(f.Encode()); got != want {
		t.Errorf("became %s", got)
	}
}

// Two when all is well; the race detector makes pools forget, which adds some.
func TestDecodeAllocatesLittle(t *testing.T) {
	line, u := []byte(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"01JD2V5Y9Z"}`), DefaultUnits()
	if n := testing.AllocsPerRun(100, func() { _, _ = Decode(line, u) }); n > 5 {
		t.Errorf("%v allocations for a renewal", n)
	}
}

func TestCarriesFollowsTheVocabulary(t *testing.T) {
	// Every field of a fact but its kind is one key's; none is written twice or forgotten.
	full := Fact{Lease: "L", Proposal: "p", Holder: "h", Subject: StringSubject("s"), Duration: Duration{"s", 9}, Max: Duration{"h", 1},
		Reading: Duration{"ms", 5}, Cause: ByCap, Token: 7, Withdrawn: true, Note: "n", Reason: "r", By: "b", HeldBy: "c", Boot: "d", Clock: 4, HasClock: true}
	var union Fact
	for k := Proposal; k <= Tick; k++ {
		f := full
		f.Kind = k
		got, err := Decode(f.Encode(), DefaultUnits())
		if err != nil {
			t.Errorf("%s: %v", k, err)
		}
		from, to := reflect.ValueOf(got), reflect.ValueOf(&union).Elem()
		for i := range from.NumField() {
			if !from.Field(i).IsZero() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	full.Kind = Tick
	if union != full {
		t.Errorf("all kinds together carry %+v", union)
	}
}
