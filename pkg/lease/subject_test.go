package lease

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestSubjectText(t *testing.T) {
	for in, want := range map[string]string{
		`"/srv/x"`:                             `/srv/x`,
		`""`:                                   ``,
		`"\u0041\n"`:                           "A\n",
		`7`:                                    `7`,
		` true `:                               `true`,
		`1.50e+3`:                              `1.50e+3`,
		`-0`:                                   `-0`,
		`100000000000000000000000000000000001`: `100000000000000000000000000000000001`,
		`[ 1 , "two", null, [ ], { } ]`:        `[1,"two",null,[],{}]`,
		`{"b":1,"a":{"d":[{"z":1,"y":2}],"c":0}}`: `{"a":{"c":0,"d":[{"y":2,"z":1}]},"b":1}`,
		`{"slot" : 3.0, "path": "\u002fsrv\/x"}`:  `{"path":"/srv/x","slot":3.0}`,
		`{"\u0062":"]}\"","a":"{[\\"}`:            `{"a":"{[\\","b":"]}\""}`,
		"{\n\t\"a\" :\r [ {\"b\" : 1} , 2 ]\n}":   `{"a":[{"b":1},2]}`,
	} {
		s, err := ParseSubject([]byte(in))
		if err != nil || s.Text() != want {
			t.Errorf("%s: %q, %v; want %q", in, s.Text(), err, want)
		}
		if s.IsZero() || s.IsString() != (in[0] == '"') {
			t.Errorf("%s: zero %v, string %v", in, s.IsZero(), s.IsString())
		}
		back, err := ParseSubject(s.JSON())
		if err != nil || back != s {
			t.Errorf("%s came back as %q, %v", s.JSON(), back.Text(), err)
		}
	}
}

// Two subjects are one when their texts are, whatever they were written as.
func TestSubjectsAreOneByText(t *testing.T) {
	number, _ := ParseSubject([]byte(`7`))
	if number.Text() != StringSubject("7").Text() {
		t.Error("7 and \"7\" have two texts")
	}
	if string(number.JSON()) != `7` || string(StringSubject("7").JSON()) != `"7"` {
		t.Error("they are no longer written as they were")
	}
}

func TestSubjectIsStrict(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, in := range map[string]string{
		"null": `null`, "nothing": ``, "blank": `  `, "two": `1 2`, "bare": `db`, "open": `{"a":`,
		"duplicate": `{"x":[{"a":1,"\u0061":2}]}`, "no UTF-8": "\"\xff\"", "half a surrogate": `"\ud800"`, "deep": deep(1000),
	} {
		if s, err := ParseSubject([]byte(in)); err == nil || !s.IsZero() {
			t.Errorf("%s: %q was taken", name, s.Text())
		}
	}
	s, err := ParseSubject([]byte(deep(999)))
	if err != nil {
		t.Fatal(err)
	}
	// What is a subject fits into a fact.
	if _, err := NewProposal(DefaultUnits(), "p", s, Duration{}, ""); err != nil {
		t.Error(err)
	}
}

func TestSubjectMarshals(t *testing.T) {
	type holder struct {
		A Subject `json:"a"`
		B Subject `json:"b"`
		C Subject `json:"c,omitzero"`
	}
	var h holder
	if err := json.Unmarshal([]byte(`{"a":{"y":1,"x":2},"b":null}`), &h); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(h)
	if err != nil || string(out) != `{"a":{"x":2,"y":1},"b":null}` {
		t.Errorf("%s, %v", out, err)
	}
	kept := StringSubject("kept")
	if err := kept.UnmarshalJSON([]byte(`{`)); err == nil || kept != StringSubject("kept") {
		t.Errorf("%v, %v", kept, err)
	}
}

// A hostile subject costs what its length costs: at every level the object would have to be reordered.
func TestDeepUnsortedSubject(t *testing.T) {
	const levels = 900
	in := strings.Repeat(`{"b":1,"a":`, levels) + `"core"` + strings.Repeat(`}`, levels)
	want := strings.Repeat(`{"a":`, levels) + `"core"` + strings.Repeat(`,"b":1}`, levels)
	s, err := ParseSubject([]byte(in))
	if err != nil || s.Text() != want {
		t.Errorf("not sorted at every depth (%v)", err)
	}
}

// FuzzSubject compares the canonical text with what another implementation makes of the same value.
func FuzzSubject(f *testing.F) {
	for _, in := range []string{`"a"`, `{"b":[1.0,{"z":null,"y":"\u00e9"}],"a":-0}`, `[[],{}]`, ` 1e5 `, `"\u2028<>&"`, `{"\ud83d\ude00":1,"\uffff":2}`} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := ParseSubject(in)
		if err != nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(in))
		d.UseNumber()
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatalf("another implementation does not read it: %v", err)
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(want.String(), "\n"))
		if got := string(s.JSON()); got != text {
			t.Errorf("%q became %q; want %q", in, got, text)
		}
		if back, err := ParseSubject(s.JSON()); err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s.JSON(), back.Text(), err)
		}
	})
}
