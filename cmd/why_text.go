package cmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// whyText tells of one lease in a line. The story is nil where only the media speak, or where the ledger was
// compacted since; others are the leases on the same subject that have not ended.
func (s *survey) whyText(row leaseRow, story *tenure, others []leaseRow) string {
	var parts []string
	switch {
	case row.State == stateLapsed:
		parts = []string{s.lostText(row, story), s.evidenceWords(row, story), s.hookWords(row, story), s.holdersNow(others)}
	case row.State == statePending:
		parts = []string{s.losingText(row, story), s.evidenceWords(row, story), s.hookWords(row, story), alsoHeld(others)}
	case row.Due:
		parts = []string{
			fmt.Sprintf("%s loses %s (lease %s) at the judge's next pass, by %s", row.Holder, subjectText(row.Subject), row.Lease, row.Cause) + briefWords(": ", row.Why),
			s.evidenceWords(row, story), s.doc.Judge.Text, alsoHeld(others),
		}
	case row.State == stateLive:
		parts = []string{s.holdsText(row), s.evidenceWords(row, story), "it can lapse in " + s.leftText(&row), alsoHeld(others)}
	default:
		parts = []string{s.grantedText(row), alsoHeld(others)}
	}
	if !row.Due {
		parts = append(parts, s.noJudgeWords())
	}
	kept := parts[:0]
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "; ")
}

// noJudgeWords says that no judge passes, where that can be told: then nothing is taken back.
func (s *survey) noJudgeWords() string {
	if passing := s.doc.Judge.Passing; passing == nil || *passing {
		return ""
	}
	return s.doc.Judge.Text + ": nothing is granted or taken back until one does"
}

// lostText is who lost what, when, and by which cause.
func (s *survey) lostText(row leaseRow, story *tenure) string {
	when := ""
	if story != nil && story.Pending > 0 {
		when = " " + s.when(story.Pending)
	}
	text := fmt.Sprintf("%s lost %s%s by %s (lease %s)", row.Holder, subjectText(row.Subject), when, row.Cause, row.Lease)
	if row.Cause == lease.ByRelease {
		text = fmt.Sprintf("%s gave %s back%s (lease %s)", row.Holder, subjectText(row.Subject), when, row.Lease)
	}
	return text + s.causeWords(row, story)
}

// losingText is a lease that is concluded and not taken back yet.
func (s *survey) losingText(row leaseRow, story *tenure) string {
	when := ""
	if story != nil && story.Pending > 0 {
		when = " " + s.sinceWhen(story.Pending)
	}
	return fmt.Sprintf("%s is losing %s by %s%s (lease %s)", row.Holder, subjectText(row.Subject), row.Cause, when, row.Lease) + s.causeWords(row, story)
}

// causeWords says what made the cause hold, where more is to be said than the evidence.
func (s *survey) causeWords(row leaseRow, story *tenure) string {
	switch {
	case row.Cause == lease.ByCap && row.Max != nil:
		return fmt.Sprintf(": held for longer than %v", row.Max)
	case row.Cause == lease.ByPolicy && story != nil && story.Reason != "":
		return ": " + story.Reason
	case row.State == stateLapsed && !row.ByHand:
		return briefWords(": ", row.Why)
	}
	return ""
}

func (s *survey) holdsText(row leaseRow) string {
	text := fmt.Sprintf("%s holds %s", row.Holder, subjectText(row.Subject))
	if row.Start != nil {
		text += " " + s.sinceWhen(s.count(*row.Start))
	}
	return text + fmt.Sprintf(" (lease %s%s)", row.Lease, tokenWords(row))
}

func tokenWords(row leaseRow) string {
	if row.Token == nil {
		return ""
	}
	return fmt.Sprintf(", token %d", *row.Token)
}

// grantedText is a lease of which no ledger tells.
func (s *survey) grantedText(row leaseRow) string {
	text := fmt.Sprintf("%s was granted %s (lease %s%s)", row.Holder, subjectText(row.Subject), row.Lease, tokenWords(row))
	switch {
	case s.view != nil:
		return text + "; " + row.Why
	case row.State == stateReleased:
		text += " and has released it"
	}
	return text + "; whether it is still held, only the judge's ledger says"
}

// evidenceWords is the last evidence that the holder lived, and how good it was.
func (s *survey) evidenceWords(row leaseRow, story *tenure) string {
	last, kind := row.Last, row.Evidence
	if last == nil && story != nil {
		last, kind = &story.Row.LastObservation, cmp.Or(kind, story.Row.Evidence)
	}
	if last == nil && row.Unread == nil {
		return "when, and on what last evidence, is no longer in the judge's ledger, or is for its eyes only"
	}
	text := s.heardText(row, story, last)
	if story != nil && story.Released > 0 {
		text += ", released " + s.when(story.Released)
	}
	if kind == evidenceUnknown {
		text += ", evidence unknown"
		if n := lastDoubt(story); n > 0 {
			text += " " + s.sinceWhen(n)
		}
	}
	return text
}

// heardText is when the holder was heard of last, or that no judge has read that yet.
func (s *survey) heardText(row leaseRow, story *tenure, last *lease.Duration) string {
	never := last != nil && story != nil && len(story.Renewals) == 0 && s.count(*last) == story.Start
	switch {
	case row.Unread != nil && !s.unread[row.Lease].renewal:
		return "granted" + s.unreadWords(*row.Unread)
	case row.Unread != nil && (last == nil || never):
		return "renewed" + s.unreadWords(*row.Unread)
	case row.Unread != nil:
		return "last renewed " + s.whenOf(*last) + ", and again" + s.unreadWords(*row.Unread)
	case never && row.State == stateLive && !row.Due:
		return "not renewed yet"
	case never:
		return "granted " + s.whenOf(*last) + " and never renewed"
	}
	return "last renewed " + s.whenOf(*last)
}

// evidenceUnknown is the evidence of a lease of which something may have been missed.
const evidenceUnknown = "unknown"

// lastDoubt is the reading from which evidence was unknown last; 0 where that is not told.
func lastDoubt(story *tenure) int64 {
	if story == nil || len(story.Doubts) == 0 {
		return 0
	}
	last := story.Doubts[len(story.Doubts)-1]
	if last.To != 0 && last.To != story.Gone {
		return 0 // it was known again; what made it unknown since, no judge has read yet
	}
	return last.From
}

// hookWords is how taking it back went.
func (s *survey) hookWords(row leaseRow, story *tenure) string {
	last := lastTry(row, story)
	pending := row.State == statePending && !row.Reclaimed
	switch {
	case row.ByHand && pending:
		return "it was taken back by hand" + afterFailures(last) + briefWords(": ", s.revoked[row.Lease].Reason) + "; the judge's next pass records that"
	case row.ByHand:
		return "it was taken back by hand" + afterFailures(last) + briefWords(": ", s.revoked[row.Lease].Reason)
	case story == nil && row.State == stateLapsed:
		return "" // that it was recorded says that it was taken back
	case !pending && s.needsNoHook(row):
		return "there is no hook to run"
	case pending && last.Count == 0:
		return "its hook has not reported yet, and nobody gets its place before it has succeeded"
	case pending:
		return fmt.Sprintf("its hook has failed %s, last with: %s; nobody gets its place before it has succeeded", times(last.Count), last.Text)
	case last.Count > 1 && story.Revoked > 0 && s.revoked[row.Lease].Lease == "":
		return fmt.Sprintf("it was taken back at attempt %d, by its hook or by hand, which is no longer retained", last.Count)
	case last.Count > 1:
		return fmt.Sprintf("its hook succeeded at attempt %d", last.Count)
	case last.Count == 1:
		return "its hook succeeded"
	}
	return "it was taken back"
}

// lastTry is the last report on taking it back.
func lastTry(row leaseRow, story *tenure) try {
	if story != nil && len(story.Tries) > 0 {
		return story.Tries[len(story.Tries)-1]
	}
	return try{Count: row.Attempts, Text: row.Error}
}

// afterFailures says how often the hook had failed before something else took the lease back.
func afterFailures(last try) string {
	failed := last.Count
	if last.Text == "" {
		failed-- // it reported that nothing was left to do
	}
	if failed <= 0 {
		return ""
	}
	return " after its hook had failed " + times(failed)
}

// needsNoHook says that the configuration takes a subject back without a procedure.
func (s *survey) needsNoHook(row leaseRow) bool {
	rule, found := s.comp.Config.rule(row.Subject)
	return found && len(rule.Reclaim) == 0
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// holdersNow is who has a subject that was lost.
func (s *survey) holdersNow(rows []leaseRow) string {
	switch {
	case len(rows) == 0 && s.view == nil:
		return "the media show no later grant of it that has not ended"
	case len(rows) == 0:
		return "nobody has it now"
	case s.view == nil:
		return names(rows) + verb(rows, " was", " were") + " granted it, and no end of that is recorded, which proves nothing"
	}
	return names(rows) + verb(rows, " has it now", " have it now")
}

// alsoHeld is who else has a subject with several slots.
func alsoHeld(rows []leaseRow) string {
	if len(rows) == 0 {
		return ""
	}
	return names(rows) + verb(rows, " has it too", " have it too")
}

// maxNames is how many holders a line names.
const maxNames = 4

func names(rows []leaseRow) string {
	var list []string
	for i, row := range rows {
		if i == maxNames {
			return strings.Join(list, ", ") + fmt.Sprintf(" and %d more", len(rows)-i)
		}
		list = append(list, fmt.Sprintf("%s (lease %s)", row.Holder, row.Lease))
	}
	return strings.Join(list, ", ")
}

func verb(rows []leaseRow, one, many string) string {
	if len(rows) == 1 {
		return one
	}
	return many
}

// when is a reading for people: the time of day where it was noted, else the reading.
func (s *survey) when(n int64) string {
	if s.wall != nil {
		if about := s.wall.about(n); about != "" {
			return about
		}
	}
	return "at reading " + formatSpan(s.comp.Config.span(n))
}

// sinceWhen is the same as the beginning of a stretch.
func (s *survey) sinceWhen(n int64) string {
	return "since " + strings.TrimPrefix(s.when(n), "at ")
}

func (s *survey) whenOf(d lease.Duration) string { return s.when(s.count(d)) }

// count is a duration of the table in base units.
func (s *survey) count(d lease.Duration) int64 {
	n, _ := s.comp.Config.Units.Count(d) // the ledger holds none that cannot be counted
	return n
}
