package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

type renewOptions struct {
	subject            string
	asJSON, all, ifDue bool
	output             outputFlag
	shown, bySubject   bool // -o and --subject were given
}

func (o *renewOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.subject, "subject", "", "the lease on this `subject`")
	f.BoolVar(&o.asJSON, "json", false, "the subject is a JSON value")
	f.BoolVar(&o.all, "all", false, "every lease that is held, and is not kept by a daolease hold")
	f.BoolVar(&o.ifDue, "if-due", false, "only what is older than a sixth of its duration; silent when all is well")
	addOutput(cmd, &o.output, append([]string{"table"}, leaseForms()...))
	cmd.MarkFlagsMutuallyExclusive("all", "subject")
}

func newRenewCmd(app *App) *cobra.Command {
	o := &renewOptions{}
	cmd := &cobra.Command{
		Use:     "renew [LEASE | --subject S | --all]",
		GroupID: groupHolder,
		Short:   "Show that one still holds a lease, and what is left of it",
		Long: `renew appends a renewal for a lease that is held, and prints what is left until its bound. Without a LEASE it is
that of $DAOLEASE_LEASE, else the one that is held. Past its bound a lease is lost, and no renewal revives it:
propose anew. Renew at a third of the duration; with --if-due it may be called as often as one likes.

With --all every lease that is held is renewed, but those that a daolease hold keeps; -o json is then an array of what
was renewed, with --if-due also of what was not due, and is empty where a hold keeps all of them. Where nothing is held
the exit status is 3; with --if-due that is silent too, unless a lease was lost and none was obtained since: then each
call says so.`,
		Example: `  daolease renew
  daolease renew "$lease" -o json
  * * * * * daolease renew --all --if-due    # from cron`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.shown, o.bySubject = cmd.Flags().Changed("output"), cmd.Flags().Changed("subject")
			return runRenew(cmd.Context(), app, o, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func runRenew(ctx context.Context, app *App, o *renewOptions, args []string) error {
	if o.all && len(args) > 0 {
		return usagef("", "--all is every lease; name none beside it")
	}
	if o.all && o.output.form == "env" {
		return usagef("-o json is an array of all of them", "-o env is about one lease, and --all about every one")
	}
	w, err := app.readWanted(args, o.subject, o.bySubject, o.asJSON)
	if err != nil {
		return err
	}
	s, err := openSide(app, false)
	if err != nil {
		return err
	}
	var views []leaseView
	err = s.turn(ctx, func(t *turn) error {
		if o.all {
			views, err = t.renewAll(ctx, o.ifDue)
			return err
		}
		id, err := t.resolve(ctx, w, t.renewable, past)
		if err != nil {
			return err
		}
		view, err := t.renewOne(ctx, id, o.ifDue)
		if err == nil {
			views = append(views, view)
		}
		return err
	})
	if len(views) > 0 {
		s.vigil.look(ctx, s.facts.Path())
	}
	if lost := (*unkept)(nil); errors.As(err, &lost) && len(views) > 0 {
		app.say("renewed all the same: it is on the stream, where the judge reads it; but the next command of %q does not know, and counts from the renewal before", s.name)
	}
	// What was renewed is printed also where something else failed.
	if o.all && err == nil && len(views) == 0 {
		views = []leaseView{} // an empty array, where one was asked for
	}
	return errors.Join(err, s.showRenewed(o, views))
}

// renewable says that a renewal would count: the lease is held, or will be from its first renewal on.
func (t *turn) renewable(held *lease.Held) bool {
	var why *lease.NotHeld
	err := t.h.Holding(held.Lease, t.reading)
	return err == nil || errors.As(err, &why) && why.Why == lease.NoBasis
}

// past says that a lease was not given back and is not known to have ended.
func past(held *lease.Held) bool { return held.Lapsed == "" && held.Release == "" && held.Unfit == "" }

// renewOne renews one lease, unless it is not due.
func (t *turn) renewOne(ctx context.Context, id string, ifDue bool) (leaseView, error) {
	held := t.h.State.Leases[id]
	reading, why, err := t.heldNow(ctx, id)
	if err != nil {
		return leaseView{}, err
	}
	if why != nil && why.Why != lease.NoBasis {
		return leaseView{}, t.notHeld(id, why)
	}
	if kept, err := t.kept(ctx, id); err != nil {
		return leaseView{}, err
	} else if kept {
		return leaseView{}, fail(exitRefused, "what is renewed by others would hide that the held command is dead", "lease %s is kept renewed by a daolease hold", id)
	}
	if ifDue && !t.h.Due(id, reading, 6) {
		return t.view(held), nil
	}
	return t.append(ctx, held, why != nil)
}

// heldNow says why a lease is not held at this moment, if so: looking may have taken long.
func (t *turn) heldNow(ctx context.Context, id string) (reading int64, why *lease.NotHeld, err error) {
	if reading, err = t.now(ctx); err == nil {
		errors.As(t.h.Holding(id, reading), &why)
	}
	return reading, why, err
}

// append appends the renewal of a lease and notes it at the reading that was taken before.
func (t *turn) append(ctx context.Context, held *lease.Held, first bool) (leaseView, error) {
	if err := t.appendRenewals(ctx, held); err != nil {
		return leaseView{}, err
	}
	return t.noteRenewal(held, first)
}

// appendRenewals appends the renewals of some leases, all or none of which count as renewed.
func (t *turn) appendRenewals(ctx context.Context, leases ...*lease.Held) error {
	lines := make([][]byte, len(leases))
	for i, held := range leases {
		fact, err := lease.NewRenewal(held.Lease)
		if err != nil {
			return err
		}
		lines[i] = fact.Encode()
	}
	_, err := t.facts.Append(ctx, stream.How{}, lines...)
	return err
}

// noteRenewal notes a renewal that was appended.
func (t *turn) noteRenewal(held *lease.Held, first bool) (leaseView, error) {
	if err := t.h.Renewed(held.Lease, t.reading); err != nil {
		return leaseView{}, t.notHeld(held.Lease, err)
	}
	if first {
		t.app.say("lease %s: since when it was granted is not known; it is held from this renewal on", held.Lease)
	}
	return t.view(held), nil
}

// showRenewed prints what is left of each lease.
func (s *side) showRenewed(o *renewOptions, views []leaseView) error {
	if views == nil || o.ifDue && !o.shown {
		return nil
	}
	switch {
	case o.output.form == "table":
		nothing := fmt.Sprintf("every lease of holder %q is kept renewed by a daolease hold", s.name)
		return s.app.show(&o.output, views, nothing, func(bool) table { return s.leftTable(views) })
	case o.output.form == "json" && o.all:
		return s.app.show(&o.output, views, "", nil)
	}
	for _, v := range views {
		if err := s.app.showLease(&o.output, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) leftTable(views []leaseView) table {
	t := table{Header: []string{"LEASE", "SUBJECT", "BOUND IN"}}
	for _, v := range views {
		left := ""
		if v.Left != nil {
			left = s.forPeople(*v.Left)
		}
		t.Rows = append(t.Rows, []string{v.id(), subjectText(v.Subject), left})
	}
	return t
}
