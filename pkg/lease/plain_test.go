package lease

import (
	"fmt"
	"reflect"
	"testing"
)

// plainLines are lines as this tool writes them, one of each shape.
func plainLines() []string {
	return []string{
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"01JD2V5Y9Z-abcdef"}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":123456789},"daolease/boot":"0c5ba6f2-6a0c","daolease/clock":0}`,
		`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"p","dao.lease/subject":"/srv/a b","dao.lease/duration":{"s":30},"daolease/withdrawn":true,"daolease/note":"a note"}`,
		`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"L","dao.lease/proposal":"p","dao.lease/subject":"/srv/a","dao.lease/holder":"alice@host","dao.lease/duration":{"s":30},"dao.lease/max":{"h":8},"daolease/token":17}`,
		`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"p","dao.lease/holder":"a","daolease/reason":"busy","daolease/by":"L","daolease/held-by":"b"}`,
		`{"dao.lease/status":"dao.lease/released","dao.lease/lease":"L"}`,
		`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L","dao.lease/cause":"silence"}`,
	}
}

// nearlyPlainLines are lines that a careless fast path would take, or read otherwise.
func nearlyPlainLines() []string {
	renewal := plainLines()[0]
	return []string{
		renewal + " ", renewal + "}", renewal[:len(renewal)-1], "\t" + renewal,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":""}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"a\"}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"a\u0062"}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"a","x":"b"}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"a","dao.lease/lease":"b"}`,
		"{\"dao.lease/event\":\"dao.lease/renewal\",\"dao.lease/lease\":\"a\x01\"}",
		"{\"dao.lease/event\":\"dao.lease/renewal\",\"dao.lease/lease\":\"\xff\"}",
		"{\"dao.lease/event\":\"dao.lease/renewal\",\"dao.lease/lease\":\"é\x7f\"}",
		`{"dao.lease/lease":"a","dao.lease/event":"dao.lease/renewal"}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":null}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":7}`,
		`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"a","dao.lease/cause":"none"}`,
		`{"dao.lease/status":"dao.lease/released","dao.lease/event":"dao.lease/renewal","dao.lease/lease":"a"}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":007}}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":0}}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":4503599627370497}}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":1.5}}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":1,"s":2}}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"fortnight":1}}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":1},"daolease/clock":truex}`,
		`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":true}`,
		`{"daolease/note":"x"}`, `{}`, `{`, `{"`, `{"daolease/note"`, `{"daolease/note":`, ``, `[]`, `{"a":{}}`,
	}
}

// agree says how the two ways to read a line differ, if they do.
func agree(line []byte, u Units) error {
	fact, err := Decode(line, u)
	strict, strictErr := decodeStrictly(line, u)
	if fact != strict || !reflect.DeepEqual(err, strictErr) {
		return fmt.Errorf("%q: fast %+v, %v; strict %+v, %v", line, fact, err, strict, strictErr)
	}
	if id, ok := PlainRenewal(line); ok && (strictErr != nil || strict != Fact{Kind: Renewal, Lease: string(id)}) {
		return fmt.Errorf("%q: a plain renewal of %q; strict %+v, %v", line, id, strict, strictErr)
	}
	return nil
}

func TestPlainAndStrictAgree(t *testing.T) {
	for _, line := range append(plainLines(), nearlyPlainLines()...) {
		if err := agree([]byte(line), DefaultUnits()); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsEncodedIsPlain(t *testing.T) {
	for _, line := range plainLines() {
		fact, err := Decode([]byte(line), DefaultUnits())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(fact.Encode()); got != line {
			t.Errorf("encoded %s\n   want %s", got, line)
		}
		var r raw
		if !r.plain([]byte(line)) {
			t.Errorf("not read the fast way: %s", line)
		}
	}
}

func TestAPlainRenewalCostsNoMemory(t *testing.T) {
	line := []byte(plainLines()[0])
	allocs := testing.AllocsPerRun(100, func() {
		if id, ok := PlainRenewal(line); !ok || len(id) != 17 {
			t.Fatal(string(id), ok)
		}
	})
	if allocs != 0 {
		t.Fatalf("%v allocations", allocs)
	}
}

// FuzzPlain holds that the fast way of reading and the strict one agree on any line.
func FuzzPlain(f *testing.F) {
	for _, line := range append(plainLines(), nearlyPlainLines()...) {
		f.Add([]byte(line))
	}
	u := DefaultUnits()
	f.Fuzz(func(t *testing.T, line []byte) {
		if err := agree(line, u); err != nil {
			t.Fatal(err)
		}
	})
}
