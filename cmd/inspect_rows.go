package cmd

import (
	"context"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// eachLease hands out the leases that are live, and with all those that have ended and still stand on the
// grantor's stream, as far as the filter lets them through.
func (s *survey) eachLease(ctx context.Context, o *inspectOptions, take func(leaseRow) error) error {
	pass := func(row leaseRow) error {
		if !o.filter.admits(&row) {
			return nil
		}
		return take(row)
	}
	if s.view != nil {
		for row := range s.view.EachRow() {
			if err := pass(s.liveRow(row)); err != nil {
				return err
			}
		}
	}
	if s.view != nil && !o.all && o.filter.state != stateLapsed {
		return s.countOpen(ctx, nil)
	}
	r, grants, err := s.readGrants(ctx, s.view == nil)
	if err != nil {
		return err
	}
	for _, id := range grants {
		row, wanted := s.grantedRow(r.grants[id])
		if wanted || (o.all || o.filter.state == stateLapsed) && row.Lease != "" {
			if err := pass(row); err != nil {
				return err
			}
		}
	}
	return s.countOpen(ctx, r)
}

// countOpen counts the proposals that wait for an answer. Those that the judge is to answer, its ledger has; the
// media are read where others may wait. Without a ledger r has read them all.
func (s *survey) countOpen(ctx context.Context, r *historyReader) error {
	if s.view == nil {
		open := len(r.open())
		s.doc.Open = &open
		return nil
	}
	byHand := false
	for i := range s.comp.Config.Subjects {
		byHand = byHand || s.comp.Config.Subjects[i].Answer != "auto"
	}
	open := 0
	if byHand {
		if err := s.addProposals(ctx); err != nil {
			return err
		}
		open, s.doc.Proposals = len(*s.doc.Proposals), nil
	} else {
		open = len(s.view.Proposals())
	}
	s.doc.Open = &open
	return nil
}

// readGrants reads the grantor's stream, and with holders the holders' media, and answers the ids of all grants
// that count, in their order.
func (s *survey) readGrants(ctx context.Context, holders bool) (*historyReader, []string, error) {
	var ids []string
	r, err := newHistoryReader(s.comp, func(_ *historyMedium, l historyLine) error {
		switch {
		case l.Counts && l.fact.Kind == lease.Grant:
			ids = append(ids, l.fact.Lease)
		case l.Verdict == lineGap:
			s.warn("%s: %s", l.Medium, l.Why)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if holders {
		if err := r.addHolders(func(string) bool { return true }); err != nil {
			return nil, nil, err
		}
	}
	return r, ids, r.round(ctx)
}

// liveRow is a lease of the ledger.
func (s *survey) liveRow(r judge.Row) leaseRow {
	row := leaseRow{
		Lease: r.Lease, Subject: r.Subject, Holder: r.Holder, State: stateLive, Duration: r.Duration, Max: r.Max,
		Token: r.Token, Evidence: r.Evidence, Released: r.Released, Reclaimed: r.Reclaim.OK, ByHand: s.revoked[r.Lease].Reclaimed,
		Attempts: r.Reclaim.Attempts, Error: r.Reclaim.Error,
		Start: s.shown(r.TenureStart), Last: s.shown(r.LastObservation), Unwatched: s.shown(r.Unwatched),
		LastAgo: s.since(r.LastObservation), StartAgo: s.since(r.TenureStart),
	}
	if !s.lean {
		row.StartTime = s.timeAt(r.TenureStart)
	}
	if r.Resumed != nil {
		row.Resumed, row.ResumedAgo = s.shown(*r.Resumed), s.since(*r.Resumed)
	}
	s.countSlots(&row)
	d, concluded := s.due[r.Lease]
	switch {
	case r.Reclaim.State == statePending:
		row.State, row.Cause, row.Why = statePending, r.Reclaim.Cause, d.Why
	case concluded:
		row.Due, row.Cause, row.Why = true, d.Cause, d.Why
	case s.now > 0:
		s.countLeft(&row, r)
	}
	s.hideUnread(&row)
	return row
}

// countLeft counts how long until a live lease can lapse at the earliest, and by which cause that would be. What
// passes unwatched from here on only makes it later.
func (s *survey) countLeft(row *leaseRow, r judge.Row) {
	k := s.comp.Config
	count := func(d lease.Duration) int64 {
		n, _ := k.Units.Count(d) // the ledger holds none that cannot be counted
		return n
	}
	at := count(r.LastObservation) + count(r.Duration) + k.baseUp(k.Tolerance) + count(r.Unwatched)
	unread := s.unread[row.Lease]
	row.fromNext = unread.grant || unread.renewal
	if r.Resumed != nil {
		if known := count(*r.Resumed) + count(r.Duration); known > at {
			at, row.fromNext = known, unread.gap
		}
	}
	row.LeftBy = lease.BySilence
	if r.Max != nil {
		if limit := count(r.TenureStart) + count(*r.Max); limit < at {
			at, row.LeftBy, row.fromNext = limit, lease.ByCap, unread.grant
		}
	}
	row.Left = s.reading(max(0, at-s.now))
}

// grantedRow is a lease as its grant says. It is wanted where only the media speak and they show no end of it.
// A lease that the ledger has was shown already: the answer is then the zero row.
func (s *survey) grantedRow(g *grantedLease) (row leaseRow, wanted bool) {
	if s.view != nil {
		if _, live := s.view.Row(g.Lease); live {
			return leaseRow{}, false
		}
	}
	row = leaseRow{Lease: g.Lease, Subject: g.Subject, Holder: g.Holder, State: stateGranted, Duration: g.Duration, Released: g.released}
	if !g.Max.IsZero() {
		row.Max = &g.Max
	}
	if g.Token > 0 {
		row.Token = &g.Token
	}
	switch {
	case g.lapsed != nil:
		row.State, row.Cause, row.Why = stateLapsed, g.lapsed.Cause, g.lapsed.Reason
		row.Released, row.ByHand = g.released || row.Cause == lease.ByRelease, s.revoked.tookBack(g.lapsed)
		return row, false
	case s.view != nil:
		row.Why = "the judge's ledger does not have it, and its end is not recorded"
		return row, false
	case g.released:
		row.State = stateReleased
	}
	return row, true
}

// shown is a reading or span in the unit that fits.
func (s *survey) shown(d lease.Duration) *lease.Duration {
	n, err := s.comp.Config.Units.Count(d)
	if err != nil {
		return &d
	}
	return s.reading(n)
}

// since is how long ago a reading was, nil where time has not begun.
func (s *survey) since(d lease.Duration) *lease.Duration {
	n, err := s.comp.Config.Units.Count(d)
	if err != nil || s.now == 0 {
		return nil
	}
	return s.reading(max(0, s.now-n))
}

// timeAt is about what time of day it was at a reading; empty where nobody noted any.
func (s *survey) timeAt(d lease.Duration) string {
	n, err := s.comp.Config.Units.Count(d)
	if err != nil || s.wall == nil {
		return ""
	}
	return s.wall.about(n)
}

// span is a duration of the table as a span of time.
func (s *survey) span(d lease.Duration) time.Duration {
	n, err := s.comp.Config.Units.Count(d)
	if err != nil {
		return 0
	}
	return s.comp.Config.span(n)
}

// addProposals adds the proposals to which neither the media nor the ledger show an answer. Those that the judge
// is to answer may be known to it alone, where their medium no longer retains them.
func (s *survey) addProposals(ctx context.Context) error {
	r, _, err := s.readGrants(ctx, true)
	if err != nil {
		return err
	}
	rows := []proposalRow{}
	seen := map[proposalOf]bool{}
	add := func(holder, id string, subject lease.Subject, ask lease.Duration, note string) {
		key := proposalOf{holder, id}
		if seen[key] || s.view != nil && s.view.Answered(holder, id) {
			return
		}
		seen[key] = true
		row := proposalRow{Proposal: id, Holder: holder, Subject: subject, Answer: s.answerer(subject), Note: note}
		if !ask.IsZero() {
			row.Ask = &ask
		}
		rows = append(rows, row)
	}
	for _, a := range r.open() {
		add(a.Holder, a.Proposal, a.Subject, a.Duration, a.Note)
	}
	if s.view != nil {
		for _, q := range s.view.Proposals() {
			add(q.Holder, q.Proposal, q.Subject, q.Ask, "")
		}
	}
	s.doc.Proposals = &rows
	return nil
}

// answerer is who answers a proposal on a subject.
func (s *survey) answerer(subject lease.Subject) string {
	entry, found := s.comp.Config.rule(subject)
	if !found {
		return "none"
	}
	return entry.Answer
}
