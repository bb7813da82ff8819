package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

type inspectOptions struct {
	all       bool
	proposals bool
	json      bool
	watch     bool
	at        string
	filter    rowFilter
	output    outputFlag
}

func (o *inspectOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "also leases that have ended and still stand on the grantor's stream")
	f.BoolVar(&o.proposals, "proposals", false, "the proposals that wait for an answer, instead of leases")
	f.BoolVar(&o.json, "json", false, "SUBJECT is JSON")
	f.BoolVarP(&o.watch, "watch", "w", false, "go on: redraw in place on a terminal, else one JSON document a line")
	f.StringVar(&o.at, "at", "", "the ledger as it stood at this `reading`, as far back as its last compaction")
	o.filter.addFlags(cmd)
	addOutput(cmd, &o.output, listForms())
	cmd.MarkFlagsMutuallyExclusive("all", "proposals", "at")
	cmd.MarkFlagsMutuallyExclusive("watch", "at")
}

// refuse says what of a command line does not go together (exit 2).
func (o *inspectOptions) refuse(args []string, shown bool) error {
	switch one := len(args) > 0; {
	case one && (o.all || o.proposals):
		return usagef("", "--all and --proposals list leases and proposals; a LEASE or SUBJECT is one of them")
	case one && o.at != "":
		return usagef("daolease inspect --at READING --subject S", "--at lists the leases that were live then")
	case one && o.filter.any(), o.proposals && o.filter.any():
		return usagef("", "--holder, --subject, --state and --sort are about the listing of leases")
	case !one && o.json:
		return usagef("", "--json is about SUBJECT")
	case o.watch && shown && o.output.form != "jsonl" && o.output.form != "wide" && o.output.form != "table":
		return usagef("daolease inspect --watch -o jsonl", "-o %s is one document: --watch draws a table on a terminal, and is one JSON document a line with -o jsonl and elsewhere", o.output.form)
	}
	return o.filter.check()
}

func newInspectCmd(app *App) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:     "inspect [LEASE | SUBJECT]",
		GroupID: groupAnyone,
		Short:   "Show who holds what, for how long, and on what evidence",
		Long: `inspect shows the leases that are live: who holds what, how long until it can lapse and by which cause,
and on what evidence. With LEASE (or a unique beginning of it, or the id of the proposal that it answers) or
SUBJECT it shows the history of one: every fact about it on every medium, who wrote it, whether it counts, and
why not.

It says whose conclusion it shows. Whoever can read the judge's ledger sees what the judge concludes, with what
the media have had since; anyone else sees what the media let anyone conclude, which is who was granted what.
That no lapsed stands on the grantor's stream is never evidence that a lease is held.

CAN LAPSE IN is the least time until a judge could conclude the lease, with the cause that comes first: its
holder's own bound (renew shows it as BOUND IN) is earlier, by the tolerance and by what the judge could not watch.

What no judge has read yet is shown as unread: it came some time after the ledger was last written, nobody knows when,
and what is left is counted from the judge's next pass.

A table of more than 200 leases is printed in pages as it is made, so that it begins at once. A column is never
narrower than on the page before; what needs more room makes it wider from its own page on.

With --at READING it shows the leases that were live when the judge had passed at that reading, rebuilt from the
ledger's own stream, which goes back to its last compaction. inspect changes nothing, and creates no file.`,
		Example: `  daolease inspect                   # who holds what
  daolease inspect build             # what became of the lease on build
  daolease inspect --all -o json     # also what has ended, for a program
  daolease inspect --proposals       # what waits for an answer
  daolease inspect --state pending --sort since
  daolease inspect --at 5min         # what was live at that reading`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.refuse(args, cmd.Flags().Changed("output")); err != nil {
				return err
			}
			c, err := find(app)
			if err != nil {
				return err
			}
			if o.watch {
				return c.whileReading(watchLeases(cmd.Context(), c, o, args))
			}
			return c.whileReading(inspect(cmd.Context(), c, o, args))
		},
	}
	o.addFlags(cmd)
	return cmd
}

func inspect(ctx context.Context, c *Composition, o *inspectOptions, args []string) error {
	if o.at != "" {
		s, err := c.lookBack(ctx, o)
		if err != nil {
			return err
		}
		return s.show(o, false)
	}
	s, err := c.survey(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 && !o.proposals && o.streams() {
		return s.stream(ctx, o)
	}
	if err := s.gather(ctx, o, args); err != nil {
		return err
	}
	return s.show(o, len(args) > 0)
}

// gather adds what was asked for to the document.
func (s *survey) gather(ctx context.Context, o *inspectOptions, args []string) error {
	switch {
	case len(args) > 0:
		return s.addHistory(ctx, args[0], o.json)
	case o.proposals:
		return s.addProposals(ctx)
	}
	err := s.eachLease(ctx, o, func(row leaseRow) error {
		s.doc.Leases = append(s.doc.Leases, row)
		return nil
	})
	o.filter.order(s, s.doc.Leases)
	return err
}
