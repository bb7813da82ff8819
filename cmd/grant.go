package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

type grantOptions struct {
	duration, max  spanFlag
	proposal, note string
	asJSON         bool
	output         outputFlag
	byProposal     bool // --proposal was given
}

func (o *grantOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	addSpan(f, &o.duration, "duration", "how long a `span` the lease lasts unrenewed (default: what was asked, else the configuration's)", false)
	addSpan(f, &o.max, "max", "the most that it may last in all, a `span` (default: the configuration's)", false)
	f.StringVar(&o.proposal, "proposal", "", "the `proposal` to answer")
	f.StringVar(&o.note, "note", "", "a `text` for people")
	f.BoolVar(&o.asJSON, "json", false, "SUBJECT is a JSON value")
	addOutput(cmd, &o.output, leaseForms())
}

func newGrantCmd(app *App) *cobra.Command {
	o := &grantOptions{}
	cmd := &cobra.Command{
		Use:     "grant SUBJECT HOLDER | grant --proposal ID [HOLDER]",
		GroupID: groupGrantor,
		Short:   "Grant a lease by hand",
		Long: `grant writes a grant beside the judge and prints the id of the lease. It keeps to the slots of the subject and to
the tokens, and refuses what the judge would find inadmissible. The lease counts from the judge's next pass on.`,
		Example: `  daolease grant /srv/shared/a alice --duration 5min
  daolease grant --proposal 5KVJ alice`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.byProposal = cmd.Flags().Changed("proposal")
			return runGrant(cmd.Context(), app, o, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func runGrant(ctx context.Context, app *App, o *grantOptions, args []string) error {
	c, err := findAsGrantor(app)
	if err != nil {
		return err
	}
	t, err := c.terms(ctx, o, args)
	if err != nil {
		return err
	}
	if err := c.complete(o, &t); err != nil {
		return err
	}
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	fact, err := judge.Grant(ctx, cfg, t)
	if err != nil {
		return grantError(err)
	}
	if _, err := os.Lstat(c.holderDir(t.Holder)); errors.Is(err, fs.ErrNotExist) {
		app.complain("holder "+t.Holder+" has no folder yet, and cannot renew without one", "daolease holder add "+t.Holder+" makes it")
	}
	newVigil(c).look(ctx, c.path("grantor", "facts.jsonl"))
	return app.showLease(&o.output, viewOfFact(fact))
}

// findAsGrantor finds the composition for a command of the grantor's, and makes what is missing of its folders.
func findAsGrantor(app *App) (*Composition, error) {
	c, err := find(app)
	if err != nil {
		return nil, err
	}
	if err := c.callerIsGrantor(); err != nil {
		return nil, err
	}
	if err := c.makeGrantor(); err != nil {
		return nil, fail(exitFailure, "", "%w", err)
	}
	return c, nil
}

// terms reads what the command line says: a subject and a holder, or a proposal that says both.
func (c *Composition) terms(ctx context.Context, o *grantOptions, args []string) (judge.Terms, error) {
	t := judge.Terms{Note: o.note}
	switch {
	case o.byProposal && len(args) > 1:
		return t, usagef("", "a proposal names its subject; write at most the HOLDER beside it")
	case o.byProposal && o.asJSON:
		return t, usagef("", "--json is about SUBJECT, and a proposal names its own")
	case !o.byProposal && len(args) != 2:
		return t, usagef("see daolease grant --help", "a SUBJECT and a HOLDER are wanted, or --proposal")
	}
	if o.byProposal {
		holder := ""
		if len(args) == 1 {
			holder = args[0]
		}
		return t, c.fromProposal(ctx, o.proposal, holder, &t)
	}
	subject, err := readSubject(args[0], o.asJSON)
	if err != nil {
		return t, err
	}
	t.Subject, t.Holder = subject, args[1]
	return t, c.mayHold(t.Holder)
}

// mayHold refuses what cannot be a holder's name.
func (c *Composition) mayHold(name string) error {
	if err := c.holderName(name); err != nil {
		return usagef("", "%q cannot be a holder's name: %w", name, err)
	}
	return nil
}

func (c *Composition) fromProposal(ctx context.Context, id, holder string, t *judge.Terms) error {
	if holder != "" {
		if err := c.mayHold(holder); err != nil {
			return err
		}
	}
	p, err := c.findProposal(ctx, id, holder)
	if err == nil {
		err = p.standing()
	}
	t.Proposal, t.Holder, t.Subject, t.Duration = p.id, p.holder, p.subject, p.ask
	return err
}

// complete fills in what the configuration gives, and refuses or warns of what it does not know.
func (c *Composition) complete(o *grantOptions, t *judge.Terms) error {
	if err := c.Config.admissible(t.Subject); err != nil {
		return fail(exitRefused, "", "nothing is granted on that subject: %w", err)
	}
	rule, known := c.Config.rule(t.Subject)
	if !known {
		c.app.say("no entry of the configuration matches %s: its procedure will fail until one does", shortened(subjectText(t.Subject)))
	}
	if err := c.completeDuration(o, t, rule); err != nil {
		return err
	}
	if o.max.Given {
		var err error
		if t.Max, err = c.askOf(&o.max); err != nil {
			return err
		}
	} else if known && rule.Max > 0 {
		t.Max = c.Config.durationOf(c.Config.baseUp(rule.Max))
	}
	return nil
}

// completeDuration settles the duration: as given by hand, which may be longer than what the judge grants; else
// as asked, at most the longest; else the configuration's.
func (c *Composition) completeDuration(o *grantOptions, t *judge.Terms, rule *SubjectRule) error {
	asked := t.Duration
	switch {
	case o.duration.Given:
		d, err := c.askOf(&o.duration)
		if t.Duration = d; err != nil {
			return err
		}
	case rule == nil && asked.IsZero():
		return usagef("say how long with --duration", "no entry of the configuration matches %s, so it gives no duration", shortened(subjectText(t.Subject)))
	case rule != nil && asked.IsZero():
		t.Duration = c.Config.durationOf(c.Config.baseUp(rule.Duration))
	case rule != nil && c.longerThan(asked, c.Config.baseUp(rule.Longest)):
		t.Duration = c.Config.durationOf(c.Config.baseUp(rule.Longest))
	}
	if least := 2*c.Config.baseUp(c.Config.Cadence) + c.Config.baseUp(c.Config.Tolerance); !c.longerThan(t.Duration, least-1) {
		c.app.say("%s is under twice the cadence plus the tolerance (%s): renewals may not be seen in time", t.Duration, formatSpan(c.Config.span(least)))
	}
	return nil
}

// longerThan compares a duration with a number of base units. One that cannot be counted is not longer.
func (c *Composition) longerThan(d lease.Duration, n int64) bool {
	count, err := c.Config.Units.Count(d)
	return err == nil && count > n
}

// grantError gives what stands against a grant its exit code.
func grantError(err error) error {
	var busy *judge.Busy
	switch {
	case errors.As(err, &busy):
		return fail(exitRefused, "daolease revoke "+shellQuote(busy.Lease)+" --reason … ends it", "%w", err)
	case errors.Is(err, judge.ErrMistaken):
		return fail(exitRefused, answeredHint, "%w", err)
	case unwritable(err):
		return fail(exitNotAppended, "", "%w", err)
	}
	return ledgerError(err)
}
