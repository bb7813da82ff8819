package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/daolease/daolease/pkg/judge"
)

// past tells the judge's ledger again, group by group, as far back as its last compaction. A composition in which
// no judge has run has none, which is no error; whoever may not read the ledger gets fs.ErrPermission.
func (c *Composition) past(ctx context.Context, each func(*judge.Moment) bool) error {
	if _, err := os.Stat(c.grantorDir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	return ledgerError(judge.Past(ctx, cfg, each))
}

// ownPast is past for a command that can do nothing without it.
func (c *Composition) ownPast(ctx context.Context, each func(*judge.Moment) bool) error {
	err := c.past(ctx, each)
	if errors.Is(err, fs.ErrPermission) {
		return fail(exitRefused, fmt.Sprintf("run it as the judge's user, who owns %s", c.grantorDir()),
			"the judge's ledger is private to its user, and no fact says when it was written")
	}
	return err
}
