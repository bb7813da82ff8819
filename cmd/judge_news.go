package cmd

import (
	"bytes"
	"context"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// urgency is how soon a pass is worth while for what woke the judge.
type urgency int

const (
	nothingNew urgency = iota // it was the judge's own doing
	noHurry                   // renewals
	urgent
)

// news says how urgent what woke the judge is. In a crowd, where holders renew all the time, passes for each of them
// would cost more than all else: there a look at what they wrote tells whether it is more than that.
func (h *hall) news(ctx context.Context, j *judge.Judge, crowd bool) urgency {
	holders, listed := h.takeHeard()
	switch {
	case listed, len(holders) > 0 && !crowd, h.grantorNews(ctx, j):
		return urgent
	case len(holders) == 0:
		return nothingNew
	case len(holders) > maxPeeks:
		return noHurry
	}
	for _, name := range holders {
		if !h.onlyRenewals(ctx, j, name) {
			return urgent
		}
	}
	return noHurry
}

// maxPeeks is at how many media a judge that is woken looks: where more have news at once, looking at each costs as
// much as a pass, and none of them waits longer than for the next of the passes that come anyway.
const maxPeeks = 8

// takeHeard takes the holders that were heard of, and whether folders have come or gone.
func (h *hall) takeHeard() (holders []string, listed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.heard {
		holders = append(holders, name)
	}
	clear(h.heard)
	return holders, h.stale
}

// onlyRenewals says that nothing but renewals, and junk, is new on a medium. What looks like a renewal and is none is
// heard a little later.
func (h *hall) onlyRenewals(ctx context.Context, j *judge.Judge, name string) bool {
	m, from := h.set.Get(name), h.peeked[name]
	if from == "" {
		from = j.CursorOf(name)
	}
	if m == nil || from == "" {
		return false
	}
	calm := true
	answer := m.Read(ctx, from, stream.Budget{Values: 64}, func(v stream.Value) bool {
		calm = v.Damage != "" || bytes.Contains(v.Bytes, []byte(`"dao.lease/renewal"`))
		return calm
	})
	if !calm || answer.State != stream.Blocked && answer.State != stream.OK {
		return false
	}
	h.peeked[name] = answer.Cursor
	return true
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
