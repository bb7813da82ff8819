package judge_test

import (
	"github.com/daolease/daolease/pkg/lease"
)

// model is what must be so, as far as it follows from what was appended, handed out and landed.
type model struct {
	cadence, tolerance int64
	slots              int
	stamped            bool

	leases map[string]*simLease
	said   []*said // by the number that each line of a holder's medium carries
	disk   *disk

	newest    int64   // tick on the tick stream
	read      int64   // newest tick handed out
	completed []int64 // readings of the completed passes
	token     int64   // highest on the grantor's stream
	answers   map[string]int

	resume      bool // after a reboot all evidence is yet to be made unknown
	grantorLost bool // lines of the grantor's stream were lost: what lived there need not be known
	// of this process's life
	fresh   bool // a tick was handed out
	resumed bool // what a reboot made unknown was so from the drain on that came first
	// of this pass
	at     int64          // its now
	before int            // lines said before it began
	last   map[string]int // the state that the last read of each medium came to
}

func newModel() *model {
	return &model{leases: map[string]*simLease{}, disk: newDisk(), answers: map[string]int{}, last: map[string]int{}}
}

// simLease is one grant and what became of it.
type simLease struct {
	id, subject, holder, proposal, home string
	duration, max                       int64
	granted                             int64 // the reading from which on it could be read
	said                                int   // lines said by then
	spoke                               bool  // its holder said something about it at its home
	latest                              int64 // no later than this was it seeded; 0: nobody can tell

	released, revoked bool // somebody who may has said so
	releaseRead       bool // and the judge has been handed it in this life
	revokeRead        bool
	gap, gapKept      int64 // reading of the newest gap that marks it; and as the ledger has kept it
	cause             lease.Cause
	done              bool // its procedure reported success
	lapsed            int  // records on the stream
	succeeded         bool // that was on the ledger's medium
	seen              bool // the next completed pass must have it in its ledger
	undead            bool // it was gone when the ledger was cut, and may be live again
	token             int64
}

// gone says that it has freed its slot.
func (l *simLease) gone() bool { return l.lapsed > 0 && l.succeeded }

// said is a line on a holder's medium.
type said struct {
	n                               int
	medium, author, lease, proposal string
	kind                            lease.Kind
	withdrawn                       bool
	at                              int64 // the reading from which on it could be read
	handed                          int64 // now, when it was first handed out; 0: never
	lost                            bool  // a gap may have swallowed it
}

// readable is the reading that nothing appended now may be held to be older than.
func (s *sim) readable() int64 {
	if s.stamped {
		return s.now
	}
	return s.newest
}

// watched is how much of the time since a reading counts against a lease of this duration.
func (m *model) watched(since, duration int64) int64 {
	most := max(m.cadence, (duration+1)/2)
	total, from, between := int64(0), since, false
	count := func(to int64) {
		if span := to - from; between {
			total += min(span, most)
		} else {
			total += span
		}
	}
	for _, c := range m.completed {
		if c > since {
			count(c)
			from = c
		}
		between = true
	}
	count(m.at)
	return total
}

// mayCarry says that facts about a lease may stand on a medium.
func (s *sim) mayCarry(medium string, l *simLease) bool {
	_, sole := simResolver{s}.Sole(medium)
	return !sole || medium == l.holder
}

// marks says that a gap on a medium makes a lease unknown: it is its holder's, or a mixed one on which it is
// registered, or it is registered nowhere. A holder here speaks of a lease on one medium only, its home.
func (s *sim) marks(medium string, l *simLease) bool {
	_, alone := simResolver{s}.Sole(l.home)
	return s.mayCarry(medium, l) && (medium == l.holder || medium == l.home || alone || !l.spoke)
}

// concluded holds the judge to a cause on its way to the ledger.
func (s *sim) concluded(id string, cause lease.Cause) {
	l := s.leases[id]
	switch {
	case l == nil:
		s.fail("%s is concluded, which was never granted", id)
		return
	case l.cause == cause:
		return
	case l.cause != "":
		s.fail("%s was pending by %s, and now is by %s", id, l.cause, cause)
	}
	s.say("%s is concluded by %s at %d", id, cause, s.at)
	l.cause = cause
	switch cause {
	case lease.ByRelease:
		if !l.released {
			s.fail("%s was not released", id)
		}
		return
	case lease.ByPolicy:
		if !l.revoked {
			s.fail("%s was not revoked", id)
		}
	case lease.ByCap:
		if l.max == 0 || s.at-l.granted <= l.max {
			s.fail("%s is not past its cap: granted at %d, max %d, now %d", id, l.granted, l.max, s.at)
		}
	case lease.BySilence:
		s.silent(l)
	}
	s.first(l, cause)
	if holder := s.party[l.holder]; cause != lease.ByPolicy && holder.Holding(id, s.now) == nil {
		s.fail("%s is concluded by %s at %d, and %s still holds it at %d", id, cause, s.at, l.holder, s.now)
	}
}

// first: no cause that comes before this one held.
func (s *sim) first(l *simLease, cause lease.Cause) {
	switch {
	case l.releaseRead:
		s.fail("%s is concluded by %s, and was released", l.id, cause)
	case cause == lease.ByCap:
	case l.max > 0 && l.latest > 0 && s.at-l.latest > l.max:
		s.fail("%s is concluded by %s, and is past its cap", l.id, cause)
	case cause == lease.BySilence && l.revokeRead:
		s.fail("%s is concluded by silence, and was revoked", l.id)
	}
}

// silent: every medium was drained, and all evidence is old enough.
func (s *sim) silent(l *simLease) {
	if !s.fresh {
		s.fail("%s is concluded silent before a tick was drained", l.id)
	}
	for _, medium := range s.holders {
		if state, read := s.last[medium]; s.mayCarry(medium, l) && (read || s.polled) && !drained(state) {
			s.fail("%s is concluded silent, and the drain of %s came to state %d", l.id, medium, state)
		}
	}
	old := func(since, bound int64, what string) {
		if w := s.watched(since, l.duration); w <= bound {
			s.fail("%s is concluded silent at %d: %s at %d, of which %d were watched, bound %d", l.id, s.at, what, since, w, bound)
		}
	}
	old(l.granted, l.duration+s.tolerance, "granted")
	if l.gap > 0 {
		old(l.gap, l.duration, "resumed")
	}
	for _, x := range s.said[:s.before] {
		if x.kind != lease.Renewal || x.lease != l.id || x.author != l.holder || x.n < l.said {
			continue
		}
		at, bound := max(x.at, x.handed), l.duration+s.tolerance
		if x.lost || x.handed == 0 && !s.stillThere(x) {
			if bound = l.duration; x.handed == 0 {
				continue // a gap stands for it
			}
		}
		old(at, bound, "renewed")
	}
}

// forgetLife forgets what held for the process that is gone. What it has not kept on its ledger is
// read again, or is a gap again.
func (m *model) forgetLife(lostTail bool) {
	m.fresh, m.resumed = false, false
	for _, l := range m.leases {
		l.releaseRead, l.revokeRead, l.gap, l.latest = false, false, l.gapKept, 0
		if lostTail {
			l.gap = 0
		}
		l.cause = m.disk.whole[l.id].cause
		if l.gone() && !l.undead {
			l.cause = lease.ByRelease
		}
	}
}

// kept: what has been marked is on the ledger's medium.
func (m *model) kept() {
	for _, l := range m.leases {
		l.gapKept = l.gap
	}
}
