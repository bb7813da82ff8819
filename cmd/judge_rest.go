package cmd

import (
	"context"
	"math"
	"os"
	"time"

	"github.com/daolease/daolease/pkg/judge"
)

// eventGap is the least time between two passes for events alone: at most 20 a second (SPEC 3).
const eventGap = 50 * time.Millisecond

// calmGap is the same where nothing but renewals has come, which are in no hurry.
const calmGap = 500 * time.Millisecond

// gapFor is the least time from one pass to the next, if that is for news of this urgency.
func (s *sitting) gapFor(news urgency) time.Duration {
	if news == noHurry {
		return max(eventGap, min(calmGap, s.comp.Config.Cadence/2))
	}
	return eventGap
}

// listenGap is the time between two wakings for events.
const listenGap = 40 * time.Millisecond

// listen sets how often events wake the judge. Where holders renew all the time, most of them are for nothing else,
// and are heard by the passes that come anyway.
func (s *sitting) listen(r *judge.Report) {
	if crowded(r) {
		s.hall.watcher.Rest(s.gapFor(noHurry))
	} else {
		s.hall.watcher.Rest(listenGap)
	}
}

// crowded says that a pass has heard renewals, and nothing that is to be answered or acted on.
func crowded(r *judge.Report) bool {
	return len(r.Renewed) > 0 && len(r.Granted)+len(r.Refused)+len(r.Released)+len(r.Reclaims) == 0
}

// rest waits for a reason to pass again; a signal is answered.
func (s *sitting) rest(ctx context.Context, began time.Time, r *judge.Report) (os.Signal, error) {
	s.listen(r)
	next := time.NewTimer(s.until(r))
	defer next.Stop()
	events := s.hall.wake
	var gap <-chan time.Time
	for {
		select {
		case sig := <-s.signals:
			return sig, nil
		case <-next.C:
			return nil, nil
		case <-s.procs.ended:
			if s.comp.Config.Reclaim.Retry.Initial > 0 || s.procs.anySucceeded() {
				return nil, nil
			}
			// What failed is to be tried at every pass: a pass for its sake would be the next one's reason.
		case <-gap:
			return nil, nil
		case <-events:
			news := s.hall.news(ctx, s.judge, crowded(r))
			if news == urgent {
				events = nil // for nothing can be more urgent
			}
			if news == urgent || news == noHurry && gap == nil {
				gap = time.After(s.gapFor(news) - time.Since(began))
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// until is how long the judge may rest if nothing happens.
func (s *sitting) until(r *judge.Report) time.Duration {
	// Twice a cadence there is a pass, and once a cadence one that reads all media.
	cadence := s.comp.Config.Cadence
	rest := cadence / 2
	if all := cadence - time.Duration(s.comp.app.Clock.Running()-s.allAt)*time.Millisecond; all > 0 {
		rest = min(rest, all) // else that pass was to read all, and could not: the next one is in no hurry
	}
	switch {
	case r.Outcome == judge.Cut && s.cameOn():
		return 0
	case r.Outcome == judge.Cut, len(r.Truncated) > 0:
		return min(rest, eventGap)
	case r.Now == nil || s.due == math.MaxInt64 || s.comp.Config.external():
		return rest
	}
	now, err := s.comp.Config.Units.Count(*r.Now)
	if err != nil || s.due <= now || s.still {
		// What was due in that pass and is not gone is barred, or waits for room. An event, the end of a
		// procedure or the next full drain changes that, and time alone does not. Nothing becomes due either
		// while no tick can be appended.
		return rest
	}
	at := s.comp.Config.span(s.due-s.tick) - time.Duration(s.comp.app.Clock.Running()-s.tickAt)*time.Millisecond
	return max(0, min(rest, at))
}

// cameOn says that a pass which was cut has read something of the grantor's stream all the same. One that has
// not would not do better at once.
func (s *sitting) cameOn() bool {
	before := s.cutAt
	s.cutAt = s.judge.CursorOf(mediumGrantor)
	return s.cutAt != before
}
