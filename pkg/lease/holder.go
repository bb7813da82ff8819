package lease

import (
	"maps"

	"github.com/daolease/daolease/pkg/stream"
)

// Holder is one holder's conclusions about its own leases (SPEC 7). All its functions are pure over State: they
// read no clock and do no I/O. Readings are handed in, in base units of Units. A Holder is for one goroutine.
//
// One command is: take the state out of its keeping, See a reading, BeginLook, Observe each fact of the
// grantor's stream after Cursor, EndLook, then propose, renew or release, and put the state back.
type Holder struct {
	Name    string // who it is, as the resolver says it
	Grantor string // whose grants, refusals and lapsed count
	Units   Units
	State   State

	began int64 // reading at which the current look began; 0 when there was none
}

// State is what a holder keeps between commands. It is plain data and goes through JSON unchanged. The zero
// State has observed nothing, and so holds nothing.
type State struct {
	Cursor stream.Cursor `json:"cursor,omitempty"` // on the grantor's stream: the end of the last look
	Now    int64         `json:"now,omitempty"`    // the greatest reading seen
	Look   *int64        `json:"look,omitempty"`   // reading at which the last completed look began
	Gapped bool          `json:"gapped,omitempty"` // a gap was met, and no look has completed since
	Token  int64         `json:"token,omitempty"`  // the highest seen, whoever it was granted to
	Seq    int64         `json:"seq,omitempty"`    // of the newest entry below, for telling which are old

	Proposed map[string]*Proposed `json:"proposed,omitempty"` // by proposal id
	Leases   map[string]*Held     `json:"leases,omitempty"`   // by lease id: every one granted to this holder
	Others   []string             `json:"others,omitempty"`   // the newest lease ids granted to others
}

// Answer is what became of a proposal.
type Answer string

// The answers; none yet is the empty Answer.
const (
	Granted Answer = "granted"
	Refused Answer = "refused"
)

// Proposed is what a holder notes about one proposal of its own.
type Proposed struct {
	Subject  Subject `json:"subject,omitzero"`
	Reading  *int64  `json:"reading,omitempty"` // taken before the append of the proposal
	Answer   Answer  `json:"answer,omitempty"`
	Lease    string  `json:"lease,omitempty"`    // that it was granted
	Reason   string  `json:"reason,omitempty"`   // of the refusal
	By       string  `json:"by,omitempty"`       // the lease in the way
	HeldBy   string  `json:"held_by,omitempty"`  // who holds that
	Withdraw Ending  `json:"withdraw,omitempty"` // how far taking it back has come
	Void     bool    `json:"void,omitempty"`     // named by notes that are void
	Seq      int64   `json:"seq,omitempty"`
}

// Ending is how far an append that ends something has come. From SetOut on the holder does not hold.
type Ending string

// The stages; not begun is the empty Ending.
const (
	SetOut Ending = "set-out" // about to be appended, or appended without an ok
	Done   Ending = "done"    // the append answered ok
)

// Held is what a holder notes about one lease that it was granted, whether or not it holds it now.
type Held struct {
	Lease    string   `json:"lease"`
	Proposal string   `json:"proposal,omitempty"`
	Subject  Subject  `json:"subject,omitzero"`
	Duration Duration `json:"duration,omitzero"`
	Max      Duration `json:"max,omitzero"`
	Token    int64    `json:"token,omitempty"`
	Basis    *int64   `json:"basis,omitempty"`   // SPEC 7; nil: holds nothing until it has renewed
	Renewed  *int64   `json:"renewed,omitempty"` // reading of the last renewal, taken before its append
	Release  Ending   `json:"release,omitempty"` // how far giving it back has come
	Lapsed   Cause    `json:"lapsed,omitempty"`  // the grantor recorded that it ended
	Late     bool     `json:"late,omitempty"`    // its bound had passed when the grant was observed
	Unfit    string   `json:"unfit,omitempty"`   // why it is never acted on
	Void     bool     `json:"void,omitempty"`    // named by notes that are void
	Seq      int64    `json:"seq,omitempty"`
}

// NewHolder makes the holder of that name over a state that was kept, or over a zero one. The holder owns the
// state's maps from then on.
func NewHolder(name, grantor string, u Units, s State) *Holder {
	if s.Proposed == nil {
		s.Proposed = map[string]*Proposed{}
	}
	if s.Leases == nil {
		s.Leases = map[string]*Held{}
	}
	maps.DeleteFunc(s.Proposed, func(_ string, p *Proposed) bool { return p == nil })
	maps.DeleteFunc(s.Leases, func(_ string, held *Held) bool { return held == nil })
	return &Holder{Name: name, Grantor: grantor, Units: u, State: s}
}

// See takes note of a reading. Readings never decrease: an older one than was already seen changes nothing, and
// so does one that can be none (under 1 or over Limit).
func (h *Holder) See(reading int64) {
	if usable(reading) {
		h.State.Now = max(h.State.Now, reading)
	}
}

func usable(reading int64) bool { return reading > 0 && reading <= Limit }

// next numbers a new entry.
func (h *Holder) next() int64 {
	h.State.Seq++
	return h.State.Seq
}
