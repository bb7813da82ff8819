package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func newRefuseCmd(app *App) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use:     "refuse PROPOSAL [HOLDER]",
		GroupID: groupGrantor,
		Short:   "Refuse a proposal by hand",
		Long: `refuse answers a proposal with a refusal that names its proposer. The HOLDER is needed only where several used
the same id.`,
		Example: `  daolease refuse 5KVJ --reason "not before Monday"`,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			holder := ""
			if len(args) == 2 {
				holder = args[1]
			}
			return runRefuse(cmd.Context(), app, args[0], holder, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "a `text` that the proposer is shown")
	return cmd
}

func runRefuse(ctx context.Context, app *App, id, holder, reason string) error {
	c, err := findAsGrantor(app)
	if err != nil {
		return err
	}
	if holder != "" {
		if err := c.mayHold(holder); err != nil {
			return err
		}
	}
	p, err := c.findProposal(ctx, id, holder)
	if err == nil {
		err = p.standing()
	}
	if err != nil {
		return err
	}
	fact, err := lease.NewRefusal(c.Config.Units, lease.RefusalTerms{Proposal: p.id, Holder: p.holder, Reason: reason})
	if err != nil {
		return usagef("", "no such refusal can be made: %w", err)
	}
	if err := c.refuseUnderLock(ctx, p, fact); err != nil {
		return err
	}
	newVigil(c).look(ctx, c.path("grantor", "facts.jsonl"))
	return nil
}

// maxRefuseReads is how often the stream is read again when somebody writes to it without its lock.
const maxRefuseReads = 4

// answeredHint is the remedy where a proposal wants no answer any more.
const answeredHint = "daolease log shows the answer; a lease that was granted ends with daolease revoke LEASE --reason T"

// refuseUnderLock appends the refusal if nobody has answered before, under the append lock of the grantor's
// stream: who answers must have read it to its end.
func (c *Composition) refuseUnderLock(ctx context.Context, p foundProposal, fact lease.Fact) error {
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	under, release, err := cfg.Facts.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	for range maxRefuseReads {
		j, err := concluded(ctx, cfg)
		if err != nil {
			return err
		}
		if j.Answered(p.holder, p.id) {
			return fail(exitRefused, answeredHint, "proposal %s of %s was answered before", p.id, p.holder)
		}
		if _, err = under.Append(ctx, stream.How{Sync: true, Expect: j.CursorOf(mediumGrantor)}, fact.Encode()); !errors.Is(err, stream.ErrMoved) {
			return err
		}
	}
	return fail(exitNotAppended, "", "others write to the grantor's stream without its lock: %w", stream.ErrMoved)
}

// concluded is the ledger with everything read that the media have had since.
func concluded(ctx context.Context, cfg judge.Config) (*judge.Judge, error) {
	j, err := judge.Observe(ctx, cfg)
	if err != nil {
		return nil, ledgerError(err)
	}
	// Reading 1 counts only where there is no tick at all: without one nothing would be read.
	if report, _ := j.Conclude(ctx, 1); report.Outcome != judge.OK {
		return nil, fail(exitFailure, "", "the media cannot be read to their ends: %s %s", report.Outcome, report.Abort)
	}
	return j, nil
}
