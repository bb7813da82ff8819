package judge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

func TestListsOfAReportAreNeverNull(t *testing.T) {
	w := newWorld(t, "a").start()
	for _, r := range []judge.Report{w.pass(), w.okAt(1), w.judge.Settle(t.Context())} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"granted", "refused", "renewed", "released", "unknown", "gaps", "truncated", "failed", "drops", "reclaims", "lapsed", "pending"} {
			if !strings.Contains(string(text), `"`+list+`":[]`) {
				t.Errorf("%s is no empty list in %s", list, text)
			}
		}
	}
}

func TestReportAndRowsAsJSON(t *testing.T) {
	w := newWorld(t, "a", "b").start()
	w.hooks.do = failing
	w.okAt(1)
	w.grant("L", "/s", "a", 1000, `"daolease/token":7`, `"dao.lease/max":{"s":60}`)
	w.grant("M", "/s", "b", 1000)
	w.release("a", "L")
	w.lose("b")
	r := w.okAt(12)
	r.Ledger = w.judge.Rows()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"now":{"ms":12}`, `"outcome":"ok"`, `"unwatched":{"ms":1}`, `"granted":["L","M"]`, `"released":["L"]`, `"unknown":["M"]`, `"gaps":["b"]`,
		`"pending":[{"lease":"L","cause":"release","reclaimed":false}]`,
		`{"lease":"L","subject":"/s","holder":"a","duration":{"ms":1000},"max":{"s":60},"token":7,"tenure_start":{"ms":12},"last_observation":{"ms":12},"evidence":"known","resumed":null,"unwatched":{"ms":0},"released":true,"reclaim":{"state":"pending","cause":"release","ok":false,"attempts":1,"error":"told to fail"}}`,
		`"evidence":"unknown","resumed":{"ms":12}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}
