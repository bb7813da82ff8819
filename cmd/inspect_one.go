package cmd

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// addHistory adds the lease that a word names, with every fact about it: an id, a unique beginning of one, the id
// of a proposal, or a subject. Of a subject it is the leases that are live, else the one granted last. Nothing of
// that name is exit 3.
func (s *survey) addHistory(ctx context.Context, word string, asJSON bool) error {
	r, grants, err := s.readGrants(ctx, false)
	if err != nil {
		return err
	}
	rows := s.allRows(r, grants)
	chosen, err := choose(rows, r, word, asJSON)
	if err != nil {
		return err
	}
	if err := s.addFacts(ctx, r, chosen); err != nil {
		return err
	}
	s.doc.Leases = chosen
	return nil
}

// allRows are all leases that are known of, the ended ones first, each kind in order of its grants.
func (s *survey) allRows(r *historyReader, grants []string) []leaseRow {
	var rows []leaseRow
	for _, id := range grants {
		if row, _ := s.grantedRow(r.grants[id]); row.Lease != "" {
			rows = append(rows, row)
		}
	}
	if s.view != nil {
		for _, row := range s.view.Rows() {
			rows = append(rows, s.liveRow(row))
		}
	}
	return rows
}

// choose finds the rows that a word names.
func choose(rows []leaseRow, r *historyReader, word string, asJSON bool) ([]leaseRow, error) {
	subject, err := readSubject(word, asJSON)
	if err != nil {
		return nil, err
	}
	if !asJSON {
		if found := filterRows(rows, func(row leaseRow) bool { return row.Lease == word }); len(found) > 0 {
			return found, nil
		}
	}
	if found := filterRows(rows, func(row leaseRow) bool { return row.Subject.Text() == subject.Text() }); len(found) > 0 {
		return liveOrLast(found), nil
	}
	if asJSON {
		return nil, fail(exitNothingHeld, "daolease inspect --all shows every lease that is known of", "no lease on %s is known of", wordText(word))
	}
	found := filterRows(rows, func(row leaseRow) bool { return strings.HasPrefix(row.Lease, word) })
	switch len(found) {
	case 1:
		return found, nil
	case 0:
		return byProposal(rows, r, word)
	}
	ids := make([]string, len(found))
	for i, row := range found {
		ids[i] = row.Lease
	}
	return nil, severalBegin(word, ids)
}

// byProposal finds the lease that answers a proposal.
func byProposal(rows []leaseRow, r *historyReader, id string) ([]leaseRow, error) {
	found := filterRows(rows, func(row leaseRow) bool {
		g := r.grants[row.Lease]
		return g != nil && g.Proposal == id
	})
	if len(found) == 0 {
		return nil, fail(exitNothingHeld, "daolease inspect --all shows every lease that is known of; --proposals what waits for an answer",
			"no lease and no subject %s is known of", wordText(id))
	}
	return found, nil
}

func filterRows(rows []leaseRow, keep func(leaseRow) bool) []leaseRow {
	return slices.DeleteFunc(slices.Clone(rows), func(row leaseRow) bool { return !keep(row) })
}

// liveOrLast leaves of the leases on one subject those that have not ended, else the last one.
func liveOrLast(rows []leaseRow) []leaseRow {
	live := filterRows(rows, func(row leaseRow) bool { return row.State != stateLapsed && row.Why == "" || row.Evidence != "" })
	if len(live) > 0 {
		return live
	}
	return rows[len(rows)-1:]
}

// addFacts reads all media once more, for every fact about these leases.
func (s *survey) addFacts(ctx context.Context, known *historyReader, rows []leaseRow) error {
	type wanted struct {
		leases    map[string]bool
		proposals map[proposalOf]bool
	}
	want := make([]wanted, len(rows))
	for i, row := range rows {
		want[i] = wanted{map[string]bool{row.Lease: true}, map[proposalOf]bool{}}
		if g := known.grants[row.Lease]; g != nil && g.Proposal != "" {
			want[i].proposals[proposalOf{g.Holder, g.Proposal}] = true
		}
		rows[i].Facts = []historyLine{}
	}
	r, err := newHistoryReader(s.comp, func(_ *historyMedium, l historyLine) error {
		for i := range rows {
			if l.about(want[i].leases, want[i].proposals) {
				rows[i].Facts = append(rows[i].Facts, l.kept())
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		r.known[row.Lease] = row.Holder
	}
	if err := r.addHolders(func(string) bool { return true }); err != nil {
		return err
	}
	return r.round(ctx)
}

// kept is a line that outlives the read that it came from.
func (l historyLine) kept() historyLine {
	l.Fact, l.text = bytes.Clone(l.Fact), nil
	return l
}

// leastRun is how many renewals in a row are shown as one.
const leastRun = 4

// factRows are facts for people, with long runs of renewals that differ in nothing but their positions in one row.
func factRows(facts []historyLine) [][]string {
	var rows [][]string
	for len(facts) > 0 {
		first, run := &facts[0], 1
		for run < len(facts) && first.likeRenewal(&facts[run]) {
			run++
		}
		if run < leastRun {
			rows, facts = append(rows, []string{first.Medium, first.position(), first.author(), first.Kind, first.Brief, first.verdictText()}), facts[1:]
			continue
		}
		verdict := first.verdictText()
		if first.Counts {
			verdict = "all count"
		}
		rows = append(rows, []string{
			first.Medium, first.position() + " to " + facts[run-1].position(), first.author(), first.Kind, counted(run, "renewal") + " of " + first.Brief, verdict,
		})
		facts = facts[run:]
	}
	return rows
}

// likeRenewal says that a line is a renewal, and another one of the same lease by the same author on the same
// medium that is judged alike.
func (l *historyLine) likeRenewal(next *historyLine) bool {
	return l.fact.Kind == lease.Renewal && next.fact.Kind == lease.Renewal && l.Medium == next.Medium && l.author() == next.author() &&
		l.Brief == next.Brief && l.Verdict == next.Verdict && l.Why == next.Why
}

// leaseText is a lease in a few lines, for people.
func (s *survey) leaseText(row *leaseRow) []string {
	lines := []string{
		"lease     " + row.Lease,
		"subject   " + subjectText(row.Subject),
		"holder    " + row.Holder,
		"state     " + rowState(row) + briefWords(": ", row.Why),
		"terms     " + termsText(row),
	}
	if row.Left != nil {
		lines = append(lines, "left      "+s.leftText(row))
	}
	if row.Last != nil || row.Unread != nil {
		lines = append(lines,
			"observed  "+s.observedText(row)+", evidence "+s.evidenceText(row),
			"since     "+s.startText(row)+briefWords(", unwatched ", s.spanText(row.Unwatched)))
	}
	if text := reclaimText(row); text != "" {
		lines = append(lines, "reclaim   "+text)
	}
	return lines
}

// observedText is when a lease was heard of last.
func (s *survey) observedText(row *leaseRow) string {
	if row.Unread == nil {
		return s.lastText(row)
	}
	if s.unread[row.Lease].renewal {
		return "renewed" + s.unreadWords(*row.Unread)
	}
	return "granted" + s.unreadWords(*row.Unread)
}

// reclaimText is how taking it back goes, or went; empty where there is nothing to say.
func reclaimText(row *leaseRow) string {
	var parts []string
	if row.ByHand {
		parts = append(parts, "taken back by hand")
	}
	if row.Attempts > 0 || row.Error != "" {
		parts = append(parts, counted(row.Attempts, "attempt")+briefWords(", the last error: ", row.Error))
	}
	return strings.Join(parts, "; ")
}

func termsText(row *leaseRow) string {
	text := row.Duration.String()
	if row.Max != nil {
		text += ", max " + row.Max.String()
	}
	if row.Token != nil {
		text += fmt.Sprintf(", token %d", *row.Token)
	}
	return text
}

// spanText is a span for people, empty where there is none.
func (s *survey) spanText(d *lease.Duration) string {
	if d == nil || d.N == 0 {
		return ""
	}
	return formatAge(s.span(*d))
}
