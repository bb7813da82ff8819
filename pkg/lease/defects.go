package lease

import "strings"

// Defect is one thing that makes a fact defective (SPEC 2): the key it is about, and what is wrong there.
type Defect struct {
	Key    string
	Reason string
}

// String is the defect in one line, for a person.
func (d Defect) String() string { return d.Key + ": " + d.Reason }

// Defects names every defect of a line, and none for a good fact. Its error is ErrNoFact or an *Undecodable.
func Defects(line []byte, u Units) ([]Defect, error) {
	var r raw
	if err := r.parse(line); err != nil {
		return nil, err
	}
	r.fact(u)
	return r.defects, nil
}

func (r *raw) defect(k key, reason string) {
	r.defects = append(r.defects, Defect{Key: k.String(), Reason: reason})
}

// kind reads the dispatch key. Of a fact with both it is none: nothing then says what the fact must carry.
func (r *raw) kind() Kind {
	status, event := r.dispatched(keyStatus), r.dispatched(keyEvent)
	if r.values[keyStatus] != nil && r.values[keyEvent] != nil {
		r.defect(keyEvent, "stands beside "+keyStatus.String())
		return 0
	}
	return max(status, event)
}

// dispatched is the kind that one dispatch key names; 0 when the key is absent or the value unknown.
func (r *raw) dispatched(k key) Kind {
	v := r.values[k]
	if v == nil {
		return 0
	}
	if v[0] == '"' {
		if kind := kindOf(k, unquote(v)); kind != 0 {
			return kind
		}
	}
	r.defect(k, "unknown: "+clip(v)+"; known are "+knownTo(k))
	return 0
}

// knownTo are the values that a dispatch key may have, for a person.
func knownTo(by key) string {
	var names []string
	for k := Proposal; k <= Tick; k++ {
		if at, name := k.dispatch(); at == by {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// require notes each key that a fact of this kind must carry and does not, and a lease id on a proposal.
func (r *raw) require(kind Kind, must keySet) {
	for k := range keyCount {
		if must.has(k) && r.values[k] == nil {
			r.defect(k, "absent")
		}
	}
	if kind == Proposal && r.values[keyLease] != nil {
		r.defect(keyLease, "a proposal has no lease yet")
	}
}

// id notes an id that is no non-empty string, on whichever fact.
func (r *raw) id(k key) {
	if v := r.values[k]; v != nil && (v[0] != '"' || len(v) == len(`""`)) {
		r.defect(k, "not a non-empty string")
	}
}

// duration checks a duration on whichever fact, and hands it on where it is carried.
func (r *raw) duration(k key, carried keySet, u Units) Duration {
	v := r.values[k]
	if v == nil {
		return Duration{}
	}
	d, err := u.read(v)
	if err != nil {
		r.defect(k, err.Error())
	}
	if !carried.has(k) {
		return Duration{}
	}
	return d
}

// cause checks a cause on whichever fact, and hands it on where it is carried.
func (r *raw) cause(carried keySet) Cause {
	v := r.values[keyCause]
	if v == nil {
		return ""
	}
	if c := Cause(r.text(keyCause, setOf(keyCause))); c.Valid() {
		if carried.has(keyCause) {
			return c
		}
		return ""
	}
	r.defect(keyCause, "none of release, cap, policy and silence: "+clip(v))
	return ""
}
