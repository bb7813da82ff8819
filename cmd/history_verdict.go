package cmd

import (
	"fmt"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// verdict is what a reader makes of a sound fact of a known author, and why it does not count.
func (h *history) verdict(m *historyMedium, author string, f lease.Fact) (verdict, why string) {
	switch {
	case m.ticks:
		return h.tick(m, f)
	case f.Kind == lease.Tick:
		return lineIgnored, "a tick counts on a tick stream only"
	case author == lease.Nobody:
		return lineWrongAuthor, "nobody is known to have written it"
	case m.name == mediumGrantor:
		return h.grantors(author, f)
	}
	return h.holders(author, f)
}

// tick judges a fact on a tick stream (SPEC 2, inadmissible).
func (h *history) tick(m *historyMedium, f lease.Fact) (verdict, why string) {
	if f.Kind != lease.Tick {
		return lineIgnored, "only ticks count on a tick stream"
	}
	at, err := h.comp.Config.Units.Count(f.Reading)
	if err != nil {
		return lineDefective, err.Error()
	}
	if newest := h.readings[m.name]; at < newest {
		return lineInadmissible, fmt.Sprintf("older than %v, which was observed", h.comp.Config.durationOf(newest))
	}
	h.readings[m.name] = at
	return lineCounts, ""
}

// grantors judges a fact on the grantor's stream.
func (h *history) grantors(author string, f lease.Fact) (verdict, why string) {
	if author != h.comp.Config.Grantor {
		return lineWrongAuthor, fmt.Sprintf("%s is not the grantor", author)
	}
	switch f.Kind {
	case lease.Grant:
		return h.grant(f)
	case lease.Refusal:
		return h.refusal(f)
	case lease.Lapsed:
		return h.lapsed(f)
	}
	return lineWrongAuthor, fmt.Sprintf("the grantor wrote it, and a %v is its holder's to write", f.Kind)
}

func (h *history) grant(f lease.Fact) (verdict, why string) {
	key := proposalOf{f.Holder, f.Proposal}
	switch {
	case h.grants[f.Lease] != nil:
		return lineInadmissible, "a repeat: this lease was granted before"
	case f.Token != 0 && f.Token <= h.token:
		return lineInadmissible, fmt.Sprintf("token %d is not above %d, which was given before", f.Token, h.token)
	case f.Proposal != "" && h.answered[key]:
		return lineInadmissible, "a second answer to this proposal"
	}
	h.grants[f.Lease] = &grantedLease{Fact: f}
	h.token = max(h.token, f.Token)
	if f.Proposal != "" {
		h.answered[key] = true
	}
	return lineCounts, ""
}

func (h *history) refusal(f lease.Fact) (verdict, why string) {
	if f.Holder == "" {
		h.refused[f.Proposal] = true
		return lineCounts, ""
	}
	key := proposalOf{f.Holder, f.Proposal}
	if h.answered[key] {
		return lineInadmissible, "a second answer to this proposal"
	}
	h.answered[key] = true
	return lineCounts, ""
}

func (h *history) lapsed(f lease.Fact) (verdict, why string) {
	g := h.grants[f.Lease]
	switch {
	case g == nil:
		return lineIgnored, "an unknown lease: no grant of it is retained on the grantor's stream"
	case g.lapsed != nil:
		return lineInadmissible, "a repeat: this lease was recorded as lapsed before"
	}
	g.lapsed = &f
	return lineCounts, ""
}

// holders judges a fact on a holder's medium.
func (h *history) holders(author string, f lease.Fact) (verdict, why string) {
	switch f.Kind {
	case lease.Proposal:
		return h.proposal(author, f)
	case lease.Renewal, lease.Release:
		return h.evidence(author, f)
	}
	return lineWrongAuthor, fmt.Sprintf("a %v is the grantor's to write, and %s wrote it", f.Kind, author)
}

func (h *history) proposal(author string, f lease.Fact) (verdict, why string) {
	key := proposalOf{author, f.Proposal}
	a := h.asked[key]
	switch {
	case a == nil:
		f.Holder = author
		h.asked[key] = &askedFor{Fact: f, withdrawn: f.Withdrawn}
		h.order = append(h.order, key)
	case f.Withdrawn && !a.withdrawn:
		a.withdrawn = true
	default:
		return lineIgnored, "a repeat: this was proposed before"
	}
	return lineCounts, ""
}

func (h *history) evidence(author string, f lease.Fact) (verdict, why string) {
	holder, known := h.holderOf(f.Lease)
	g := h.grants[f.Lease]
	switch {
	case !known:
		return lineIgnored, "an unknown lease: no grant of it is retained on the grantor's stream"
	case holder != author:
		return lineWrongAuthor, fmt.Sprintf("%s wrote this %v, and the lease is %s's", author, f.Kind, holder)
	case g == nil:
		return lineCounts, ""
	case g.released && f.Kind == lease.Release:
		return lineInadmissible, "a repeat: this lease was released before"
	case g.released:
		return lineIgnored, "its holder had released the lease before"
	}
	g.released = f.Kind == lease.Release
	return lineCounts, ""
}

// briefFact is a fact in a few words.
func briefFact(f lease.Fact) string {
	switch f.Kind {
	case lease.Proposal:
		return briefProposal(f)
	case lease.Grant:
		text := fmt.Sprintf("%s on %s to %s for %v", f.Lease, subjectText(f.Subject), f.Holder, f.Duration)
		return text + briefWords(", max ", f.Max.String(), ", token ", tokenText(f.Token), ", answers ", f.Proposal, ": ", f.Note)
	case lease.Refusal:
		return f.Proposal + briefWords(" of ", f.Holder, ": ", f.Reason, ", in the way is ", f.By, " of ", f.HeldBy)
	case lease.Lapsed:
		return f.Lease + " by " + string(f.Cause) + briefWords(": ", f.Reason)
	case lease.Tick:
		return f.Reading.String()
	}
	return f.Lease
}

func briefProposal(f lease.Fact) string {
	if f.Withdrawn {
		return f.Proposal + " on " + subjectText(f.Subject) + " is withdrawn"
	}
	return f.Proposal + " on " + subjectText(f.Subject) + briefWords(" for ", f.Duration.String(), ": ", f.Note)
}

// briefWords joins pairs of a word and what it introduces, leaving out what is not there.
func briefWords(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(pairs[i] + pairs[i+1])
		}
	}
	return b.String()
}

func tokenText(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}
