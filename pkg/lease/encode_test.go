package lease

import "testing"

func TestEncode(t *testing.T) {
	for want, f := range map[string]Fact{
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":{"a":1},"dao.lease/duration":{"s":9},"daolease/withdrawn":true,"daolease/note":"\"<é>\n"}`: {
			Kind: Proposal, Proposal: "p", Subject: subjectOf([]byte(`{"a":1}`)), Duration: Duration{"s", 9}, Withdrawn: true, Note: "\"<é>\n"},
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/proposal":"p","dao.lease/subject":"","dao.lease/holder":"a","dao.lease/duration":{"s":9},"dao.lease/max":{"h":1},"daolease/token":7,"daolease/note":"n"}`: {
			Kind: Grant, Lease: "L", Proposal: "p", Subject: StringSubject(""), Holder: "a", Duration: Duration{"s", 9}, Max: Duration{"h", 1}, Token: 7, Note: "n"},
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/subject":7,"dao.lease/holder":"a","dao.lease/duration":{"s":9}}`: {
			Kind: Grant, Lease: "L", Subject: subjectOf([]byte(`7`)), Holder: "a", Duration: Duration{"s", 9}},
		`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"p","dao.lease/holder":"a","daolease/reason":"busy","daolease/by":"L","daolease/held-by":"b"}`: {
			Kind: Refusal, Proposal: "p", Holder: "a", Reason: "busy", By: "L", HeldBy: "b"},
		`{"dao.lease/status":"dao.lease/released","dao.lease/lease":"L"}`: {Kind: Release, Lease: "L"},
		`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L","dao.lease/cause":"silence","daolease/reason":"r"}`: {
			Kind: Lapsed, Lease: "L", Cause: BySilence, Reason: "r"},
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}`: {Kind: Renewal, Lease: "L"},
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":5},"daolease/boot":"b","daolease/clock":0}`: {
			Kind: Tick, Reading: Duration{"ms", 5}, Boot: "b", HasClock: true},
	} {
		line := f.Encode()
		if string(line) != want {
			t.Errorf("got  %s\nwant %s", line, want)
		}
		if back, err := Decode(line, DefaultUnits()); err != nil || back != f {
			t.Errorf("%s came back as %+v, %v", line, back, err)
		}
	}
}

// A fact put together by hand with what its kind does not carry writes none of it.
func TestEncodeWritesOnlyWhatIsCarried(t *testing.T) {
	f := Fact{Kind: Renewal, Lease: "L", Holder: "h", Subject: StringSubject("s"), Duration: Duration{"s", 1}, Token: 3,
		Withdrawn: true, Note: "n", Cause: ByCap, Reading: Duration{"s", 1}, Boot: "b", HasClock: true}
	if got := string(f.Encode()); got != `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}` {
		t.Error(got)
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[Kind]string{Proposal: "proposal", Grant: "grant", Refusal: "refusal", Release: "release",
		Lapsed: "lapsed", Renewal: "renewal", Tick: "tick", 0: "no fact", 99: "kind 99", -1: "kind -1"} {
		if got := k.String(); got != want {
			t.Errorf("%d is %q", int(k), got)
		}
	}
}

// FuzzDecode: no line makes it panic, what it takes comes back unchanged from what it writes, and Defects says
// the same.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":{"b":[1,{}],"a":"\u00e9"},"dao.lease/duration":{"s":9},"daolease/withdrawn":true}`,
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/subject":-0,"dao.lease/holder":"a","dao.lease/duration":{"s":9},"dao.lease/max":{"h":1},"daolease/token":7}`,
		`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"p","daolease/reason":"busy","daolease/by":"L","daolease/held-by":"b"}`,
		`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L","dao.lease/cause":"cap"}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":5},"daolease/boot":"b","daolease/clock":0}`,
		`{"dao.lease\/event":"dao.lease/renewal","dao.lease/lease":"\ud83d\ude00"}`,
		`[[[`, `{"a":"\`, "\xff", ` `, `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":null}`,
	} {
		f.Add([]byte(line))
	}
	u := DefaultUnits()
	f.Fuzz(func(t *testing.T, line []byte) {
		fact, err := Decode(line, u)
		defects, derr := Defects(line, u)
		if (err == nil) != (derr == nil && defects == nil) {
			t.Fatalf("Decode says %v, Defects %v, %v", err, defects, derr)
		}
		if err != nil {
			return
		}
		out := fact.Encode()
		back, err := Decode(out, u)
		if err != nil || back != fact {
			t.Fatalf("%s\n came back as %+v (%v), was %+v", out, back, err, fact)
		}
		if again := back.Encode(); string(again) != string(out) {
			t.Fatalf("not canonical: %s, then %s", out, again)
		}
	})
}
