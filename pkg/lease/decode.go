package lease

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep arrays and objects may nest in a line (SPEC 2).
const maxDepth = 1000

// ErrNoFact is Decode's answer to what is no lease fact and is ignored silently: a blank line, JSON that is no
// object, an object with neither dispatch key (SPEC 2).
var ErrNoFact = errors.New("no lease fact")

// Undecodable is a line that is counted as dropped because it cannot be read: no JSON, a duplicate key at any
// depth, invalid UTF-8, nesting over 1,000 (SPEC 2).
type Undecodable struct {
	Reason string
}

// Error is the reason, for a person.
func (e *Undecodable) Error() string { return "undecodable: " + e.Reason }

// Defective is a fact that is counted as dropped because of what it says itself (SPEC 2).
type Defective struct {
	Defects []Defect
}

// Error names every defect, for a person.
func (e *Defective) Error() string {
	texts := make([]string, len(e.Defects))
	for i, d := range e.Defects {
		texts[i] = d.String()
	}
	return "defective: " + strings.Join(texts, "; ")
}

// Decode reads one line. Its errors are ErrNoFact, *Undecodable and *Defective. What the fact's kind does not
// carry is checked where SPEC 2 demands it and then left out. The fact keeps nothing of line's memory.
func Decode(line []byte, u Units) (Fact, error) {
	if id, ok := PlainRenewal(line); ok {
		return Fact{Kind: Renewal, Lease: string(id)}, nil
	}
	var r raw
	if r.plain(line) {
		return r.judged(u)
	}
	return decodeStrictly(line, u)
}

// decodeStrictly reads any line.
func decodeStrictly(line []byte, u Units) (Fact, error) {
	var r raw
	if err := r.parse(line); err != nil {
		return Fact{}, err
	}
	return r.judged(u)
}

// judged is the fact that the parts make, or what is wrong with it.
func (r *raw) judged(u Units) (Fact, error) {
	f := r.fact(u)
	if r.defects != nil {
		return Fact{}, &Defective{Defects: r.defects}
	}
	return f, nil
}

// raw is a fact in parts: the JSON value of each known key that is present, and what was found wrong.
type raw struct {
	values  [keyCount][]byte
	defects []Defect
}

// parse takes a line apart. A key whose value is null counts as absent: for keys of dao.lease SPEC 2 says so,
// and of this tool's own none may be null.
func (r *raw) parse(line []byte) error {
	line = trim(line)
	if len(line) == 0 {
		return ErrNoFact
	}
	if err := decodable(line, maxDepth); err != nil {
		return err
	}
	if line[0] != '{' {
		return ErrNoFact
	}
	for name, value := range members(line) {
		if k, known := keyOf(unquote(name)); known && value[0] != 'n' {
			r.values[k] = value
		}
	}
	if r.values[keyStatus] == nil && r.values[keyEvent] == nil {
		return ErrNoFact
	}
	return nil
}

// fact reads what the kind carries, and notes every defect.
func (r *raw) fact(u Units) Fact {
	f := Fact{Kind: r.kind()}
	must, may := f.Kind.carries()
	carried := must | may
	r.require(f.Kind, must)
	for k := keyLease; k <= keyHolder; k++ {
		if k != keySubject {
			r.id(k)
		}
	}
	f.Lease = r.text(keyLease, carried)
	f.Proposal = r.text(keyProposal, carried)
	f.Holder = r.text(keyHolder, carried)
	f.Subject = r.subject(carried)
	f.Duration = r.duration(keyDuration, carried, u)
	f.Max = r.duration(keyMax, carried, u)
	f.Reading = r.duration(keyReading, carried, u)
	f.Cause = r.cause(carried)
	r.own(&f, carried)
	return f
}

// own reads this tool's own keys. One of the wrong type is no defect: it is as if it were not there.
func (r *raw) own(f *Fact, carried keySet) {
	if v := r.values[keyToken]; v != nil && carried.has(keyToken) {
		f.Token, _ = literal(v)
	}
	if v := r.values[keyClock]; v != nil && carried.has(keyClock) {
		n, err := literal(v)
		f.Clock, f.HasClock = n, err == nil
	}
	f.Withdrawn = carried.has(keyWithdrawn) && string(r.values[keyWithdrawn]) == "true"
	f.Note = r.text(keyNote, carried)
	f.Reason = r.text(keyReason, carried)
	f.By = r.text(keyBy, carried)
	f.HeldBy = r.text(keyHeldBy, carried)
	f.Boot = r.text(keyBoot, carried)
}

// text is the string at a key that is carried; empty when there is none.
func (r *raw) text(k key, carried keySet) string {
	v := r.values[k]
	if !carried.has(k) || len(v) == 0 || v[0] != '"' {
		return ""
	}
	return string(unquote(v))
}

func (r *raw) subject(carried keySet) Subject {
	v := r.values[keySubject]
	if v == nil || !carried.has(keySubject) {
		return Subject{}
	}
	return subjectOf(v)
}

// decodable says why a text is not exactly one JSON value that SPEC 2 takes, as an *Undecodable.
func decodable(text []byte, depth int) error {
	if deeper(text, depth) {
		return &Undecodable{Reason: "nested too deep"}
	}
	if jsontext.Value(text).IsValid() {
		return nil
	}
	return &Undecodable{Reason: whyInvalid(text)}
}

// whyInvalid reads a text that is known to be invalid once more, for the reason.
func whyInvalid(text []byte) string {
	if !utf8.Valid(text) {
		return "invalid UTF-8"
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if err := d.SkipValue(); errors.Is(err, jsontext.ErrDuplicateName) {
		return "a key stands there twice"
	} else if err != nil {
		return "no JSON"
	}
	return "something follows the JSON value"
}
