package judge

import (
	"context"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// drainTicks is step 1. Where it is cut short, what is observed waits for a later stamp: it may be younger
// than the newest tick that was drained.
func (j *Judge) drainTicks(ctx context.Context) error {
	l := j.ledger
	r := j.newReading(ticksName, ticksName, j.cfg.Ticks)
	r.take = func(_ stream.Value, f lease.Fact) verdict {
		if f.Kind != lease.Tick {
			return verdict{}
		}
		at, err := l.units.Count(f.Reading)
		switch {
		case err != nil:
			return verdict{reason: err.Error()}
		case l.ticked && at < l.now:
			return verdict{reason: fmt.Sprintf("a tick older than %v, which was observed", j.reading(l.now))}
		}
		l.now, l.ticked, j.fresh, j.dirtied = at, true, true, true
		return verdict{}
	}
	for j.read(ctx, r, r.values) {
	}
	if r.err != nil {
		return fmt.Errorf("ticks: %w", r.err)
	}
	if r.cut {
		j.truncate(ticksName)
		j.unstamped = true
	}
	return nil
}

// drainGrantor drains the grantor's own stream, and answers false when that was cut short.
func (j *Judge) drainGrantor(ctx context.Context) bool {
	r := j.newReading(grantorName, grantorName, j.cfg.Facts)
	r.take = func(v stream.Value, f lease.Fact) verdict { return j.grantorFact(ctx, v, f) }
	r.onGap = func() {
		j.ledger.lostGrants, j.dirtied = true, true
		clear(j.own)
	}
	for j.read(ctx, r, r.values) {
	}
	switch {
	case r.err != nil:
		j.grantorFailed = true
		j.fail(fmt.Errorf("the grantor's stream: %w", r.err))
	case r.cut:
		j.grantorCut = true
		j.truncate(grantorName)
	default:
		clear(j.own) // all of them are behind the cursor
	}
	return !r.cut
}

// drainFacts is step 2: the grantor's stream, the policy, the holders' media, and the grantor's stream once
// more for what holders said about leases not known before. False: the pass is cut short.
func (j *Judge) drainFacts(ctx context.Context) bool {
	j.resumeAll()
	if !j.drainGrantor(ctx) {
		return false
	}
	j.drainPolicy(ctx)
	j.drainHolders(ctx)
	if len(j.kept.list) > 0 && !j.grantorFailed {
		if !j.drainGrantor(ctx) {
			return false
		}
		if !j.grantorFailed {
			j.applyKept()
		}
	}
	return true
}

// resumeAll makes all evidence unknown at the first reading after a start that is not threaded.
func (j *Judge) resumeAll() {
	if !j.ledger.resume || !j.fresh {
		return
	}
	j.ledger.resume, j.resumed = false, true
	for e := range j.ledger.all() {
		j.unknow(e)
	}
}

// drainHolders drains the holders' media in turns: owners first, then each owner's media, at most so many
// lines a turn, until all are drained or the pass has read long enough.
func (j *Judge) drainHolders(ctx context.Context) {
	lanes := j.owners.turns(j.toDrain())
	if j.cfg.Draining != nil {
		j.cfg.Draining()
	}
	readings := map[*source]*reading{}
	served := false
	for len(lanes) > 0 {
		rest := lanes[:0]
		for i, lane := range lanes {
			if served && j.cfg.Enough != nil && j.cfg.Enough() {
				j.leaveUnread(append(rest, lanes[i:]...))
				return
			}
			s := lane[0]
			lane = lane[1:]
			if !j.idle(s) {
				if readings[s] == nil {
					readings[s] = j.holderReading(ctx, s)
				}
				if j.read(ctx, readings[s], roundValues) {
					lane = append(lane, s)
				} else {
					j.drainedHolder(s, readings[s])
				}
			}
			served = true
			j.owners.served(s)
			if len(lane) > 0 {
				rest = append(rest, lane)
			}
		}
		lanes = rest
	}
}

// toDrain are the media that this pass is to read: those with hints, those that were not read to their end,
// those whose leases' silence is in question, and once a cadence all.
func (j *Judge) toDrain() []*source {
	l := j.ledger
	all := !j.cfg.Hinted || !j.alledYet || l.now-j.lastAll >= l.cadence-l.cadence/8
	if all {
		j.lastAll, j.alledYet, j.report.All = l.now, true, true
	}
	j.drains++
	var list []*source
	want := func(s *source) {
		if s != nil && s.wanted != j.drains {
			s.wanted = j.drains
			list = append(list, s)
		}
	}
	for _, name := range j.cfg.Media.Fresh(all) {
		want(j.sources[name])
	}
	for name := range j.again {
		want(j.sources[name])
	}
	clear(j.again)
	for _, e := range j.overdue() {
		for _, s := range j.mayCarry(l.heldBy(e)) {
			if !j.cfg.Media.Quiet(s.name) {
				want(s)
			}
		}
	}
	return list
}

// idle says that a medium has nothing new, where that can be told without reading; then it is drained.
func (j *Judge) idle(s *source) bool {
	if s.idler == nil {
		return false
	}
	state, idle := s.idler.Idle(j.ledger.cursors[s.key])
	if idle {
		s.barred, s.ended = "", state == stream.End
		s.drained, s.stale = j.ledger.pass, false
	}
	return idle
}

// leaveUnread notes the media that this pass had no time for.
func (j *Judge) leaveUnread(lanes [][]*source) {
	for _, lane := range lanes {
		for _, s := range lane {
			s.barred = "the pass had read long enough"
			j.again[s.name] = struct{}{}
			j.truncate(s.name)
		}
	}
}

func (j *Judge) holderReading(ctx context.Context, s *source) *reading {
	r := j.newReading(s.name, s.key, s.medium)
	r.take = func(v stream.Value, f lease.Fact) verdict { return j.holderFact(ctx, s, v, f) }
	r.renewal = func(v stream.Value, id []byte) verdict { return j.renewalRead(ctx, s, v, id) }
	r.onGap = func() { j.holderGap(s) }
	r.onMint = func() { j.carriedBefore(s) }
	r.inherited = s.drained == 0
	return r
}

// drainedHolder notes what a drain of a holder's medium came to.
func (j *Judge) drainedHolder(s *source, r *reading) {
	s.barred, s.ended = "", r.end
	switch {
	case r.drained:
		s.drained, s.stale = j.ledger.pass, false
		return
	case r.cut:
		s.barred = "cut short"
		j.truncate(s.name)
	case r.err != nil:
		s.barred = r.err.Error()
		j.report.Failed = append(j.report.Failed, Failure{Medium: s.name, Error: s.barred})
		if s.mixed {
			j.fail(fmt.Errorf("medium %s: %w", s.name, r.err))
		}
	}
	j.again[s.name] = struct{}{}
}
