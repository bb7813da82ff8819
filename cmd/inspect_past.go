package cmd

import (
	"context"
	"fmt"
	"math"

	"github.com/daolease/daolease/pkg/judge"
)

// lookBack is a composition as its judge's ledger stood at a reading: after the last pass at or before it. The
// ledger's own stream tells it, as far back as its last compaction.
func (c *Composition) lookBack(ctx context.Context, o *inspectOptions) (*survey, error) {
	reading, err := c.readReading(o.at)
	if err != nil {
		return nil, c.noReading(ctx, err)
	}
	at, err := c.Config.Units.Count(reading)
	if err != nil {
		return nil, c.noReading(ctx, err)
	}
	s := &survey{comp: c, due: map[string]judge.Conclusion{}}
	s.doc = inspection{Composition: c.Dir, Source: fromLedger, Leases: []leaseRow{}, Warnings: []string{}, Note: inspectNote}
	s.readWall(ctx)
	p, err := c.findPast(ctx, at)
	if err != nil {
		return nil, err
	}
	if p.groups == 0 {
		return nil, s.noPast(p, at)
	}
	s.sayFuture(ctx, p, at)
	s.past, s.now = p.rows, p.now
	s.doc.AsOf, s.doc.Now, s.doc.Oldest, s.doc.Pass = s.reading(p.now), s.reading(p.now), s.reading(p.oldest), p.pass
	s.doc.Conclusion = fmt.Sprintf("the judge's ledger as it stood after pass %d of incarnation %d, at reading %s; it goes back to reading %s",
		p.pass, p.incarnation, s.text(p.now), s.text(p.oldest))
	for _, row := range p.rows {
		if shown := s.liveRow(row); o.filter.admits(&shown) {
			s.doc.Leases = append(s.doc.Leases, shown)
		}
	}
	s.filtered = o.filter.narrows()
	o.filter.order(s, s.doc.Leases)
	s.doc.Judge = s.judgeState(ctx)
	return s, nil
}

// noReading is that --at is no reading (exit 2), with those that can be asked for.
func (c *Composition) noReading(ctx context.Context, wrong error) error {
	p, err := c.findPast(ctx, math.MaxInt64)
	if err != nil {
		return err
	}
	if p.groups == 0 {
		return usagef(noJudgeRemedy, "--at: %w; no judge has passed here yet, so there is no past to show", wrong)
	}
	span := func(n int64) string { return formatSpan(c.Config.span(n)) }
	return usagef("daolease inspect --at "+span(p.now), "--at: %w; the ledger goes from reading %s to %s", wrong, span(p.oldest), span(p.now))
}

// sayFuture says that a reading is still to come: what is shown is the newest, and not what will be.
func (s *survey) sayFuture(ctx context.Context, p pastPoint, at int64) {
	a, err := s.comp.judgeAdapter()
	if err != nil {
		return
	}
	now, err := a.peek(ctx, p.now)
	if err != nil || at <= now {
		return
	}
	k := s.comp.Config
	s.comp.app.say("reading %s is still to come, it is %s now: this is the newest that the ledger has", formatSpan(k.span(at)), s.text(now))
}

// pastPoint is the ledger after one group of its stream, and how far that goes back.
type pastPoint struct {
	groups      int // how many lie at or before the reading asked for
	oldest, now int64
	pass        uint64
	incarnation uint64
	rows        []judge.Row
	any         bool
}

// findPast finds the group that ended the last pass at or before a reading. Rows are made once, on a second way
// through the stream.
func (c *Composition) findPast(ctx context.Context, at int64) (p pastPoint, err error) {
	n := 0
	var ended passEnds
	err = c.ownPast(ctx, func(m *judge.Moment) bool {
		n++
		reading, is := ended.reading(m)
		switch {
		case !is:
			return ctx.Err() == nil
		case !p.any:
			p.any, p.oldest = true, reading
		}
		p.oldest = min(p.oldest, reading)
		if reading <= at {
			p.groups = n
		}
		return m.Completed <= at && ctx.Err() == nil
	})
	if err != nil || ctx.Err() != nil || !p.any || p.oldest > at {
		p.groups = 0
		return p, err
	}
	n = 0
	err = c.ownPast(ctx, func(m *judge.Moment) bool {
		if n++; n == p.groups {
			p.now, p.pass, p.incarnation, p.rows = m.Now, m.Pass, m.Incarnation, m.Rows()
		}
		return n < p.groups
	})
	return p, err
}

// passEnds tells the groups in which passes end from those within and between them.
type passEnds struct {
	pass      uint64 // the last that was completed
	completed int64
}

// reading is that of the pass which a group ends, as the pass's own report has it: what it observed is stamped
// later. A pass that was not completed ends with each of its groups, until another follows. False: it was
// completed before, or there was no tick yet, when nothing was live.
func (e *passEnds) reading(m *judge.Moment) (int64, bool) {
	switch {
	case m.Now == 0:
		return 0, false
	case m.Completed != e.completed:
		e.pass, e.completed = m.Pass, m.Completed
		return m.Completed, true
	}
	return m.Now, m.Pass != e.pass
}

// noPast is that the ledger does not reach back as far (exit 3).
func (s *survey) noPast(p pastPoint, at int64) error {
	if !p.any {
		return fail(exitNothingHeld, noJudgeRemedy, "no judge has passed here yet, so there is no past to show")
	}
	return fail(exitNothingHeld, fmt.Sprintf("daolease inspect --at %s, or later", formatSpan(s.comp.Config.span(p.oldest))),
		"the ledger goes back to reading %s, where it began or was last compacted; %s is before that", s.text(p.oldest), formatSpan(s.comp.Config.span(at)))
}
