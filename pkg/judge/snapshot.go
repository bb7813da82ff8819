package judge

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// A snapshot is nearly nothing but leases, and no pass goes on while one is made, so leases are encoded by hand, one
// after the other from where they lie. What comes out is what encode makes of the same delta, byte for byte.

// headerRoom is more than what stands before the leases of a line takes.
const headerRoom = 128

// snapshotLines are the lines of the group that is the whole ledger. They are made one at a time, as they are
// taken: all of them are more than the leases themselves.
func (l *ledger) snapshotLines(base string) stream.Values {
	if l.weight(base) <= lineBytes {
		lines, err := groupLines(1, []*delta{l.snapshot(base)})
		if err != nil {
			return failing(err)
		}
		return stream.ValuesOf(lines...)
	}
	head := l.snapshotHead(base)
	after := &delta{Holders: head.Holders}
	head.Holders = nil
	return numbered(func(yield func(numberer) bool) {
		whole := func(d *delta) bool {
			return yield(func(number int, last bool) ([]byte, error) {
				return journalLine{Group: 1, Line: number, Last: last, delta: *d}.encode()
			})
		}
		for _, d := range head.cutUp() {
			if !whole(d) {
				return
			}
		}
		if !l.leaseLines(yield) {
			return
		}
		for _, d := range after.cutUp()[1:] {
			if !whole(d) {
				return
			}
		}
	})
}

// numberer makes a line, once its number is known and whether it is the last.
type numberer func(number int, last bool) ([]byte, error)

// numbered makes the lines of a group. Each is held back until it is known whether another one follows.
func numbered(lines iter.Seq[numberer]) stream.Values {
	return func(yield func([]byte, error) bool) {
		var held numberer
		number := 0
		give := func(last bool) bool {
			line, err := held(number, last)
			number++
			return yield(line, err) && err == nil
		}
		for next := range lines {
			if held != nil && !give(false) {
				return
			}
			held = next
		}
		if held != nil {
			give(true)
		}
	}
}

// failing is an error in the place of values.
func failing(err error) stream.Values {
	return func(yield func([]byte, error) bool) { yield(nil, err) }
}

// leaseLines are all leases, as the ends of lines with room for what stands before them. One line is good until
// the next but one is asked for. False: no more are wanted.
func (l *ledger) leaseLines(yield func(numberer) bool) bool {
	var buffers [2][]byte
	for i := range buffers {
		buffers[i] = make([]byte, headerRoom, 2*lineBytes)
	}
	count, total := 0, 0
	line := buffers[0]
	give := func() bool {
		whole := append(line, `]}`...)
		buffers[count%2] = whole
		count++
		line, total = buffers[count%2][:headerRoom], 0
		return yield(func(number int, last bool) ([]byte, error) { return headed(whole, 1, number, last), nil })
	}
	var e Entry
	for one := range l.all() {
		e = l.entryOf(one)
		weight := e.weight()
		if total > 0 && total+weight > lineBytes && !give() {
			return false
		}
		if total > 0 {
			line = append(line, ',')
		}
		total += weight
		longer, err := appendEntry(line, &e)
		if err != nil {
			return yield(func(int, bool) ([]byte, error) { return nil, err })
		}
		line = longer
	}
	return total == 0 || give()
}

// headed puts what stands before the leases of a line into the room that was left for it.
func headed(line []byte, group uint64, number int, last bool) []byte {
	head := fmt.Appendf(nil, `"group":%d,"line":%d,`, group, number)
	if last {
		head = append(head, `"last":true,`...)
	}
	head = append(head, `"granted":[`...)
	line = line[headerRoom-len(head)-sumLength:]
	copy(line[sumLength:], head)
	copy(line, fmt.Appendf(nil, `%s%08x",`, sumPrefix, sumOf(line[sumLength:])))
	return line
}

// appendEntry adds a lease as encoding/json writes it. One that has more to it than most is left to that.
func appendEntry(to []byte, e *Entry) ([]byte, error) {
	subject := e.Subject.JSON()
	rare := e.Revoked || e.Reason != "" || e.ByHand || e.Cause != "" || e.Attempts != 0 || e.LastError != "" || e.NextTry != 0 ||
		e.Reclaimed || len(e.Registered) > 0
	if rare || !isPlain(e.Lease) || !isPlain(e.Holder) || !isPlain(e.Proposal) || len(subject) < 2 || subject[0] != '"' || !isPlain(subject[1:len(subject)-1]) {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		return append(to, text...), nil
	}
	to = appendPlain(to, `{"lease":"`, e.Lease)
	to = append(append(to, `","subject":`...), subject...)
	to = appendPlain(to, `,"holder":"`, e.Holder)
	to, err := appendDuration(to, `","duration":`, e.Duration)
	if err == nil && !e.Max.IsZero() {
		to, err = appendDuration(to, `,"max":`, e.Max)
	}
	if err != nil {
		return nil, err
	}
	if e.Token != 0 {
		to = appendCount(to, `,"token":`, e.Token)
	}
	if e.Proposal != "" {
		to = append(appendPlain(to, `,"proposal":"`, e.Proposal), '"')
	}
	to = appendCount(to, `,"tenure_start":`, e.TenureStart)
	to = appendCount(to, `,"last_observation":`, e.LastObservation)
	to = appendTrue(to, `,"unknown":true`, e.Unknown)
	if e.Resumed != 0 {
		to = appendCount(to, `,"resumed":`, e.Resumed)
	}
	to = appendTrue(to, `,"released":true`, e.Released)
	to = appendTrue(to, `,"recorded":true`, e.Recorded)
	return append(to, '}'), nil
}

func appendPlain(to []byte, key, text string) []byte { return append(append(to, key...), text...) }

func appendCount(to []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(to, key...), n, 10)
}

func appendTrue(to []byte, member string, is bool) []byte {
	if is {
		to = append(to, member...)
	}
	return to
}

// appendDuration adds a duration. The name of its unit is the composition's own, and may be any.
func appendDuration(to []byte, key string, d lease.Duration) ([]byte, error) {
	if !d.IsZero() && isPlain(d.Unit) {
		to = appendPlain(append(to, key...), `{"`, d.Unit)
		return append(appendCount(to, `":`, d.N), '}'), nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return append(append(to, key...), text...), nil
}

// isPlain says that encoding/json writes a text as it stands between its quotes.
func isPlain[T string | []byte](text T) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < 0x20, c > 0x7e, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
