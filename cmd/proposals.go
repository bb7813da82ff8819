package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// foundProposal is a proposal as it stands on its proposer's medium.
type foundProposal struct {
	id, holder string
	subject    lease.Subject
	ask        lease.Duration
	withdrawn  bool
}

// findProposal finds the one proposal that the grantor means by an id, or a unique beginning of it, among those
// of one holder, or of all when none is named. Several holders can have used the same id: then a holder is
// wanted (exit 2). None is exit 3.
func (c *Composition) findProposal(ctx context.Context, id, holder string) (foundProposal, error) {
	if id == "" {
		return foundProposal{}, usagef(unsetHint, "the PROPOSAL is empty")
	}
	names := []string{holder}
	if holder == "" {
		var err error
		if names, _, err = c.holderNames(); err != nil {
			return foundProposal{}, fail(exitFailure, "", "%w", err)
		}
	}
	var all []foundProposal
	for _, name := range names {
		list, err := c.proposalsOf(ctx, name, id)
		if err != nil {
			return foundProposal{}, err
		}
		all = append(all, list...)
	}
	if whole := slices.DeleteFunc(slices.Clone(all), func(p foundProposal) bool { return p.id != id }); len(whole) > 0 {
		all = whole
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		if holder != "" {
			if p, err := c.findProposal(ctx, id, ""); err == nil {
				return p, fail(exitNothingHeld, "leave "+holder+" out, or grant by SUBJECT and HOLDER", "proposal %s is %s's, and not %s's", wordText(p.id), escape(p.holder), wordText(holder))
			}
		}
		return foundProposal{}, fail(exitNothingHeld, "daolease inspect --proposals shows what waits for an answer", "no proposal %s is on the holders' media", id)
	}
	var which []string
	for _, p := range all {
		which = append(which, fmt.Sprintf("%s of %s", p.id, p.holder))
	}
	return foundProposal{}, usagef("name the HOLDER too, or write more of the id", "%q could be %s", id, strings.Join(which, ", "))
}

// proposalsOf are a holder's proposals whose id begins so, the first of each id: a later one of the same id
// counts only as its withdrawal.
func (c *Composition) proposalsOf(ctx context.Context, name, beginning string) ([]foundProposal, error) {
	m, err := c.holderStream(name)
	if err != nil {
		return nil, err
	}
	var list []foundProposal
	_, err = c.readFacts(ctx, m, name, "", func(author string, f lease.Fact) {
		if f.Kind != lease.Proposal || author != name || !strings.HasPrefix(f.Proposal, beginning) {
			return
		}
		at := slices.IndexFunc(list, func(p foundProposal) bool { return p.id == f.Proposal })
		if at < 0 {
			at = len(list)
			list = append(list, foundProposal{id: f.Proposal, holder: name, subject: f.Subject, ask: f.Duration})
		}
		list[at].withdrawn = list[at].withdrawn || f.Withdrawn
	})
	return list, err
}

// standing refuses a proposal that was taken back (exit 4).
func (p foundProposal) standing() error {
	if p.withdrawn {
		return fail(exitRefused, "", "proposal %s of %s was withdrawn", p.id, p.holder)
	}
	return nil
}
