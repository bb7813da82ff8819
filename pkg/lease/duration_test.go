package lease

import (
	"encoding/json"
	"testing"
)

func TestDurationJSON(t *testing.T) {
	for text, want := range map[string]Duration{
		`{"s":30}`:                 {"s", 30},
		` { "min" : 1 } `:          {"min", 1},
		`{"m\u0073":7}`:            {"ms", 7},
		`{"ms":0}`:                 {"ms", 0},
		`{"ms":4503599627370496}`:  {"ms", Limit},
		`{"any unit at all \n":1}`: {"any unit at all \n", 1},
		`null`:                     {},
	} {
		got := Duration{"old", 1}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		out, err := json.Marshal(got)
		var back Duration
		if err != nil || json.Unmarshal(out, &back) != nil || back != want {
			t.Errorf("%s came back as %s (%v)", text, out, err)
		}
	}
	if out, _ := json.Marshal(Duration{"s", 30}); string(out) != `{"s":30}` {
		t.Errorf("marshalled %s", out)
	}
}

func TestDurationIsStrict(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"s":30,"ms":1}`, `{"s":30,"s":30}`, `5`, `"30s"`, `[30]`, `true`, `{"s":"30"}`, `{"s":null}`, `{"s":{}}`,
		`{"s":-1}`, `{"s":-0}`, `{"s":1.0}`, `{"s":1e1}`, `{"s":1E1}`, `{"s":4503599627370497}`,
		`{"s":99999999999999999999999999}`, `{"s":30} x`, ``, `{"s":`,
	} {
		got := Duration{"old", 1}
		if err := got.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was read as %v", text, got)
		}
		if got != (Duration{"old", 1}) {
			t.Errorf("%s changed the duration to %v", text, got)
		}
	}
}

func TestDurationString(t *testing.T) {
	if s := (Duration{"s", 30}).String(); s != "30s" {
		t.Error(s)
	}
	if s := (Duration{}).String(); s != "" {
		t.Error(s)
	}
	if (Duration{"ms", 0}).IsZero() || !(Duration{}).IsZero() {
		t.Error("zero of a unit is a duration, and only the absent one is none")
	}
}
