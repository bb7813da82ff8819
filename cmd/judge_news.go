package cmd

import (
	"context"
	"maps"
	"slices"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// urgency is how soon a pass is worth while for what woke the judge.
type urgency int

const (
	nothingNew urgency = iota // it was the judge's own doing
	noHurry                   // renewals, as far as can be told
	urgent
)

// news says how urgent what woke the judge is. In a crowd, where holders renew all the time, passes for each of them
// would cost more than all else.
func (h *hall) news(ctx context.Context, j *judge.Judge, crowd bool) urgency {
	h.mu.Lock()
	listed, heard := h.stale, len(h.heard) > 0
	stranger := slices.ContainsFunc(slices.Collect(maps.Keys(h.heard)), func(name string) bool { return !j.Holds(name) })
	h.mu.Unlock()
	switch {
	case listed, stranger, heard && !crowd, h.grantorNews(ctx, j):
		return urgent
	case heard:
		return noHurry
	}
	return nothingNew
}

// grantorNews says that others have written in grantor/: a pass that grants or records changes the grantor's stream
// itself.
func (h *hall) grantorNews(ctx context.Context, j *judge.Judge) bool {
	stats := h.grantorFacts() // before the look at what follows, which then covers them
	if !h.grantorChanged(stats) {
		return false
	}
	for name, m := range h.grantorMedia {
		unread := false
		answer := m.Read(ctx, j.CursorOf(name), stream.Budget{Values: 1}, func(stream.Value) bool {
			unread = true
			return false
		})
		if unread || answer.State != stream.Blocked {
			return true
		}
	}
	h.mu.Lock()
	h.grantor = stats
	h.mu.Unlock()
	return false
}
