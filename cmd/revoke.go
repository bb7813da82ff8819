package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

type revokeOptions struct {
	reason    string
	wait      spanFlag
	reclaimed bool
}

func (o *revokeOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.reason, "reason", "", "why, a `text` that its procedure and its record are given (required)")
	addSpan(f, &o.wait, "wait", "wait so long a `span`, or inf, until it is taken back and recorded", true)
	f.BoolVar(&o.reclaimed, "reclaimed", false, "its subject was taken back by hand: record it without the procedure")
	// The error is one of a flag that is not there.
	_ = cmd.MarkFlagRequired("reason")
}

func newRevokeCmd(app *App) *cobra.Command {
	o := &revokeOptions{}
	cmd := &cobra.Command{
		Use:     "revoke LEASE --reason TEXT",
		GroupID: groupGrantor,
		Short:   "End a lease by policy",
		Long: `revoke ends a live lease at the judge's next pass, and has one that is being taken back already tried again at
once. With --reclaimed its subject was taken back by hand: the procedure is not run, one that still runs is killed
first, and the end is recorded. --wait waits until that is done.`,
		Example: `  daolease revoke 7QX2 --reason "maintenance" --wait 30s
  daolease revoke 7QX2 --reason "the disk was swapped" --reclaimed`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runRevoke(cmd.Context(), app, o, args[0]) },
	}
	o.addFlags(cmd)
	return cmd
}

func runRevoke(ctx context.Context, app *App, o *revokeOptions, word string) error {
	if strings.TrimSpace(o.reason) == "" || word == "" {
		return usagef("", "a LEASE and a --reason that says something are wanted")
	}
	c, err := findAsGrantor(app)
	if err != nil {
		return err
	}
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	j, err := concluded(ctx, cfg)
	if err != nil {
		return err
	}
	id, err := c.liveLease(ctx, j, word)
	if err != nil {
		return err
	}
	w := newWaiter(c) // it watches before anything is written
	defer w.close()
	line, err := judge.Revocation{Lease: id, Reason: o.reason, Reclaimed: o.reclaimed}.Encode()
	if err != nil {
		return usagef("", "no such revocation can be made: %w", err)
	}
	if _, err := cfg.Policy.Append(ctx, stream.How{Sync: true}, line); err != nil {
		return err
	}
	v := newVigil(c)
	if !o.wait.Given {
		v.look(ctx, c.path("grantor", "policy.jsonl"))
		return nil
	}
	return c.awaitGone(ctx, w, v, id, o)
}

// liveLease is the live lease of that id, or with that unique beginning. One that is not live is exit 3, naming
// what is live on the same subject.
func (c *Composition) liveLease(ctx context.Context, j *judge.Judge, word string) (string, error) {
	rows := j.Rows()
	var begun []string
	for _, row := range rows {
		if row.Lease == word {
			return row.Lease, nil
		}
		if strings.HasPrefix(row.Lease, word) {
			begun = append(begun, row.Lease)
		}
	}
	switch len(begun) {
	case 1:
		return begun[0], nil
	case 0:
		return "", c.notLive(ctx, rows, word)
	}
	return "", fail(exitNothingHeld, "write more of it", "several live leases begin with %q: %s", word, strings.Join(begun, ", "))
}

// notLive is that no lease of that id is live (exit 3): whether it has lapsed, and by which cause; and what is live on
// the subject that the word stands for, which is that of a lease that was granted under that id once, or the word
// itself.
func (c *Composition) notLive(ctx context.Context, rows []judge.Row, word string) error {
	granted, lapsed, err := c.once(ctx, word)
	if err != nil {
		return err
	}
	subjects := map[string]bool{word: true}
	for _, f := range granted {
		subjects[f.Subject.Text()] = true
	}
	var live []string
	for _, row := range rows {
		if subjects[row.Subject.Text()] {
			live = append(live, fmt.Sprintf("%s on %s, held by %s", row.Lease, shortened(subjectText(row.Subject)), row.Holder))
		}
	}
	hint := "daolease inspect shows what is live"
	if len(live) > 0 {
		hint = "live is " + strings.Join(live, "; ")
	}
	if len(granted) == 1 && len(lapsed) == 1 {
		if len(live) == 0 {
			hint = "there is nothing left to revoke, and nobody has its subject now; daolease why " + shellQuote(lapsed[0].Lease) + " says how it ended"
		}
		return fail(exitNothingHeld, hint, "lease %s on %s, which %s held, has lapsed already, by %s",
			wordText(lapsed[0].Lease), subjectText(granted[0].Subject), granted[0].Holder, lapsed[0].Cause)
	}
	return fail(exitNothingHeld, hint, "no live lease %s", wordText(word))
}

// once is what was granted on the grantor's stream under ids that begin with a word, or under that id, and the records
// of the ends of those.
func (c *Composition) once(ctx context.Context, word string) (granted, lapsed []lease.Fact, err error) {
	m, err := c.grantorStream()
	if err != nil {
		return nil, nil, err
	}
	_, err = c.readGrantor(ctx, m, "", func(f lease.Fact) {
		switch {
		case !strings.HasPrefix(f.Lease, word):
		case f.Kind == lease.Grant && !slices.ContainsFunc(granted, func(g lease.Fact) bool { return g.Lease == f.Lease }):
			granted = append(granted, f)
		case f.Kind == lease.Lapsed && !slices.ContainsFunc(lapsed, func(g lease.Fact) bool { return g.Lease == f.Lease }):
			lapsed = append(lapsed, f)
		}
	})
	exactly := func(f lease.Fact) bool { return f.Lease == word }
	if slices.ContainsFunc(granted, exactly) {
		other := func(f lease.Fact) bool { return !exactly(f) }
		granted, lapsed = slices.DeleteFunc(granted, other), slices.DeleteFunc(lapsed, other)
	}
	return granted, lapsed, err
}

// awaitGone waits until the judge has let a lease go. When it has not in time, exit 11 says that an attempt to
// take it back has failed, and 5 that none has.
func (c *Composition) awaitGone(ctx context.Context, w *waiter, v *vigil, id string, o *revokeOptions) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	over, cancel := o.wait.within(ctx, 0)
	defer cancel()
	var last judge.ReclaimState
	for {
		row, live, err := c.liveRow(context.WithoutCancel(ctx), id)
		if err != nil {
			return err
		}
		if !live {
			return nil
		}
		last = row.Reclaim
		v.look(ctx, c.path("grantor", "policy.jsonl"))
		if err := w.next(over); err != nil {
			v.look(context.WithoutCancel(ctx), c.path("grantor", "policy.jsonl"))
			return notGone(err, id, last, &o.wait)
		}
	}
}

func notGone(cause error, id string, last judge.ReclaimState, wait *spanFlag) error {
	if last.Error != "" && !last.OK {
		err := ended(cause, "", "")
		if codeOf(err) == exitTimeout {
			return fail(exitNotReclaimed, "daolease inspect "+shellQuote(id)+" shows its attempts",
				"lease %s was not taken back within %s; attempt %d failed: %s", id, wait, last.Attempts, last.Error)
		}
		return err
	}
	return ended(cause, "", "lease %s was not taken back within %s", id, wait)
}

// liveRow is a lease as the ledger and what was written since have it.
func (c *Composition) liveRow(ctx context.Context, id string) (judge.Row, bool, error) {
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return judge.Row{}, false, err
	}
	j, err := concluded(ctx, cfg)
	if err != nil {
		return judge.Row{}, false, err
	}
	row, live := j.Row(id)
	return row, live, nil
}
