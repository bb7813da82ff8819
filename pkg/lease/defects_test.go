package lease

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestDefects is the table of everything that makes a fact defective (SPEC 2). A line's defects are named all
// and in this order; each is the key and a word of the reason.
func TestDefects(t *testing.T) {
	const (
		renewal = `"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"`
		grant   = `"dao.lease/status":"dao.lease/accepted"`
	)
	for name, c := range map[string]struct {
		line string
		want []string
	}{
		"unknown status":            {`"dao.lease/status":"dao.lease/gone","dao.lease/lease":"L"`, []string{"status: unknown"}},
		"unknown event":             {`"dao.lease/event":"dao.lease/nap","dao.lease/lease":"L"`, []string{"event: unknown"}},
		"an event as status":        {`"dao.lease/status":"dao.lease/renewal","dao.lease/lease":"L"`, []string{"status: unknown"}},
		"a status as event":         {`"dao.lease/event":"dao.lease/released","dao.lease/lease":"L"`, []string{"event: unknown"}},
		"status of a wrong type":    {`"dao.lease/status":7,"dao.lease/lease":"L"`, []string{"status: unknown"}},
		"event of a wrong type":     {`"dao.lease/event":["dao.lease/renewal"],"dao.lease/lease":"L"`, []string{"event: unknown"}},
		"status false":              {`"dao.lease/status":false`, []string{"status: unknown"}},
		"empty status":              {`"dao.lease/status":""`, []string{"status: unknown"}},
		"both":                      {renewal + `,"dao.lease/status":"dao.lease/released"`, []string{"event: stands beside dao.lease/status"}},
		"both, one unknown":         {renewal + `,"dao.lease/status":0`, []string{"status: unknown", "event: stands beside"}},
		"both, one no string":       {`"dao.lease/status":"dao.lease/tick","dao.lease/event":{}`, []string{"status: unknown", "event: unknown", "event: stands beside"}},
		"both, and nothing else":    {`"dao.lease/status":"dao.lease/released","dao.lease/event":"dao.lease/tick"`, []string{"event: stands beside dao.lease/status"}},
		"bare proposal":             {`"dao.lease/status":"dao.lease/proposed"`, []string{"proposal: absent", "subject: absent"}},
		"bare grant":                {grant, []string{"lease: absent", "subject: absent", "holder: absent", "duration: absent"}},
		"bare refusal":              {`"dao.lease/status":"dao.lease/rejected"`, []string{"proposal: absent"}},
		"bare release":              {`"dao.lease/status":"dao.lease/released"`, []string{"lease: absent"}},
		"bare lapsed":               {`"dao.lease/status":"dao.lease/lapsed"`, []string{"lease: absent", "cause: absent"}},
		"bare renewal":              {`"dao.lease/event":"dao.lease/renewal"`, []string{"lease: absent"}},
		"bare tick":                 {`"dao.lease/event":"dao.lease/tick"`, []string{"reading: absent"}},
		"null is absent":            {`"dao.lease/event":"dao.lease/renewal","dao.lease/lease":null`, []string{"lease: absent"}},
		"null subject":              {`"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":null`, []string{"subject: absent"}},
		"wrong is not absent":       {`"dao.lease/event":"dao.lease/renewal","dao.lease/lease":1`, []string{"lease: not a non-empty"}},
		"empty id":                  {`"dao.lease/event":"dao.lease/renewal","dao.lease/lease":""`, []string{"lease: not a non-empty"}},
		"holder on a renewal":       {renewal + `,"dao.lease/holder":7`, []string{"holder: not a non-empty"}},
		"proposal on a renewal":     {renewal + `,"dao.lease/proposal":["p"]`, []string{"proposal: not a non-empty"}},
		"empty holder on a release": {`"dao.lease/status":"dao.lease/released","dao.lease/lease":"L","dao.lease/holder":""`, []string{"holder: not"}},
		"cause on a renewal":        {renewal + `,"dao.lease/cause":"boredom"`, []string{"cause: none of"}},
		"cause of a wrong type":     {renewal + `,"dao.lease/cause":1`, []string{"cause: none of"}},
		"cause in another case":     {`"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L","dao.lease/cause":"Cap"`, []string{"cause: none of"}},
		"lease on a proposal":       {`"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":"db","dao.lease/lease":"L"`, []string{"lease: a proposal has no lease"}},
		"wrong lease on a proposal": {`"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":"db","dao.lease/lease":0`, []string{"lease: a proposal has no lease", "lease: not a non-empty"}},
		"reading on a renewal":      {renewal + `,"dao.lease/reading":5`, []string{"reading: not an object"}},
		"max on a release":          {`"dao.lease/status":"dao.lease/released","dao.lease/lease":"L","dao.lease/max":{"ms":-1}`, []string{"max: not an integer literal"}},
		"duration on a renewal":     {renewal + `,"dao.lease/duration":{"ms":0}`, []string{"duration: not positive"}},
		"everything wrong": {grant + `,"dao.lease/lease":0,"dao.lease/subject":null,"dao.lease/holder":"","dao.lease/proposal":{},"dao.lease/duration":{"hr":5},"dao.lease/max":{},"dao.lease/reading":{"d":9999999999},"dao.lease/cause":""`,
			[]string{"subject: absent", "lease: not", "proposal: not", "holder: not", "duration: unit \"hr\"", "max: not an object", "reading: over", "cause: none"}},
	} {
		t.Run(name, func(t *testing.T) { expectDefects(t, `{`+c.line+`}`, c.want) })
	}
}

// TestDurationDefects: a duration is one unit of the table to one positive integer literal within the bound, on
// whichever of the three keys and whatever the fact.
func TestDurationDefects(t *testing.T) {
	for value, reason := range map[string]string{
		`{"ms":1,"s":2}`:              "not an object with one unit",
		`{}`:                          "not an object with one unit",
		`5`:                           "not an object with one unit",
		`"10s"`:                       "not an object with one unit",
		`[{"ms":1}]`:                  "not an object with one unit",
		`true`:                        "not an object with one unit",
		`{"ms":0}`:                    "not positive",
		`{"ms":-4}`:                   "not an integer literal",
		`{"ms":1.5}`:                  "not an integer literal",
		`{"ms":10.0}`:                 "not an integer literal",
		`{"ms":1e1}`:                  "not an integer literal",
		`{"ms":"10"}`:                 "not an integer literal",
		`{"ms":true}`:                 "not an integer literal",
		`{"ms":null}`:                 "not an integer literal",
		`{"ms":{"ms":1}}`:             "not an integer literal",
		`{"hr":5}`:                    "not in the table",
		`{"MS":5}`:                    "not in the table",
		`{"ms":4503599627370497}`:     "over the bound",
		`{"s":4503599627371}`:         "over the bound",
		`{"s":4503599627370496}`:      "over the bound",
		`{"d":4503599627370496}`:      "over the bound", // negative in 64 bits, if multiplied
		`{"ms":18446744073709551617}`: "over the bound", // wraps to 1 in 64 bits
	} {
		for _, key := range []string{"duration", "max", "reading"} {
			line := `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","dao.lease/` + key + `":` + value + `}`
			expectDefects(t, line, []string{key + ": "})
			d, _ := Defects([]byte(line), DefaultUnits())
			if len(d) == 1 && !strings.Contains(d[0].Reason, reason) {
				t.Errorf("%s: %q does not say %q", value, d[0].Reason, reason)
			}
		}
	}
	expectDefects(t, `{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"s":4503599627370}}`, nil)
	expectDefects(t, `{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":4503599627370496}}`, nil)
}

// expectDefects checks what Defects names, and that Decode refuses for exactly that.
func expectDefects(t *testing.T, line string, want []string) {
	t.Helper()
	got, err := Defects([]byte(line), DefaultUnits())
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i].String(), "dao.lease/"+want[i])
	}
	if !ok {
		t.Errorf("%s\n got %v\nwant %q", line, got, want)
	}
	f, err := Decode([]byte(line), DefaultUnits())
	var d *Defective
	if len(want) == 0 {
		if err != nil {
			t.Errorf("%s: Decode: %v", line, err)
		}
		return
	}
	if !errors.As(err, &d) || !slices.Equal(d.Defects, got) || f != (Fact{}) {
		t.Errorf("%s: Decode: %+v, %v", line, f, err)
	}
	for _, w := range got {
		if !strings.Contains(err.Error(), w.String()) {
			t.Errorf("%q does not name %q", err, w)
		}
	}
}

// What a message quotes is bounded and escaped, whatever was written.
func TestDefectsAreFitForAPerson(t *testing.T) {
	line := `{"dao.lease/status":"` + strings.Repeat("x", 100_000) + `","dao.lease/duration":{"\u001b[31m` + strings.Repeat("y", 100_000) + `":1}}`
	got, err := Defects([]byte(line), DefaultUnits())
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if text := (&Defective{Defects: got}).Error(); len(text) > 500 || strings.ContainsRune(text, 0x1b) {
		t.Errorf("%d bytes: %.200q", len(text), text)
	}
}

// Whoever mistypes a status or an event is told which there are.
func TestAnUnknownDispatchNamesTheKnown(t *testing.T) {
	for line, known := range map[string]string{
		`{"dao.lease/status":"dao.lease/granted"}`: "dao.lease/proposed, dao.lease/accepted, dao.lease/rejected, dao.lease/released, dao.lease/lapsed",
		`{"dao.lease/event":"renewal"}`:            "dao.lease/renewal, dao.lease/tick",
	} {
		got, err := Defects([]byte(line), DefaultUnits())
		if err != nil || len(got) != 1 || !strings.HasSuffix(got[0].Reason, "; known are "+known) {
			t.Errorf("%s: %v, %v", line, got, err)
		}
	}
}
