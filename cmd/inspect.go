package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

type inspectOptions struct {
	all       bool
	proposals bool
	json      bool
	output    outputFlag
}

func (o *inspectOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "also leases that have ended and still stand on the grantor's stream")
	f.BoolVar(&o.proposals, "proposals", false, "the proposals that wait for an answer, instead of leases")
	f.BoolVar(&o.json, "json", false, "SUBJECT is JSON")
	addOutput(cmd, &o.output, listForms())
	cmd.MarkFlagsMutuallyExclusive("all", "proposals")
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

inspect changes nothing, and creates no file.`,
		Example: `  daolease inspect                   # who holds what
  daolease inspect build             # what became of the lease on build
  daolease inspect --all -o json     # also what has ended, for a program
  daolease inspect --proposals       # what waits for an answer`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (o.all || o.proposals) {
				return usagef("", "--all and --proposals list leases and proposals; a LEASE or SUBJECT is one of them")
			}
			if len(args) == 0 && o.json {
				return usagef("", "--json is about SUBJECT")
			}
			c, err := find(app)
			if err != nil {
				return err
			}
			return inspect(cmd.Context(), c, o, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func inspect(ctx context.Context, c *Composition, o *inspectOptions, args []string) error {
	s, err := c.survey(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		err = s.addHistory(ctx, args[0], o.json)
	case o.proposals:
		err = s.addProposals(ctx)
	default:
		err = s.addLeases(ctx, o.all)
	}
	if err != nil {
		return err
	}
	return s.show(o, len(args) > 0)
}
