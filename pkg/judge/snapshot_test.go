package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// odd are texts that encoding/json does not write as they stand, and some that it does.
var odd = []string{
	"plain", "with space", `quo"ted`, `back\slash`, "<tag>", "a&b", "é", "\u2028", "tab\t", "nul\x00", "del\x7f", "bad\xff", "~!@#$%^*()_+{}|:?[];',./-=`",
}

// Leases of every kind are encoded as encoding/json does it, and so is a whole ledger of them, whatever its length.
func TestSnapshotAsEncodingJSON(t *testing.T) {
	units, err := lease.NewUnits(map[string]int64{"ms": 1, "<s>": 1000, "min": 60000})
	if err != nil {
		t.Fatal(err)
	}
	for _, leases := range []int{0, 1, 7, 200, 1000, 3000} {
		l := newLedger(units, 1, 1)
		l.base, l.format, l.now, l.ticked, l.token = "ms", ledgerFormat, 12, true, 99
		for i := range leases {
			if _, err := l.put(oddEntry(i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range leases / 10 {
			l.setCursor(fmt.Sprint("holders/", i), stream.Cursor(strings.Repeat("c", i%500)))
			l.remember(fmt.Sprint("seen-", i))
			l.names[fmt.Sprint(i)] = "name"
			l.setHolder(fmt.Sprint("h", i), &holder{Answered: []answered{{Proposal: fmt.Sprint("p", i)}}})
		}
		want, err := groupLines(1, []*delta{l.snapshot("ms")})
		if err != nil {
			t.Fatal(err)
		}
		got := Taken(l.snapshotLines("ms"))
		if len(got) != len(want) {
			t.Fatalf("%d leases: %d lines, want %d", leases, len(got), len(want))
		}
		for i := range want {
			if string(got[i]) != string(want[i]) {
				t.Fatalf("%d leases, line %d:\n%.400s\nwant\n%.400s", leases, i, got[i], want[i])
			}
		}
	}
}

// oddEntry is a lease that differs from others in what it has.
func oddEntry(i int) *Entry {
	e := &Entry{
		Lease: fmt.Sprintf("%06d%s", i, odd[i%len(odd)]), Subject: lease.StringSubject(fmt.Sprint("/srv/", i)), Holder: "h",
		Duration: lease.Duration{Unit: "ms", N: int64(i + 1)}, TenureStart: int64(i), LastObservation: int64(2 * i),
	}
	set := func(every int, change func()) {
		if i%every == every-1 {
			change()
		}
	}
	set(2, func() { e.Token = int64(i) })
	set(3, func() { e.Proposal = odd[i/3%len(odd)] })
	set(4, func() { e.Subject = lease.StringSubject(odd[i/4%len(odd)]) })
	set(5, func() { e.Max = lease.Duration{Unit: "<s>", N: int64(i)} })
	set(6, func() { e.Unknown, e.Resumed = true, int64(i) })
	set(7, func() { e.Released = true })
	set(8, func() { e.Recorded = true })
	set(9, func() { e.Subject, _ = lease.ParseSubject([]byte(`{"b":[1,"<>"],"a":"é"}`)) })
	set(10, func() { e.Holder = odd[i/10%len(odd)] })
	set(11, func() { e.Revoked, e.Reason, e.ByHand = true, odd[i/11%len(odd)], true })
	set(12, func() { e.Cause, e.Attempts, e.LastError, e.NextTry = lease.BySilence, 3, "exit 1", 7 })
	set(13, func() { e.Cause, e.Reclaimed = lease.ByRelease, true })
	set(14, func() { e.Registered = []string{"mixed"} })
	return e
}

func FuzzEncodeEntry(f *testing.F) {
	for _, text := range odd {
		f.Add(text, "s", "h", "ms", int64(1), int64(0), byte(0))
		f.Add("l", text, "h", "ms", int64(-1), int64(5), byte(255))
		f.Add("l", "s", text, text, int64(1<<52), int64(1), byte(8))
	}
	f.Fuzz(func(t *testing.T, id, subject, name, unit string, n, m int64, flags byte) {
		e := &Entry{
			Lease: id, Subject: lease.StringSubject(subject), Holder: name, Proposal: subject, Token: m,
			Duration: lease.Duration{Unit: unit, N: n}, TenureStart: n, LastObservation: m, Resumed: m,
			Unknown: flags&1 != 0, Released: flags&2 != 0, Recorded: flags&4 != 0, Revoked: flags&8 != 0, Reclaimed: flags&16 != 0,
		}
		if flags&32 != 0 {
			e.Max = lease.Duration{Unit: unit, N: m}
		}
		want, err := json.Marshal(e)
		got, mine := appendEntry(nil, e)
		if (err == nil) != (mine == nil) || string(got) != string(want) && err == nil {
			t.Fatalf("%v: %s\nwant %v: %s", mine, got, err, want)
		}
	})
}
