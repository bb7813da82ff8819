package judge

import (
	"cmp"

	"github.com/daolease/daolease/pkg/lease"
)

// Entry is one live lease as the ledger holds it (SPEC 6, Ledger). Readings and spans are base units.
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

	// What follows is derived and belongs to the judge that holds the entry.
	duration int64 // terms in base units
	max      int64 // 0: none
	bound    int64 // key in the due queue: a lower bound of the reading past which something is due
	index    int   // place in the due queue; -1 when it is not there
	running  bool  // its procedure was started by this judge and has not reported
	onDisk   bool  // its pending state is synced
}

// Pending says that the lease is due and not yet gone.
func (e *Entry) Pending() bool { return e.Cause != "" }

// queue is the leases ordered by the lower bound of what makes them due: a binary heap whose keys may be
// too low, never too high, so that a renewal costs nothing (SPEC 6, the cost of a pass).
type queue []*Entry

func (q queue) less(a, b int) bool {
	return cmp.Or(cmp.Compare(q[a].bound, q[b].bound), cmp.Compare(q[a].Lease, q[b].Lease)) < 0
}

func (q queue) swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].index, q[b].index = a, b
}

func (q queue) up(i int) {
	for i > 0 && q.less(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q queue) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(q) && q.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.swap(i, least)
		i = least
	}
}

func (q *queue) push(e *Entry, bound int64) {
	e.bound, e.index = bound, len(*q)
	*q = append(*q, e)
	q.up(e.index)
}

func (q *queue) remove(e *Entry) {
	i, last := e.index, len(*q)-1
	if i < 0 {
		return
	}
	q.swap(i, last)
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = -1
	if i < last {
		q.up(i)
		q.down(i)
	}
}

// move gives an entry another key.
func (q queue) move(e *Entry, bound int64) {
	e.bound = bound
	q.up(e.index)
	q.down(e.index)
}
