package judge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Every look at a composition reads the ledger, and nearly all of it is leases, renewals and answered proposals, so
// lines with nothing else are read without a general JSON parser. Plain is a line without white space whose members
// are known and stand in the order in which they are written, hence none twice. A line that is not, however slightly,
// is left to encoding/json as a whole; a fuzz target holds that the two agree.

// plainReader takes a line apart from the left. Once something is not plain it is bad, and what it gave is void.
type plainReader struct {
	text string
	at   int
	bad  bool

	unit  string  // of the last duration
	spare []Entry // to be used
}

// member is how one member of an object is read.
type member[T any] struct {
	key  string
	read func(*plainReader, *T)
}

// plainLine reads what is behind the sum of a line. False says nothing: ask encoding/json.
func plainLine(body []byte) (journalLine, bool) {
	r := plainReader{text: "{" + string(body)}
	var g journalLine
	plainObject(&r, lineMembers[:], &g)
	return g, !r.bad && r.at == len(r.text)
}

// The members in the order in which they are written. A line with any other is rare.
var (
	lineMembers = [...]member[journalLine]{
		{"group", func(r *plainReader, g *journalLine) { g.Group = uint64(r.number()) }},
		{"line", func(r *plainReader, g *journalLine) { g.Line = int(r.number()) }},
		{"last", func(r *plainReader, g *journalLine) { g.Last = r.yes() }},
		{"pass", func(r *plainReader, g *journalLine) { g.Pass = uint64(r.number()) }},
		{"incarnation", func(r *plainReader, g *journalLine) { g.Incarnation = uint64(r.number()) }},
		{"now", func(r *plainReader, g *journalLine) { n := r.number(); g.Now = &n }},
		{"completed", func(r *plainReader, g *journalLine) { n := r.number(); g.Completed = &n }},
		{"token", func(r *plainReader, g *journalLine) { g.Token = r.number() }},
		{"cursors", func(r *plainReader, g *journalLine) { g.Cursors = plainMap(r, (*plainReader).cursor) }},
		{"granted", func(r *plainReader, g *journalLine) { g.Entries = plainList(r, (*plainReader).entry) }},
		{"at", func(r *plainReader, g *journalLine) { n := r.number(); g.At = &n }},
		{"unknown", func(r *plainReader, g *journalLine) { g.Unknown = plainList(r, (*plainReader).string) }},
		{"released", func(r *plainReader, g *journalLine) { g.Released = plainList(r, (*plainReader).string) }},
		{"holders", func(r *plainReader, g *journalLine) { g.Holders = plainMap(r, (*plainReader).holder) }},
		{"succeeded", func(r *plainReader, g *journalLine) { g.Succeeded = plainList(r, (*plainReader).string) }},
		{"left", func(r *plainReader, g *journalLine) { g.Left = plainList(r, (*plainReader).kept) }},
		{"renewed", func(r *plainReader, g *journalLine) { g.Renewed = r.toTheEnd() }},
	}
	entryMembers = [...]member[Entry]{
		{"lease", func(r *plainReader, e *Entry) { e.Lease = r.string() }},
		{"subject", func(r *plainReader, e *Entry) { e.Subject = r.subject() }},
		{"holder", func(r *plainReader, e *Entry) { e.Holder = r.string() }},
		{"duration", func(r *plainReader, e *Entry) { e.Duration = r.duration() }},
		{"max", func(r *plainReader, e *Entry) { e.Max = r.duration() }},
		{"token", func(r *plainReader, e *Entry) { e.Token = r.number() }},
		{"proposal", func(r *plainReader, e *Entry) { e.Proposal = r.string() }},
		{"tenure_start", func(r *plainReader, e *Entry) { e.TenureStart = r.number() }},
		{"last_observation", func(r *plainReader, e *Entry) { e.LastObservation = r.number() }},
		{"unknown", func(r *plainReader, e *Entry) { e.Unknown = r.yes() }},
		{"resumed", func(r *plainReader, e *Entry) { e.Resumed = r.number() }},
		{"released", func(r *plainReader, e *Entry) { e.Released = r.yes() }},
	}
	holderMembers = [...]member[holder]{
		{"answered", func(r *plainReader, h *holder) { h.Answered = plainList(r, (*plainReader).answered) }},
		{"more", func(r *plainReader, h *holder) { h.More = r.yes() }},
	}
	answeredMembers = [...]member[answered]{
		{"proposal", func(r *plainReader, a *answered) { a.Proposal = r.kept() }},
		{"answered", func(r *plainReader, a *answered) { a.Answered = r.yes() }},
		{"withdrawn", func(r *plainReader, a *answered) { a.Withdrawn = r.yes() }},
	}
)

func plainObject[T any](r *plainReader, members []member[T], to *T) {
	for more := r.open('{'); more && !r.bad; more = r.next('}') {
		key := r.name()
		for len(members) > 0 && members[0].key != key {
			members = members[1:]
		}
		if len(members) == 0 {
			r.bad = true
			return
		}
		members[0].read(r, to)
		members = members[1:]
	}
}

func plainList[T any](r *plainReader, element func(*plainReader) T) []T {
	var list []T
	for more := r.open('['); more && !r.bad; more = r.next(']') {
		list = append(list, element(r))
	}
	return list
}

// toTheEnd is a list of ids that is the last member of a line, as the renewed are: by the first of them it is known
// about how many there are, and memory that was never touched is the dearest part of reading them.
func (r *plainReader) toTheEnd() []string {
	from := r.at
	if !r.open('[') {
		return nil
	}
	list := []string{r.string()}
	list = slices.Grow(list, (len(r.text)-r.at)/(r.at-from))
	for r.next(']') && !r.bad {
		list = append(list, r.string())
	}
	return list
}

func plainMap[T any](r *plainReader, value func(*plainReader) T) map[string]T {
	m := map[string]T{}
	for more := r.open('{'); more && !r.bad; more = r.next('}') {
		key := strings.Clone(r.name())
		m[key] = value(r)
	}
	return m
}

// open goes past the beginning of an object or a list. An empty one is not plain.
func (r *plainReader) open(c byte) bool {
	r.expect(c)
	return !r.bad
}

// next goes past what follows an element: a comma, or the end, after which there is no more.
func (r *plainReader) next(end byte) (more bool) {
	if r.at < len(r.text) && r.text[r.at] == ',' {
		r.at++
		return true
	}
	r.expect(end)
	return false
}

func (r *plainReader) expect(c byte) {
	if r.at >= len(r.text) || r.text[r.at] != c {
		r.bad = true
		return
	}
	r.at++
}

// name is the name of a member, and goes past its colon.
func (r *plainReader) name() string {
	name := r.string()
	r.expect(':')
	return name
}

// literal goes past a JSON string and answers it with its quotes, and whether it is more than what stands there.
func (r *plainReader) literal() (text string, escaped bool) {
	from := r.at
	r.expect('"')
	ascii := true
	for ; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\':
			escaped = true
			r.at = min(r.at+1, len(r.text)-1) // what is escaped ends no string
		case c < ' ':
			r.bad = true
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	r.expect('"')
	if r.bad {
		return `""`, false
	}
	text = r.text[from:r.at]
	r.bad = !ascii && !utf8.ValidString(text)
	return text, escaped
}

// string is a string, which may be part of the line's memory.
func (r *plainReader) string() string {
	text, escaped := r.literal()
	if !escaped {
		return text[1 : len(text)-1]
	}
	var s string
	r.bad = r.bad || json.Unmarshal([]byte(text), &s) != nil
	return s
}

// kept is a string that outlives the line.
func (r *plainReader) kept() string { return strings.Clone(r.string()) }

func (r *plainReader) subject() lease.Subject {
	text, escaped := r.literal()
	if !escaped {
		return lease.StringSubject(text[1 : len(text)-1])
	}
	var s lease.Subject
	r.bad = r.bad || json.Unmarshal([]byte(text), &s) != nil
	return s
}

// number is one without a sign. A zero begins no other.
func (r *plainReader) number() int64 {
	from := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	digits := r.text[from:r.at]
	n, err := strconv.ParseInt(digits, 10, 64)
	r.bad = r.bad || err != nil || digits[0] == '0' && len(digits) > 1
	return n
}

// yes is true: what is false is left out.
func (r *plainReader) yes() bool {
	if !strings.HasPrefix(r.text[r.at:], "true") {
		r.bad = true
		return false
	}
	r.at += len("true")
	return true
}

func (r *plainReader) duration() lease.Duration {
	r.expect('{')
	unit := r.name()
	n := r.number()
	r.expect('}')
	r.bad = r.bad || n > lease.Limit
	if unit != r.unit {
		r.unit = strings.Clone(unit)
	}
	return lease.Duration{Unit: r.unit, N: n}
}

func (r *plainReader) cursor() stream.Cursor { return stream.Cursor(r.kept()) }

func (r *plainReader) entry() *Entry {
	if len(r.spare) == 0 {
		r.spare = make([]Entry, 64)
	}
	e := &r.spare[0]
	r.spare = r.spare[1:]
	plainObject(r, entryMembers[:], e)
	return e
}

func (r *plainReader) holder() *holder {
	h := &holder{}
	plainObject(r, holderMembers[:], h)
	return h
}

func (r *plainReader) answered() (a answered) {
	plainObject(r, answeredMembers[:], &a)
	return a
}
