package cmd

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daolease/daolease/pkg/lease"
)

type proposeOptions struct {
	duration, wait spanFlag
	async, asJSON  bool
	note           string
	or             []string // other grantors' compositions
	output         outputFlag
}

func (o *proposeOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	addSpan(f, &o.duration, "duration", "how long a `span` the lease shall last unrenewed (default: as the grantor gives)", false)
	addSpan(f, &o.wait, "wait", "while it is held by another, wait so long a `span`, or inf", true)
	f.BoolVar(&o.async, "async", false, "wait for no answer; print the proposal's id")
	f.StringVar(&o.note, "note", "", "a `text` for people")
	f.BoolVar(&o.asJSON, "json", false, "SUBJECT is a JSON value")
	addOutput(cmd, &o.output, leaseForms())
	addOr(f, &o.or)
	cmd.MarkFlagsMutuallyExclusive("wait", "async")
	cmd.MarkFlagsMutuallyExclusive("or", "async")
}

func newProposeCmd(app *App) *cobra.Command {
	o := &proposeOptions{}
	cmd := &cobra.Command{
		Use:     "propose SUBJECT",
		GroupID: groupHolder,
		Short:   "Ask for a lease on a subject",
		Long: `propose asks the grantor for a lease and prints its id. It waits at most 10 s for the answer, and withdraws
the proposal when none comes. A subject that is held by another is refused at once, naming the holder; with
--wait it proposes again when that lease lapses, and says once for whom or what it waits: at a terminal at once,
elsewhere when the wait is a long one. Renew the lease with daolease renew, at a third of its duration.

With --or other grantors are asked, in their order, when one cannot be reached, does not answer or refuses; what is
left of --wait is shared among those still to be asked. The lease is then a fresh one of whoever grants it, and is
renewed there: which one it was is said, and -o env sets DAOLEASE_DIR.`,
		Example: `  lease=$(daolease propose build) || exit
  daolease propose /srv/shared/a --duration 5min --wait 1h
  eval "$(daolease propose build -o env)"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runPropose(cmd.Context(), app, o, args[0]) },
	}
	o.addFlags(cmd)
	return cmd
}

func runPropose(ctx context.Context, app *App, o *proposeOptions, word string) error {
	subject, err := readNew(word, o.asJSON)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	sides, err := openSides(app, o.or)
	if err != nil {
		return err
	}
	r := &round{sides: sides, wait: o.wait, wish: func(s *side) (w wish, err error) {
		w = wish{subject: subject, note: o.note}
		w.ask, err = s.comp.askOf(&o.duration)
		return w, err
	}}
	if o.async {
		w, err := r.wish(sides[0])
		if err != nil {
			return err
		}
		a := sides[0].ask(w, o.wait)
		defer a.close()
		return a.leave(ctx, o)
	}
	view, a, err := r.obtain(ctx)
	if err != nil {
		return err
	}
	if len(o.or) > 0 {
		view.dir = a.comp.Dir
	}
	return app.showLease(&o.output, view)
}

// addOr adds the flag that names other grantors.
func addOr(f *pflag.FlagSet, or *[]string) {
	f.StringArrayVar(or, "or", nil, "the composition `folder` of another grantor, to be asked next; may be repeated")
}

// leave proposes and waits for no answer.
func (a *quest) leave(ctx context.Context, o *proposeOptions) error {
	if _, err := a.clear(ctx); err != nil {
		return orSignal(ctx, err)
	}
	id, err := a.submit(ctx)
	if err != nil {
		return orSignal(ctx, err)
	}
	a.vigil.look(ctx, a.facts.Path())
	return a.app.showLease(&o.output, leaseView{Proposal: &id, Subject: a.subject, Holder: a.name, Duration: a.wish.ask})
}

// askOf is a duration that was given on the command line as a fact says it; zero when none was.
func (c *Composition) askOf(s *spanFlag) (lease.Duration, error) {
	if !s.Given {
		return lease.Duration{}, nil
	}
	if s.D <= 0 {
		return lease.Duration{}, usagef("", "a duration of %s is none", formatSpan(s.D))
	}
	d, err := c.Config.duration(s.D)
	if err != nil {
		return d, usagef("", "%w", err)
	}
	return d, nil
}
