package judge

import (
	"reflect"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// plainDeltas are changes that are written as plain lines, every member of one among them.
func plainDeltas() []delta {
	at, now, completed := int64(7), int64(9), int64(0)
	full := &Entry{
		Lease: "L1", Subject: lease.StringSubject("/srv/a b"), Holder: "alice@host", Duration: lease.Duration{Unit: "s", N: 30},
		Max: lease.Duration{Unit: "h", N: 8}, Token: 17, Proposal: "p1", TenureStart: 5, LastObservation: 6,
		Unknown: true, Resumed: 6, Released: true,
	}
	odd := &Entry{Lease: "é", Subject: lease.StringSubject("R&D <\"\\\n\u2028>"), Holder: "a", Duration: lease.Duration{Unit: "d"}}
	return []delta{
		{Pass: 1, Incarnation: 2, Now: &now, Completed: &completed, Token: 4},
		{Cursors: map[string]stream.Cursor{"grantor": "jsonl1.x.0", "a": ""}},
		{Entries: []*Entry{full, odd}, At: &at},
		{At: &at, Unknown: []string{"L1", "L&2"}, Released: []string{"L1"}, Renewed: []string{"L1", "ü"}},
		{Holders: holders{"a": {Answered: []answered{{"p1", true, false}, {"p2", false, true}}, More: true}}},
		{Succeeded: []string{"L1"}, Left: []string{"L1", "L2"}},
	}
}

func TestWhatIsJournaledIsPlain(t *testing.T) {
	for i, d := range plainDeltas() {
		line, err := journalLine{Group: 3, Line: i, Last: i%2 == 0, delta: d}.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, plain := plainLine(line[sumLength:]); !plain {
			t.Errorf("not read the fast way: %s", line)
		}
		agree(t, line[sumLength:])
	}
}

// agree demands that a line which is read the fast way is read likewise by encoding/json.
func agree(t *testing.T, body []byte) {
	t.Helper()
	plain, read := plainLine(body)
	if !read {
		return
	}
	strict, sound := strictLine(body)
	if !sound || !reflect.DeepEqual(plain, strict) {
		t.Fatalf("%s\nfast:   %+v\nstrict: %+v, %v", body, plain, strict, sound)
	}
}

// nearlyPlainBodies are texts that a careless fast path would take, or read otherwise.
func nearlyPlainBodies() []string {
	return []string{
		`"group":1,"line":0}`, `"group":1,"line":0} `, `"group":1,"line":0}}`, `"group":1,"line":0`, `"group":1,}`, `}`, ``, `"group"`, `"group":`,
		`"group":01}`, `"group":-1}`, `"group":1.0}`, `"group":1e3}`, `"group":18446744073709551615}`, `"group":9223372036854775808}`, `"line":true}`,
		`"group":1,"group":2}`, `"line":1,"group":2}`, `"Group":1}`, `"group":null}`, `"gr\u006fup":1}`, `"other":1}`,
		`"last":truex}`, `"last":false}`, `"last":tru`, `"now":null}`, `"cursors":{}}`, `"cursors":{"a":"x","a":"y"}}`, `"cursors":{"a":1}}`,
		`"granted":[]}`, `"granted":[null]}`, `"granted":[{}]}`, `"granted":[{"lease":"x"},]}`, `"granted":[{"lease":"x"}{"lease":"y"}]}`,
		`"granted":[{"lease":"x","lease":"y"}]}`, `"granted":[{"subject":null}]}`, `"granted":[{"subject":{"a":1}}]}`, `"granted":[{"subject":"\ud800"}]}`,
		`"granted":[{"lease":"\ud800"}]}`, `"granted":[{"lease":"\`, `"granted":[{"duration":{"\`, `"granted":[{"unknown":"\`, `"cursors":{"\`, `"renewed":["\`, `"last":"\`, `"granted":[{"lease":"\"}]}`, `"granted":[{"lease":"\x"}]}`,
		"\"granted\":[{\"lease\":\"a\x00\"}]}", "\"granted\":[{\"lease\":\"\xff\"}]}", "\"granted\":[{\"subject\":\"\xff\\n\"}]}", "\"granted\":[{\"lease\":\"\x7f\"}]}",
		`"granted":[{"duration":{"s":0}}]}`, `"granted":[{"duration":{"s":4503599627370497}}]}`, `"granted":[{"duration":{"s":1,"m":1}}]}`,
		`"granted":[{"duration":{}}]}`, `"granted":[{"duration":{"":1}}]}`, `"granted":[{"duration":{"\u0073":1}}]}`, "\"granted\":[{\"duration\":{\"\xff\":1}}]}",
		`"renewed":["a","b"],"at":1}`, `"at":1,"renewed":["a",1]}`, `"at":1,"renewed":["a" ,"b"]}`, `"at":1,"renewed":[["a"]]}`,
		`"holders":{"a":null}}`, `"holders":{"a":{}}}`, `"holders":{"a":{"queue":[]}}}`, `"holders":{"a":{"answered":[{"proposal":"p"}],"more":true},"a":{"more":true}}}`,
	}
}

// FuzzPlainLine holds that the fast way of reading a line of the ledger and the strict one agree.
func FuzzPlainLine(f *testing.F) {
	for _, text := range nearlyPlainBodies() {
		f.Add([]byte(text))
	}
	for _, d := range plainDeltas() {
		line, err := journalLine{Group: 1, delta: d}.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line[sumLength:])
	}
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
}

// The first of many leases can be shown before the others are looked at.
func TestEachRowIsMadeWhenItIsAsked(t *testing.T) {
	j := &Judge{ledger: newLedger(lease.DefaultUnits(), 1000, 2000), cfg: Config{Units: lease.DefaultUnits()}}
	for _, id := range []string{"b", "a"} {
		if _, err := j.ledger.put(&Entry{Lease: id, Subject: lease.StringSubject(id), Holder: "h", Duration: lease.Duration{Unit: "s", N: 30}}); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for row := range j.EachRow() {
		if seen = append(seen, row.Holder+row.Lease); len(seen) == 1 {
			j.ledger.release(j.ledger.find("b")) // the row of b is not made yet
			continue
		}
		if !row.Released {
			t.Error("the second row was made before the first was taken")
		}
	}
	if !reflect.DeepEqual(seen, []string{"ha", "hb"}) {
		t.Error(seen)
	}
}
