package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// survey is a composition as someone sees it who only looks.
type survey struct {
	comp    *Composition
	view    *judge.Judge // nil: the ledger cannot be read, and only the media speak
	private bool         // because it is the judge's user's alone
	report  judge.Report
	due     map[string]judge.Conclusion
	now     int64 // the reading at which what is left is counted; 0: time has not begun
	wall    *wallTimes
	revoked revocations        // what the grantor has decided, where the ledger can be read
	asOf    int64              // the reading at which the ledger was last written
	unread  map[string]notRead // by lease: what stands on the media since
	past    []judge.Row        // with --at: what was live then
	slots   map[string]*int    // how many of a subject's slots are taken, by its text
	lean    bool               // a table without what is only for wide ones
	// filtered: rows were left out of the listing
	filtered bool
	doc      inspection
}

// survey looks at the ledger where it can, and at the media in any case. It writes nothing.
func (c *Composition) survey(ctx context.Context) (*survey, error) {
	s := &survey{comp: c, due: map[string]judge.Conclusion{}}
	s.doc = inspection{
		Composition: c.Dir, Source: fromMedia, Leases: []leaseRow{}, Warnings: []string{}, Note: inspectNote,
	}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	s.readWall(ctx)
	s.doc.Judge = s.judgeState(ctx)
	if passing := s.doc.Judge.Passing; passing != nil && !*passing {
		s.doc.Warnings = slices.DeleteFunc(s.doc.Warnings, func(w string) bool { return w == noJudgeYet }) // it says so itself
	}
	return s, ctx.Err()
}

// readWall takes the notes of time. Without them no time of day is shown, whatever the reason.
func (s *survey) readWall(ctx context.Context) {
	if wall, err := s.comp.wall(); err == nil {
		s.wall, _ = readWall(ctx, s.comp.Config, wall, s.comp.app.Zone)
	}
}

// look takes the view of the ledger, and concludes what a pass now would; or says why it cannot.
func (s *survey) look(ctx context.Context) error {
	view, why, err := s.comp.lookAtLedger(ctx)
	if errors.Is(err, fs.ErrPermission) {
		s.private = true
		err, why = nil, "the judge's ledger is private to its user, so nothing of it is shown"
	}
	if err != nil {
		return err
	}
	if why != "" {
		s.warn("%s", why)
	}
	if view == nil {
		s.doc.Conclusion = "what the media let anyone conclude: who was granted what; whether it is still held, only the judge's ledger says"
		return s.readTime(ctx, 0)
	}
	s.asOf, _ = view.Now()
	if err := s.readTime(ctx, s.asOf); err != nil {
		return err
	}
	s.view, s.doc.Source, s.doc.AsOf = view, fromLedger, s.reading(s.asOf)
	if s.revoked, err = s.comp.readRevocations(ctx); err != nil {
		s.warn("what the grantor has revoked cannot be read: %v", err)
	}
	var list []judge.Conclusion
	s.report, list = view.Conclude(ctx, s.now)
	for _, d := range list {
		s.due[d.Lease] = d
	}
	s.noteUnread()
	if now, ticked := view.Now(); ticked {
		s.now, s.doc.Now = now, s.reading(now)
	}
	s.doc.Conclusion = fmt.Sprintf("the judge's ledger as of reading %s, with what the media have had since", s.text(s.asOf))
	s.warnOfView()
	return nil
}

// warnOfView says what makes a view less than what a judge would see.
func (s *survey) warnOfView() {
	if s.report.Outcome == judge.Aborted {
		s.warn("the media cannot all be read now, so this is older than it could be: %s", s.report.Abort)
	}
	for _, f := range s.report.Failed {
		s.warn("%s cannot be read: %s", f.Medium, f.Error)
	}
	for _, name := range s.report.Gaps {
		s.warn("a gap on %s since the judge read it: %s", name, s.report.Causes[name])
	}
	if s.view.LostGrants() {
		s.warn("the grantor's stream had a gap: nothing is granted until daolease recover")
	}
}

// readTime takes the reading that a tick would have now.
func (s *survey) readTime(ctx context.Context, least int64) error {
	a, err := s.comp.judgeAdapter()
	if err != nil {
		return err
	}
	s.now, err = a.peek(ctx, least)
	switch {
	case errors.Is(err, errNoReading) || err == nil && a.greatest == 0 && least == 0:
		s.now = 0
	case err != nil:
		s.now = least
		s.warn("no reading can be taken, so what is left is counted from the last one: %v", err)
	}
	if s.now > 0 {
		s.doc.Now = s.reading(s.now)
	}
	return nil
}

// noJudgeYet is why there is no ledger where none was ever needed.
const noJudgeYet = "no judge has run here yet"

// lookAtLedger takes a view of the ledger as it stands, wherever it lies. Without a view, why says why there is
// none; with one, what is to be known about it. An error is one of the composition or of the machine, or wraps
// fs.ErrPermission.
func (c *Composition) lookAtLedger(ctx context.Context) (view *judge.Judge, why string, err error) {
	if _, err := os.Stat(c.grantorDir()); errors.Is(err, fs.ErrNotExist) {
		return nil, noJudgeYet, nil
	}
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return nil, "", err
	}
	if view, err = judge.Observe(ctx, cfg); errors.Is(err, judge.ErrPlace) {
		why = "this is not the folder in which the ledger was written: it is shown as it was there"
	}
	if err == nil && view.Began() == judge.Recovered || why != "" {
		// It is of another folder or another boot, which is no reason to show less.
		cfg.Look = true
		view, err = judge.Observe(ctx, cfg)
	}
	switch {
	case errors.Is(err, judge.ErrLost):
		coded := new(exitError)
		errors.As(ledgerError(err), &coded)
		return nil, fmt.Sprintf("%v; %s", err, coded.hint), nil
	case err != nil:
		return nil, "", err
	case view.Began() == judge.First:
		return nil, noJudgeYet, nil
	}
	return view, why, nil
}

func (s *survey) warn(format string, args ...any) {
	s.doc.Warnings = append(s.doc.Warnings, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// reading is a number of base units as the document shows it.
func (s *survey) reading(n int64) *lease.Duration {
	d := s.comp.Config.durationOf(n)
	return &d
}

// text is a reading for people, with the time of day where it was noted.
func (s *survey) text(n int64) string {
	text := formatSpan(s.comp.Config.span(n))
	if s.wall != nil {
		if about := s.wall.about(n); about != "" {
			text += " (" + about + ")"
		}
	}
	return text
}
