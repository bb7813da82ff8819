package cmd

import (
	"strings"
	"time"

	"github.com/daolease/daolease/pkg/judge"
)

// ration bounds how often a minute something is said that holders bring about: one who cuts a file of theirs
// again and again, or proposes without end. What is left out is counted.
type ration struct {
	until int64 // running clock, ms: when the minute is over
	said  int
	more  int // left out since
}

const (
	rationTime    = time.Minute
	lastingMost   = 2  // lines a minute about one condition: that it begins, and that it ends
	truncatedMost = 16 // lines a minute about media that are not read to their ends
	refusedMost   = 64 // refusals a minute, of all holders together
)

// rationOf is of which ration a lasting condition takes, and how many lines a minute that has. Thousands of media
// can be left unread in turn, pass after pass, so that these share one.
func rationOf(key string) (kind string, most int) {
	if strings.HasPrefix(key, "truncated ") {
		return "media with more to read than one pass may", truncatedMost
	}
	return key, lastingMost
}

// rationed says one line of a kind unless so many were said. The teller is locked.
func (t *teller) rationed(kind string, most int, format string, args ...any) {
	now := t.app.Clock.Running()
	r := t.rations[kind]
	switch {
	case r == nil && len(t.rations) >= maxLasting:
		return
	case r == nil:
		r = &ration{until: now + rationTime.Milliseconds()}
		t.rations[kind] = r
	}
	if r.said >= most {
		r.more++
		return
	}
	r.said++
	t.app.say("judge: "+format, args...)
}

// unsaid says, a minute later, how much was left out.
func (t *teller) unsaid() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.app.Clock.Running()
	for kind, r := range t.rations {
		if now < r.until {
			continue
		}
		delete(t.rations, kind)
		if r.more > 0 {
			t.app.say("judge: %s: said so %s, and %s more in the last minute", kind, times(r.said), times(r.more))
		}
	}
}

// seldom says what is new of a kind, as often as the beginning and the end of a condition.
func (t *teller) seldom(kind, news string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rationed(kind, lastingMost, "%s: %s", kind, news)
}

func (t *teller) refusals(r *judge.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.quiet {
		return
	}
	for _, f := range r.Refusals {
		t.rationed("refused proposals", refusedMost, "refused proposal %s of %s%s", escape(f.Proposal), escape(f.Holder), escape(briefWords(": ", f.Reason)))
	}
}
