package judge

import (
	"github.com/daolease/daolease/pkg/lease"
)

// Entry is one live lease as the ledger holds it on disk and shows it (SPEC 6, Ledger). Readings and spans are base units.
type Entry struct {
	Lease    string         `json:"lease"`
	Subject  lease.Subject  `json:"subject"`
	Holder   string         `json:"holder"`
	Duration lease.Duration `json:"duration"`
	Max      lease.Duration `json:"max,omitzero"`
	Token    int64          `json:"token,omitempty"`
	Proposal string         `json:"proposal,omitempty"`

	TenureStart     int64 `json:"tenure_start"`
	LastObservation int64 `json:"last_observation"`
	Unknown         bool  `json:"unknown,omitempty"`
	Resumed         int64 `json:"resumed,omitempty"` // only when Unknown
	Released        bool  `json:"released,omitempty"`
	Recorded        bool  `json:"recorded,omitempty"` // a lapsed for it was found on the stream

	Revoked   bool        `json:"revoked,omitempty"` // the grantor's policy ends it
	Reason    string      `json:"reason,omitempty"`  // of that policy
	ByHand    bool        `json:"by_hand,omitempty"` // taken back by hand: no procedure is run
	Cause     lease.Cause `json:"cause,omitempty"`   // set: pending
	Attempts  int         `json:"attempts,omitempty"`
	LastError string      `json:"last_error,omitempty"`
	NextTry   int64       `json:"next_try,omitempty"`
	Reclaimed bool        `json:"reclaimed,omitempty"` // the procedure succeeded

	// Registered names the mixed-author media on which a fact of its holder was read.
	Registered []string `json:"registered,omitempty"`
}

// Pending says that the lease is due and not yet gone.
func (e *Entry) Pending() bool { return e.Cause != "" }
