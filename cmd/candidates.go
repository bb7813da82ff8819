package cmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
)

// candidate is a word that a shell may offer, and what it is.
type candidate struct{ word, about string }

// The most candidates that are offered, and the most time that looking for them may take: somebody waits at a key.
const (
	mostCandidates = 200
	candidateTime  = 2 * time.Second
)

// completions has the shells offer what there is: leases, subjects, holders. Where there is no composition, or it
// cannot be read, they offer nothing and say nothing. Looking writes nothing.
func completions(app *App, root *cobra.Command) {
	leases, subjects, holders := app.completing(leasesThere), app.completing(subjectsThere), app.completing(holdersThere)
	both := app.completing(leasesThere, subjectsThere)
	none := cobra.NoFileCompletions
	args := map[string][]cobra.CompletionFunc{
		"renew": {leases}, "release": {leases}, "revoke": {leases}, "inspect": {both}, "why": {both},
		"propose": {app.completing(subjectsThere, subjectsNamed)}, "grant": {app.completing(subjectsThere, subjectsNamed), holders},
		"refuse": {app.completing(proposalsThere), holders},
	}
	for _, cmd := range root.Commands() {
		if cmd.Name() == "init" || cmd.Hidden || cmd.HasSubCommands() {
			continue // folders, the words of other tools, and what only groups others
		}
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = nth(args[cmd.Name()], none)
		}
		// The errors are those of a flag that the command does not have.
		_ = cmd.RegisterFlagCompletionFunc("subject", subjects)
		_ = cmd.RegisterFlagCompletionFunc("holder", holders)
		_ = cmd.RegisterFlagCompletionFunc("lease", leases)
		_ = cmd.RegisterFlagCompletionFunc("author", app.completing(authorsThere))
		_ = cmd.RegisterFlagCompletionFunc("proposal", app.completing(proposalsThere))
		_ = cmd.RegisterFlagCompletionFunc("medium", app.completing(mediaThere))
	}
	_ = root.RegisterFlagCompletionFunc("as", holders)
	if remove, _, err := root.Find([]string{"holder", "remove"}); err == nil {
		remove.ValidArgsFunction = nth([]cobra.CompletionFunc{holders}, none)
	}
}

// nth completes each argument by a function of its own, and those beyond by another.
func nth(list []cobra.CompletionFunc, rest cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) < len(list) {
			return list[len(args)](cmd, args, word)
		}
		return rest(cmd, args, word)
	}
}

// completing offers what some sources have.
func (a *App) completing(sources ...func(context.Context, *Composition) []candidate) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		c, err := find(a)
		if err != nil {
			return nil, directive
		}
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, candidateTime)
		defer cancel()
		var list []cobra.Completion
		seen := map[string]bool{}
		for _, source := range sources {
			for _, one := range source(ctx, c) {
				if seen[one.word] || !strings.HasPrefix(one.word, word) || !offerable(one.word) || len(list) >= mostCandidates {
					continue
				}
				seen[one.word] = true
				list = append(list, cobra.CompletionWithDesc(one.word, escape(one.about)))
			}
		}
		return list, directive
	}
}

// offerable says that a word may be offered. Holders choose subjects, and bash puts what several candidates have in
// common on the line as it is: of what a shell would have to quote only a single blank here and there is harmless.
func offerable(word string) bool {
	for part := range strings.SplitSeq(word, " ") {
		if part == "" || shellQuote(part) != part {
			return false
		}
	}
	return true
}

// liveLeases are the leases that are live as the ledger was last written, else those that the media show no end of.
func liveLeases(ctx context.Context, c *Composition) []lease.Fact {
	var list []lease.Fact
	if view, _, err := c.lookAtLedger(ctx); err == nil && view != nil {
		for _, row := range view.Rows() {
			list = append(list, lease.Fact{Lease: row.Lease, Subject: row.Subject, Holder: row.Holder})
		}
		return list
	}
	s := &survey{comp: c}
	r, grants, err := s.readGrants(ctx, false)
	if err != nil {
		return nil
	}
	for _, id := range grants {
		if g := r.grants[id]; g.lapsed == nil {
			list = append(list, g.Fact)
		}
	}
	return list
}

func leasesThere(ctx context.Context, c *Composition) (list []candidate) {
	for _, f := range liveLeases(ctx, c) {
		list = append(list, candidate{f.Lease, subjectText(f.Subject) + " of " + f.Holder})
	}
	return list
}

func subjectsThere(ctx context.Context, c *Composition) (list []candidate) {
	for _, f := range liveLeases(ctx, c) {
		if f.Subject.IsString() {
			list = append(list, candidate{f.Subject.Text(), "held by " + f.Holder})
		}
	}
	return list
}

// subjectsNamed are the subjects that the configuration names without a wildcard.
func subjectsNamed(_ context.Context, c *Composition) (list []candidate) {
	for i := range c.Config.Subjects {
		if r := &c.Config.Subjects[i]; r.Match != everySubject && !r.subject.wild {
			list = append(list, candidate{r.Match, "for " + formatSpan(r.Duration)})
		}
	}
	return list
}

func holdersThere(_ context.Context, c *Composition) (list []candidate) {
	names, _, _ := c.holderNames() // nothing is offered where they cannot be read
	for _, name := range names {
		list = append(list, candidate{name, "a holder"})
	}
	return list
}

// authorsThere are those whose facts the media may have.
func authorsThere(ctx context.Context, c *Composition) []candidate {
	return append(holdersThere(ctx, c), candidate{c.Config.Grantor, "the grantor"})
}

// proposalsThere are the proposals that the media show no answer to.
func proposalsThere(ctx context.Context, c *Composition) (list []candidate) {
	s := &survey{comp: c}
	r, _, err := s.readGrants(ctx, true)
	if err != nil {
		return nil
	}
	for _, a := range r.open() {
		list = append(list, candidate{a.Proposal, subjectText(a.Subject) + " for " + a.Holder})
	}
	return list
}

// mediaThere are the names of all media, as log takes them.
func mediaThere(_ context.Context, c *Composition) []candidate {
	list := []candidate{{mediumGrantor, "grants, refusals, lapsed"}, {mediumTicks, "the judge's ticks"}}
	names, _, _ := c.holderNames() // nothing is offered where they cannot be read
	for _, name := range names {
		list = append(list, candidate{name, "proposals, renewals, releases"}, candidate{name + "/" + mediumTicks, "its ticks"})
	}
	return slices.Clip(list)
}
