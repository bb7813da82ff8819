package lease

import "strconv"

// key is one of the names that a fact's members may have. The order is that in which they are encoded.
type key uint8

const (
	keyStatus key = iota
	keyEvent
	keyLease
	keyProposal
	keySubject
	keyHolder
	keyDuration
	keyMax
	keyReading
	keyCause
	keyToken
	keyWithdrawn
	keyNote
	keyReason
	keyBy
	keyHeldBy
	keyBoot
	keyClock
	keyCount
)

// String is the key as it stands in a fact.
func (k key) String() string {
	names := [keyCount]string{
		"dao.lease/status", "dao.lease/event", "dao.lease/lease", "dao.lease/proposal", "dao.lease/subject",
		"dao.lease/holder", "dao.lease/duration", "dao.lease/max", "dao.lease/reading", "dao.lease/cause",
		"daolease/token", "daolease/withdrawn", "daolease/note", "daolease/reason", "daolease/by",
		"daolease/held-by", "daolease/boot", "daolease/clock",
	}
	return names[k]
}

// keyOf finds the key of an unquoted name. Names are compared byte for byte.
func keyOf(name []byte) (key, bool) {
	switch string(name) {
	case "dao.lease/status":
		return keyStatus, true
	case "dao.lease/event":
		return keyEvent, true
	case "dao.lease/lease":
		return keyLease, true
	case "dao.lease/proposal":
		return keyProposal, true
	case "dao.lease/subject":
		return keySubject, true
	case "dao.lease/holder":
		return keyHolder, true
	case "dao.lease/duration":
		return keyDuration, true
	case "dao.lease/max":
		return keyMax, true
	case "dao.lease/reading":
		return keyReading, true
	case "dao.lease/cause":
		return keyCause, true
	case "daolease/token":
		return keyToken, true
	case "daolease/withdrawn":
		return keyWithdrawn, true
	case "daolease/note":
		return keyNote, true
	case "daolease/reason":
		return keyReason, true
	case "daolease/by":
		return keyBy, true
	case "daolease/held-by":
		return keyHeldBy, true
	case "daolease/boot":
		return keyBoot, true
	case "daolease/clock":
		return keyClock, true
	}
	return 0, false
}

// keySet is a set of keys.
type keySet uint32

func setOf(keys ...key) keySet {
	var s keySet
	for _, k := range keys {
		s |= 1 << k
	}
	return s
}

func (s keySet) has(k key) bool { return s&(1<<k) != 0 }

// carries is what a fact of this kind must carry and what it may (SPEC 2). Everything else it drops.
func (k Kind) carries() (must, may keySet) {
	switch k {
	case Proposal:
		return setOf(keyProposal, keySubject), setOf(keyDuration, keyNote, keyWithdrawn)
	case Grant:
		return setOf(keyLease, keySubject, keyHolder, keyDuration), setOf(keyProposal, keyMax, keyToken, keyNote)
	case Refusal:
		return setOf(keyProposal), setOf(keyHolder, keyReason, keyBy, keyHeldBy)
	case Release, Renewal:
		return setOf(keyLease), 0
	case Lapsed:
		return setOf(keyLease, keyCause), setOf(keyReason)
	case Tick:
		return setOf(keyReading), setOf(keyBoot, keyClock)
	}
	return 0, 0
}

// dispatch is the key that says what kind a fact is, and its value.
func (k Kind) dispatch() (key, string) {
	switch k {
	case Proposal:
		return keyStatus, "dao.lease/proposed"
	case Grant:
		return keyStatus, "dao.lease/accepted"
	case Refusal:
		return keyStatus, "dao.lease/rejected"
	case Release:
		return keyStatus, "dao.lease/released"
	case Lapsed:
		return keyStatus, "dao.lease/lapsed"
	case Renewal:
		return keyEvent, "dao.lease/renewal"
	case Tick:
		return keyEvent, "dao.lease/tick"
	}
	return keyStatus, ""
}

// kindOf finds the kind that a dispatch key and its value name; 0 when none does.
func kindOf(by key, value []byte) Kind {
	for k := Proposal; k <= Tick; k++ {
		if at, name := k.dispatch(); at == by && name == string(value) {
			return k
		}
	}
	return 0
}

// String is the kind in lower case, as people read it.
func (k Kind) String() string {
	names := [...]string{"no fact", "proposal", "grant", "refusal", "release", "lapsed", "renewal", "tick"}
	if k < 0 || int(k) >= len(names) {
		return "kind " + strconv.Itoa(int(k))
	}
	return names[k]
}

// Valid says that this is one of the four causes.
func (c Cause) Valid() bool {
	switch c {
	case ByRelease, ByCap, ByPolicy, BySilence:
		return true
	}
	return false
}
