package cmd

import (
	"maps"

	"github.com/daolease/daolease/pkg/judge"
)

// crowd is which holders' folders are not watched, although they could be, because what they write is renewals and
// comes so often that to be woken for it would cost more than all that is read. They are read when a pass reads all
// media, once a cadence, and when the silence of one of their leases is in question (SPEC 3, Watching).
type crowd struct {
	unwatched map[string]struct{}
	since     int64 // running clock, ms: when renewed began to be counted, and what the watcher sees
	renewed   int
}

const (
	// crowdSpan is how long is counted before anything is decided, in milliseconds: to watch a folder anew costs
	// some ten times what an event does.
	crowdSpan = 4000
	// crowdWrites is how many writes a second of those who hold leases are too many.
	crowdWrites = 8
	// crowdRenewed is how many renewals a second are so few that all can be watched again.
	crowdRenewed = 4
)

// ease is called after each pass. It leaves those unwatched who renew too often, and watches those again who hold
// nothing any more, or all when it has become quiet.
func (h *hall) ease(j *judge.Judge, renewed int) {
	c := &h.crowd
	c.renewed += renewed
	now := h.comp.app.Clock.Running()
	span := int(now - c.since)
	if span < crowdSpan {
		return
	}
	h.mu.Lock()
	writes := h.writes
	h.writes = map[string]int{}
	h.mu.Unlock()
	maps.DeleteFunc(writes, func(name string, _ int) bool { return !h.watched[name] || !j.Holds(name) })
	sum := 0
	for _, n := range writes {
		sum += n
	}
	if sum*1000 > crowdWrites*span {
		for name := range writes {
			h.watcher.Remove(h.comp.holderDir(name))
			c.unwatched[name] = struct{}{}
		}
	}
	quiet := c.renewed*1000 < crowdRenewed*span
	for name := range c.unwatched {
		if quiet || !j.Holds(name) {
			delete(c.unwatched, name)
			h.watch(name)
			h.set.Touch(name) // what came before it was watched is not hinted at
		}
	}
	c.since, c.renewed = now, 0
}
