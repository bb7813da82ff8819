package cmd

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
)

func newWhyCmd(app *App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "why SUBJECT | LEASE",
		GroupID: groupAnyone,
		Short:   "Say in one line who lost or holds a subject, and why",
		Long: `why says in one line who lost a lease, when, by which cause, on what last evidence, how its hook went, and who has
the subject now; or, where nobody has lost it, who holds it and how long it can be silent. Of a SUBJECT it is the
lease that was lost last.

When and on what evidence, only the judge's ledger says, as far back as its last compaction; whoever cannot read it
is told what the grantor's stream says. Times of day are marked ≈: no conclusion is drawn from them. why changes
nothing.`,
		Example: `  daolease why build                 # who had it, and what became of that
  daolease why "$DAOLEASE_LEASE"     # is it still mine?`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := find(app)
			if err != nil {
				return err
			}
			return c.whileReading(why(cmd.Context(), c, args[0], asJSON))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "SUBJECT is JSON")
	return cmd
}

func why(ctx context.Context, c *Composition, word string, asJSON bool) error {
	s, err := c.survey(ctx)
	if err != nil {
		return err
	}
	r, grants, err := s.readGrants(ctx, s.view == nil)
	if err != nil {
		return err
	}
	rows := s.allRows(r, grants)
	row, others, err := s.whyOf(rows, r, word, asJSON)
	if err != nil {
		return err
	}
	told, err := c.readTenures(ctx, func(one judge.Row) bool { return one.Lease == row.Lease })
	if err != nil && !errors.Is(err, fs.ErrPermission) && codeOf(err) != exitLost {
		return err
	}
	var story *tenure
	if n := len(told.list); n > 0 {
		story = told.list[n-1]
	}
	for _, warning := range s.doc.Warnings {
		c.app.say("%s", warning)
	}
	return c.app.print([]byte(escape(s.whyText(row, story, others)) + "\n"))
}

// whyOf is the lease that a word is about, and the others on its subject that have not ended. Of a subject it is
// the one that was lost last, else the one that is held.
func (s *survey) whyOf(rows []leaseRow, r *historyReader, word string, asJSON bool) (row leaseRow, others []leaseRow, err error) {
	found, err := choose(rows, r, word, asJSON)
	if err != nil {
		return row, nil, err
	}
	row = found[0]
	onSubject := filterRows(rows, func(other leaseRow) bool { return other.Subject.Text() == row.Subject.Text() })
	if subject, err := readSubject(word, asJSON); err == nil && subject.Text() == row.Subject.Text() && (asJSON || row.Lease != word) {
		row = whyFirst(onSubject, row)
	}
	others = filterRows(onSubject, func(other leaseRow) bool {
		return other.Lease != row.Lease && other.State != stateLapsed && (s.view == nil || other.Evidence != "")
	})
	return row, others, nil
}

// whyFirst is the one of all leases on a subject that is told of: one that is being lost, else the one whose end
// was recorded last, else the given one.
func whyFirst(rows []leaseRow, given leaseRow) leaseRow {
	losing := filterRows(rows, func(row leaseRow) bool { return row.State == statePending })
	lost := filterRows(rows, func(row leaseRow) bool { return row.State == stateLapsed })
	switch {
	case len(losing) > 0:
		return losing[0]
	case len(lost) > 0:
		return lost[len(lost)-1]
	}
	return given
}
