package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// wanted is which lease a command of a holder's is about: an id, a subject, or neither for the one that is held.
type wanted struct {
	id      string
	subject lease.Subject
}

// proposeHint is the remedy where nothing is held.
const proposeHint = "daolease propose SUBJECT asks for a lease"

// unanswered is a proposal that was named where a lease is wanted, and has no answer yet (exit 5).
type unanswered struct{ proposal string }

// Error says so.
func (u *unanswered) Error() string { return fmt.Sprintf("proposal %s has no answer yet", u.proposal) }

// readSubject is the subject that a word on the command line names: the string itself or, with asJSON, the JSON
// value that it is.
func readSubject(word string, asJSON bool) (lease.Subject, error) {
	if !asJSON {
		if word == "" {
			return lease.Subject{}, usagef(unsetHint, "the subject is empty")
		}
		return lease.StringSubject(word), nil
	}
	subject, err := lease.ParseSubject([]byte(word))
	if err != nil {
		return subject, usagef("without --json the subject is the word itself", "the subject is no JSON value: %w", err)
	}
	return subject, nil
}

// readNew reads a subject that is to be asked for. What is granted nowhere is refused before anything is written.
func readNew(word string, asJSON bool) (lease.Subject, error) {
	subject, err := readSubject(word, asJSON)
	if err == nil {
		if wrong := nameable(subject); wrong != nil {
			err = usagef("", "nothing is granted on it: %w", wrong)
		}
	}
	return subject, err
}

// readWanted reads which lease a command line names. DAOLEASE_LEASE stands in for an id that is not given.
func (a *App) readWanted(args []string, subject string, hasSubject, asJSON bool) (wanted, error) {
	switch {
	case hasSubject && len(args) > 0:
		return wanted{}, usagef("", "a LEASE and --subject name two leases; give one of them")
	case hasSubject:
		s, err := readSubject(subject, asJSON)
		return wanted{subject: s}, err
	case asJSON:
		return wanted{}, usagef("", "--json is about --subject")
	case len(args) > 0:
		if args[0] == "" {
			return wanted{}, usagef(unsetHint+"; without a LEASE it is the one that is held", "the LEASE is empty")
		}
		return wanted{id: args[0]}, nil
	}
	return wanted{id: a.Env("DAOLEASE_LEASE")}, nil
}

// resolve finds the lease that is wanted among those that were ever granted to this holder. usable says which
// count where several could be meant, the better ones first.
func (t *turn) resolve(ctx context.Context, w wanted, usable ...func(*lease.Held) bool) (string, error) {
	if w.id != "" {
		return t.byID(ctx, w.id, usable)
	}
	match := func(*lease.Held) bool { return true }
	what := fmt.Sprintf("holder %q holds nothing", t.name)
	if !w.subject.IsZero() {
		match = func(held *lease.Held) bool { return held.Subject.Text() == w.subject.Text() }
		what = fmt.Sprintf("holder %q holds nothing on %s", t.name, shortened(subjectText(w.subject)))
	}
	ids := t.among(match, usable)
	switch len(ids) {
	case 0:
		return "", t.nothingHeld(what, match)
	case 1:
		return ids[0], nil
	}
	return "", usagef("name one of them", "several leases are held: %s", strings.Join(ids, ", "))
}

// nothingHeld is that no lease is usable, with what became of the last one that matches: who comes too late wants to
// know why.
func (t *turn) nothingHeld(what string, match func(*lease.Held) bool) error {
	var last *lease.Held
	for _, held := range t.h.State.Leases {
		if match(held) && (last == nil || held.Seq > last.Seq) {
			last = held
		}
	}
	if last == nil {
		return fail(exitNothingHeld, proposeHint, "%s", what)
	}
	err := t.notHeld(last.Lease, t.h.Holding(last.Lease, t.reading))
	var coded *exitError
	if !errors.As(err, &coded) || coded.code != exitNothingHeld {
		return fail(exitNothingHeld, proposeHint, "%s", what)
	}
	return fail(exitNothingHeld, coded.hint, "%s: %w", what, coded.err)
}

// among are the leases that match and are usable, by the first sense of usable in which any is; sorted.
func (t *turn) among(match func(*lease.Held) bool, usable []func(*lease.Held) bool) []string {
	for _, use := range usable {
		var ids []string
		for id, held := range t.h.State.Leases {
			if match(held) && use(held) {
				ids = append(ids, id)
			}
		}
		if len(ids) > 0 {
			slices.Sort(ids)
			return ids
		}
	}
	return nil
}

// byID finds a lease by its id, a unique beginning of it, or the id of the proposal that it answers.
func (t *turn) byID(ctx context.Context, id string, usable []func(*lease.Held) bool) (string, error) {
	if t.h.State.Leases[id] != nil {
		return id, nil
	}
	if t.h.State.Proposed[id] != nil {
		return t.byProposal(id)
	}
	prefixed := func(held *lease.Held) bool { return strings.HasPrefix(held.Lease, id) }
	anyOne := append(slices.Clone(usable), func(*lease.Held) bool { return true })
	switch ids := t.among(prefixed, anyOne); len(ids) {
	case 0:
	case 1:
		return ids[0], nil
	default:
		return "", severalBegin(id, ids)
	}
	if whole, unique := t.proposalFrom(id); unique {
		return t.byProposal(whole)
	}
	found, other, err := t.longAgo(ctx, id)
	switch {
	case found != "" || err != nil:
		return found, err
	case other != "":
		return "", fail(exitNothingHeld,
			fmt.Sprintf("to pass it on, %s releases and you propose anew; to depend on it, hold a lease of your own: daolease hold SUBJECT --while %s -- CMD", other, id),
			"lease %s was granted to %s, and not to %s: nobody renews or releases for another", id, other, t.name)
	}
	return "", fail(exitNothingHeld, proposeHint, "lease %s was never granted to holder %q", id, t.name)
}

// proposalFrom is the one proposal whose id has this beginning.
func (t *turn) proposalFrom(beginning string) (id string, unique bool) {
	for each := range t.h.State.Proposed {
		if strings.HasPrefix(each, beginning) {
			if id != "" {
				return "", false
			}
			id = each
		}
	}
	return id, id != ""
}

// byProposal finds what became of one's own proposal.
func (t *turn) byProposal(id string) (string, error) {
	p := t.h.State.Proposed[id]
	switch {
	case p.Answer == lease.Refused:
		return "", t.comp.refusedError(id, p, t.name, refusalText(p, t.name))
	case p.Answer == lease.Granted && t.h.State.Leases[p.Lease] != nil:
		return p.Lease, nil
	case p.Answer == lease.Granted:
		return "", fail(exitNothingHeld, proposeHint, "proposal %s was granted lease %s, which ended long ago", id, p.Lease)
	case p.Withdraw != "":
		return "", fail(exitNothingHeld, proposeHint, "proposal %s was withdrawn", id)
	}
	return "", &exitError{code: exitTimeout, err: &unanswered{id}, hint: "try again later; daolease inspect --proposals shows what waits"}
}

// longAgo looks for a grant that the notes no longer name, or never did, in all that the grantor's stream
// retains. Such a lease is never held, but it may be released (SPEC 7). Where there is none, other is the holder to
// whom a lease of that very id was granted.
func (t *turn) longAgo(ctx context.Context, id string) (found, other string, err error) {
	grants := map[string]lease.Fact{}
	_, err = t.comp.readGrantor(ctx, t.grantor, "", func(f lease.Fact) {
		switch {
		case f.Kind != lease.Grant:
		case f.Holder != t.name && f.Lease == id:
			other = f.Holder
		case f.Holder == t.name && (strings.HasPrefix(f.Lease, id) || f.Proposal == id) && t.h.State.Leases[f.Lease] == nil:
			if _, again := grants[f.Lease]; !again {
				grants[f.Lease] = f
			}
		}
	})
	if err != nil || len(grants) != 1 {
		return "", other, err
	}
	for _, f := range grants {
		t.h.State.Leases[f.Lease] = &lease.Held{
			Lease: f.Lease, Proposal: f.Proposal, Subject: f.Subject, Duration: f.Duration, Max: f.Max, Token: f.Token, Void: true,
		}
		found = f.Lease
	}
	return found, "", nil
}

// notHeld gives the reason for which a lease is not held its exit code and a remedy.
func (t *turn) notHeld(id string, err error) error {
	var why *lease.NotHeld
	if !errors.As(err, &why) {
		return err
	}
	hint := proposeHint
	if held := t.h.State.Leases[id]; held != nil && !held.Subject.IsZero() {
		hint = "propose anew: daolease propose " + subjectWords(held.Subject)
	}
	switch why.Why {
	case lease.PastBound:
		late := t.comp.Config.span(why.Reading - why.Bound)
		return fail(exitNothingHeld, hint, "lease %s is not held any more: its bound passed %s ago, and nothing after it revives it", id, formatSpan(late))
	case lease.NotesVoid:
		return fail(exitNothingHeld, hint, "lease %s is not held: the notes about it are void, written before a reboot or lost", id)
	case lease.NoReading:
		return fail(exitNothingHeld, "whoever owns time appends ticks: daolease tick --as "+shellQuote(t.name), "lease %s is not held: there is no usable reading", id)
	}
	return fail(exitNothingHeld, hint, "%w", err)
}

// notHeldWords is why a lease is not held, readings as spans.
func (c *Composition) notHeldWords(why *lease.NotHeld) string {
	if why.Why == lease.PastBound {
		return fmt.Sprintf("its bound passed %s ago (at reading %s)", formatSpan(c.Config.span(why.Reading-why.Bound)), formatSpan(c.Config.span(why.Bound)))
	}
	return why.Error()
}

// subjectWords are the words that name a subject on a command line.
func subjectWords(s lease.Subject) string {
	if s.IsString() {
		return shellQuote(s.Text())
	}
	return "--json " + shellQuote(s.Text())
}
