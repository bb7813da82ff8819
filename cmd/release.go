package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
)

type releaseOptions struct {
	subject   string
	asJSON    bool
	wait      spanFlag
	bySubject bool // --subject was given
}

func (o *releaseOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.subject, "subject", "", "the lease on this `subject`")
	f.BoolVar(&o.asJSON, "json", false, "the subject is a JSON value")
	addSpan(f, &o.wait, "wait", "wait so long a `span`, or inf, until the grantor has taken it back", true)
}

func newReleaseCmd(app *App) *cobra.Command {
	o := &releaseOptions{}
	cmd := &cobra.Command{
		Use:     "release [LEASE | --subject S]",
		GroupID: groupHolder,
		Short:   "Give a lease back",
		Long: `release gives a lease back: from then on it is not held, whatever comes of it. Without a LEASE it is that of
$DAOLEASE_LEASE, else the one that is held. It may be repeated, and a lease may be given back past its bound and
after it has lapsed. The grantor takes the subject back afterwards: --wait waits until that is recorded. The id
of a proposal that has no answer withdraws it. What a daolease hold keeps is given back by ending the hold, which
stops its command first.`,
		Example: `  daolease release "$lease"
  daolease release --subject build --wait 10s`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.bySubject = cmd.Flags().Changed("subject")
			return runRelease(cmd.Context(), app, o, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func runRelease(ctx context.Context, app *App, o *releaseOptions, args []string) error {
	w, err := app.readWanted(args, o.subject, o.bySubject, o.asJSON)
	if err != nil {
		return err
	}
	s, err := openSide(app, false)
	if err != nil {
		return err
	}
	a := s.ask(wish{}, o.wait) // it watches before it writes
	defer a.close()
	var held lease.Held
	err = s.turn(ctx, func(t *turn) error {
		a.at = t.h.State.Cursor
		id, err := t.resolve(ctx, w, t.renewable, past, releasable)
		if open := (*unanswered)(nil); errors.As(err, &open) {
			return t.withdrawInstead(ctx, open.proposal)
		}
		if err != nil {
			return err
		}
		if kept, err := t.kept(ctx, id); err != nil {
			return err
		} else if kept {
			return fail(exitRefused, "end the hold: it stops its command first, and then gives the lease back", "lease %s is held by a daolease hold, whose command still runs", id)
		}
		if err := t.release(ctx, id); err != nil {
			return err
		}
		held = *t.h.State.Leases[id]
		return nil
	})
	if err != nil {
		return err
	}
	if held.Lapsed != "" {
		return nil
	}
	if !o.wait.Given {
		s.vigil.look(ctx, s.facts.Path())
		return nil
	}
	over, cancel := o.wait.within(ctx, 0)
	defer cancel()
	return ended(a.lapsed(over, held.Lease), "the release is written; daolease inspect shows what is in the way",
		"lease %s was not recorded as lapsed within %s", held.Lease, &o.wait)
}

// releasable says that a lease was not given back yet, as far as is known.
func releasable(held *lease.Held) bool { return held.Lapsed == "" && held.Release != lease.Done }

// withdrawInstead takes back a proposal that was named where a lease is wanted.
func (t *turn) withdrawInstead(ctx context.Context, proposal string) error {
	if err := t.withdraw(ctx, proposal); err != nil {
		return err
	}
	return fail(exitTimeout, "", "proposal %s has no answer yet, so there is no lease to release; it is withdrawn", proposal)
}
