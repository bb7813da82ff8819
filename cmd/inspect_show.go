package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// show prints what was found. Tables are for people, and so is what is said about them; of JSON and YAML it is
// part; beside JSON lines it goes to stderr.
func (s *survey) show(o *inspectOptions, one bool) error {
	app := s.comp.app
	var data any = s.doc
	if o.output.form == "jsonl" {
		data = s.doc.Leases
		if s.doc.Proposals != nil {
			data = *s.doc.Proposals
		}
	}
	if o.output.data() {
		text, err := encode(o.output.form, data)
		if err != nil {
			return err
		}
		if o.output.form == "jsonl" {
			_, _ = app.Err.Write(s.words())
		}
		return app.print(text)
	}
	text, err := s.tables(o.output.form == "wide", one)
	if err != nil {
		return err
	}
	return app.print(append(text, s.words()...))
}

// tables draws what was found for people.
func (s *survey) tables(wide, one bool) ([]byte, error) {
	switch {
	case one:
		return s.histories()
	case s.doc.Proposals != nil:
		return orNothing("no proposal waits for an answer", proposalTable(*s.doc.Proposals))
	}
	return orNothing(s.nothing(), s.leaseTable(wide))
}

// nothing says that there is no lease to list.
func (s *survey) nothing() string {
	switch {
	case s.filtered:
		return "no lease is as asked for"
	case s.doc.Source == fromMedia:
		return "the media show no lease that was granted and is not recorded as lapsed"
	}
	return "no lease is live"
}

func orNothing(nothing string, t table) ([]byte, error) {
	text, err := t.render()
	if len(text) == 0 {
		text = []byte(nothing + "\n")
	}
	return append(text, '\n'), err
}

// histories draws leases one after the other, each with the facts about it.
func (s *survey) histories() ([]byte, error) {
	var buf bytes.Buffer
	for i := range s.doc.Leases {
		row := &s.doc.Leases[i]
		for _, line := range s.leaseText(row) {
			buf.WriteString(escape(line) + "\n")
		}
		facts := table{Header: []string{"MEDIUM", "POSITION", "AUTHOR", "KIND", "FACT", "VERDICT"}}
		facts.Rows = factRows(row.Facts)
		text, err := orNothing("no fact about it is retained", facts)
		if err != nil {
			return nil, err
		}
		buf.WriteString("\n")
		buf.Write(text)
	}
	return buf.Bytes(), nil
}

// words says whose conclusion this is, whether a judge passes, and what it does not prove.
func (s *survey) words() []byte {
	var buf bytes.Buffer
	lines := []string{s.doc.Conclusion, s.doc.Judge.Text}
	if s.doc.Open != nil && *s.doc.Open > 0 {
		lines = append(lines, fmt.Sprintf("proposals that wait for an answer: %d (daolease inspect --proposals shows them)", *s.doc.Open))
	}
	for _, line := range append(lines, s.doc.Warnings...) {
		buf.WriteString(oneLine(line) + "\n")
	}
	buf.WriteString(s.doc.Note + "\n")
	return buf.Bytes()
}

func (s *survey) leaseTable(wide bool) table {
	t := table{Header: leaseHeader(wide)}
	for i := range s.doc.Leases {
		t.Rows = append(t.Rows, s.leaseCells(&s.doc.Leases[i], wide))
	}
	return t
}

func leaseHeader(wide bool) []string {
	header := []string{"LEASE", "SUBJECT", "HOLDER", "STATE", "HELD FOR", "CAN LAPSE IN", "EVIDENCE", "LAST HEARD", "ATTEMPTS", "ERROR"}
	if wide {
		header = append(header, "TOKEN", "SLOTS", "SINCE", "DURATION", "MAX", "UNWATCHED")
	}
	return header
}

func (s *survey) leaseCells(row *leaseRow, wide bool) []string {
	held := "-"
	if row.StartAgo != nil {
		held = formatAge(s.span(*row.StartAgo))
	} else if row.Unread != nil {
		held = cmp.Or(s.withinText(row), held) // its grant
	}
	cells := []string{
		row.Lease, subjectText(row.Subject), row.Holder, rowState(row), held, s.leftText(row), s.evidenceText(row), s.lastText(row),
		attemptsText(row), row.Error,
	}
	if wide {
		cells = append(cells, tokenOf(row), slotsText(row), s.startText(row), row.Duration.String(), maxText(row), s.spanText(row.Unwatched))
	}
	return cells
}

// slotsText is how many of a subject's slots are taken.
func slotsText(row *leaseRow) string {
	switch {
	case row.SlotsTaken == nil:
		return "-"
	case row.Slots == nil || *row.Slots == 0:
		return fmt.Sprintf("%d, no limit", *row.SlotsTaken)
	}
	return fmt.Sprintf("%d of %d", *row.SlotsTaken, *row.Slots)
}

// rowState is the state with its cause.
func rowState(row *leaseRow) string {
	switch {
	case row.Due:
		return row.State + ", due: " + string(row.Cause)
	case row.Cause != "" && row.Reclaimed:
		return row.State + ": " + string(row.Cause) + ", taken back"
	case row.Cause != "":
		return row.State + ": " + string(row.Cause)
	}
	return row.State
}

// leftText is how long until a lease can lapse, and by which cause.
func (s *survey) leftText(row *leaseRow) string {
	switch {
	case row.Left != nil:
		text := formatAge(s.span(*row.Left)) + " (" + string(row.LeftBy) + ")"
		if row.fromNext {
			text += " from the next pass"
		}
		return text
	case row.Due || row.State == statePending:
		return "0s"
	case row.State == stateLapsed:
		return "-"
	}
	return "?"
}

func (s *survey) evidenceText(row *leaseRow) string {
	switch {
	case row.Evidence == "":
		return "-"
	case row.Resumed == nil && row.Evidence == evidenceUnknown:
		return "unknown, unread gap"
	case row.Resumed == nil:
		return row.Evidence
	}
	text := "unknown since " + formatAge(s.span(*row.Resumed))
	if ago := s.agoText(row.ResumedAgo); ago != "" {
		text += " (" + ago + ")"
	}
	return text
}

func (s *survey) lastText(row *leaseRow) string {
	if row.Unread != nil {
		return "unread" + briefWords(", ", s.withinText(row))
	}
	return cmp.Or(s.agoText(row.LastAgo), "-")
}

// agoText is how long ago something was; empty where that is not known.
func (s *survey) agoText(d *lease.Duration) string {
	if d == nil {
		return ""
	}
	return formatAge(s.span(*d)) + " ago"
}

func (s *survey) startText(row *leaseRow) string {
	switch {
	case row.Start == nil && row.Unread != nil:
		return "unread"
	case row.Start == nil:
		return "-"
	}
	return formatAge(s.span(*row.Start)) + briefWords(" ", row.StartTime)
}

func attemptsText(row *leaseRow) string {
	if row.Attempts == 0 {
		return ""
	}
	return strconv.Itoa(row.Attempts)
}

func tokenOf(row *leaseRow) string {
	if row.Token == nil {
		return "-"
	}
	return strconv.FormatInt(*row.Token, 10)
}

func maxText(row *leaseRow) string {
	if row.Max == nil {
		return "-"
	}
	return row.Max.String()
}

func proposalTable(rows []proposalRow) table {
	t := table{Header: []string{"PROPOSAL", "HOLDER", "SUBJECT", "ASK", "ANSWER", "NOTE"}}
	for _, row := range rows {
		ask := "-"
		if row.Ask != nil {
			ask = row.Ask.String()
		}
		t.Rows = append(t.Rows, []string{row.Proposal, row.Holder, subjectText(row.Subject), ask, row.Answer, row.Note})
	}
	return t
}

func (l *historyLine) position() string {
	if l.Position == nil {
		return "-"
	}
	return l.Position.String()
}

func (l *historyLine) author() string {
	if l.Author == nil {
		return "-"
	}
	return *l.Author
}

// verdictText is whether a line counts, and if not, why.
func (l *historyLine) verdictText() string {
	switch l.Verdict {
	case lineCounts:
		return lineCounts
	case l.Kind:
		return l.Why
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", l.Verdict, l.Why), ": ")
}
