package lease

import "strconv"

// Encode is the fact as one compact line without its newline, in a fixed order of keys. It writes what the
// fact's kind carries and is not zero, so that Decode gives the same fact back.
func (f Fact) Encode() []byte {
	by, value := f.Kind.dispatch()
	must, may := f.Kind.carries()
	e := encoder{carried: must | may, out: make([]byte, 0, 192)}
	e.out = append(e.out, '{')
	e.key(by)
	e.out = appendText(e.out, value)
	e.text(keyLease, f.Lease)
	e.text(keyProposal, f.Proposal)
	if !f.Subject.IsZero() && e.open(keySubject) {
		e.out = append(e.out, f.Subject.JSON()...)
	}
	e.text(keyHolder, f.Holder)
	e.duration(keyDuration, f.Duration)
	e.duration(keyMax, f.Max)
	e.duration(keyReading, f.Reading)
	e.text(keyCause, string(f.Cause))
	e.number(keyToken, f.Token, f.Token != 0)
	if f.Withdrawn && e.open(keyWithdrawn) {
		e.out = append(e.out, "true"...)
	}
	e.text(keyNote, f.Note)
	e.text(keyReason, f.Reason)
	e.text(keyBy, f.By)
	e.text(keyHeldBy, f.HeldBy)
	e.text(keyBoot, f.Boot)
	e.number(keyClock, f.Clock, f.HasClock)
	return append(e.out, '}')
}

// encoder writes members one after the other.
type encoder struct {
	carried keySet
	out     []byte
}

func (e *encoder) key(k key) {
	e.out = append(e.out, '"')
	e.out = append(e.out, k.String()...)
	e.out = append(e.out, '"', ':')
}

// open begins a member that is not the first, unless the kind does not carry it.
func (e *encoder) open(k key) bool {
	if !e.carried.has(k) {
		return false
	}
	e.out = append(e.out, ',')
	e.key(k)
	return true
}

func (e *encoder) text(k key, text string) {
	if text != "" && e.open(k) {
		e.out = appendText(e.out, text)
	}
}

func (e *encoder) duration(k key, d Duration) {
	if !d.IsZero() && e.open(k) {
		e.out = d.append(e.out)
	}
}

func (e *encoder) number(k key, n int64, there bool) {
	if there && e.open(k) {
		e.out = strconv.AppendInt(e.out, n, 10)
	}
}
