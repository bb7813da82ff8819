package judge

// stall is an interval between two completed passes that was longer than the cadence: the judge did not
// watch. It is noted once, and what each lease is owed for it follows from its duration (SPEC 6, Unwatched
// time).
type stall struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// maxStalls bounds how many stalls are kept apart. Beyond it the two oldest become one, which can only
// lengthen what is owed.
const maxStalls = 4096

// watchedUntil is the reading of the last completed pass. Where none is known, because passes were aborted or
// what was noted of them is lost, nothing was watched since the oldest lease was entered. False: there is
// nothing to watch yet.
func (l *ledger) watchedUntil() (int64, bool) {
	if l.watched {
		return l.completed, true
	}
	oldest, any := int64(0), false
	for e := range l.all() {
		if !any || e.TenureStart < oldest {
			oldest, any = e.TenureStart, true
		}
	}
	return oldest, any
}

// noteStall notes that nothing was watched between two readings. One that begins before the last one's end goes
// on with it: the pass that noted that was not completed.
func (l *ledger) noteStall(s stall) {
	if n := len(l.stalls); n > 0 && l.stalls[n-1].To > s.From {
		last := &l.stalls[n-1]
		last.From, last.To = min(last.From, s.From), max(last.To, s.To)
		return
	}
	l.stalls = append(l.stalls, s)
	if len(l.stalls) > maxStalls {
		l.stalls[1].From = l.stalls[0].From
		l.stalls = append(l.stalls[:0], l.stalls[1:]...)
	}
}

// unwatched is what a lease of this duration is owed for the stalls after a reading: of each, what is more
// than the larger of the cadence and half the duration.
func (l *ledger) unwatched(since, duration int64) int64 {
	counted := max(l.cadence, (duration+1)/2)
	owed := int64(0)
	for i := len(l.stalls) - 1; i >= 0 && l.stalls[i].To > since; i-- {
		length := l.stalls[i].To - max(l.stalls[i].From, since)
		owed += max(0, length-counted)
	}
	return owed
}

// forgetStalls drops the stalls that are older than everything that could be owed for them.
func (l *ledger) forgetStalls() {
	if len(l.stalls) == 0 {
		return
	}
	oldest := l.now
	for e := range l.all() {
		oldest = min(oldest, e.LastObservation)
	}
	keep := 0
	for keep < len(l.stalls) && l.stalls[keep].To <= oldest {
		keep++
	}
	l.stalls = append(l.stalls[:0], l.stalls[keep:]...)
}
