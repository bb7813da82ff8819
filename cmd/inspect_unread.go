package cmd

import (
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// notRead is what the media have of a lease that no judge has read yet. A view stamps it with its own reading, as the
// next pass will with its own; when it came nobody knows but that it was after the ledger was last written.
type notRead struct{ grant, renewal, gap bool }

// noteUnread notes what the view has read beyond the ledger.
func (s *survey) noteUnread() {
	s.unread = map[string]notRead{}
	for _, id := range s.report.Granted {
		s.unread[id] = notRead{grant: true}
	}
	for _, id := range s.report.Renewed {
		u := s.unread[id]
		u.renewal = true
		s.unread[id] = u
	}
	for _, id := range s.report.Unknown {
		u := s.unread[id]
		u.gap = true
		s.unread[id] = u
	}
}

// hideUnread takes back from a row the readings at which nothing was read but by this view. What is left until it can
// lapse stays: whichever judge reads it will count from its own reading, which is no earlier.
func (s *survey) hideUnread(row *leaseRow) {
	u := s.unread[row.Lease]
	if u.gap {
		row.Resumed, row.ResumedAgo = nil, nil
	}
	if !u.grant && !u.renewal {
		return
	}
	row.Last, row.LastAgo, row.Unread = nil, nil, s.reading(s.asOf)
	if u.grant {
		row.Start, row.StartAgo, row.StartTime = nil, nil, ""
	}
}

// withinText is how long ago, at the most, something came that no judge has read yet.
func (s *survey) withinText(row *leaseRow) string {
	if s.asOf == 0 || s.now == 0 {
		return "" // the ledger says no reading
	}
	return "within " + formatAge(s.comp.Config.span(max(0, s.now-s.count(*row.Unread))))
}

// unreadWords says from when on something came that no judge has read yet.
func (s *survey) unreadWords(since lease.Duration) string {
	text := ""
	if n := s.count(since); n > 0 {
		text = " at or after " + strings.TrimPrefix(s.when(n), "at ")
	}
	return text + ", which no judge has read yet"
}
