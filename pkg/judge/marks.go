package judge

// marks are the lists on which a live lease stands, a bit each, so that none lists it twice.
type marks uint32

// marked is live leases that something happened to, in the order in which it did. A lease that has left since is
// still among them.
type marked struct {
	bit  marks
	list []*live
}

// The bits of the lists: what is to be journaled, and what a pass has observed.
const (
	markEntry marks = 1 << iota
	markRenewal
	markUnknown
	markRelease
	markRecord
	markRevoked
	markPending
	markAttempt
	markSucceeded
	markSeenGranted
	markSeenRenewed
	markSeenUnknown
	markSeenReleased
	markOwedGranted
	markOwedRenewed
	markOwedUnknown
)

func (m *marked) add(e *live) {
	if e.marks&m.bit == 0 {
		e.marks |= m.bit
		m.list = append(m.list, e)
	}
}

// addAll adds what another list has.
func (m *marked) addAll(others marked) {
	for _, e := range others.list {
		m.add(e)
	}
}

// clear empties the list.
func (m *marked) clear() {
	for _, e := range m.list {
		e.marks &^= m.bit
	}
	m.list = nil
}

// idsOf are the ids of the leases, in order and each once: the id of one that has left may have been granted anew.
func (l *ledger) idsOf(m marked) []string {
	ids := make([]string, 0, len(m.list))
	gone := set{}
	for _, e := range m.list {
		if !e.alive {
			gone.add(l.idOf(e))
		}
	}
	given := set{}
	for _, e := range m.list {
		id := l.idOf(e)
		if len(gone) == 0 || !gone.has(id) || given.add(id) {
			ids = append(ids, id)
		}
	}
	return ids
}
