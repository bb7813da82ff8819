package lease

import (
	"fmt"
	"slices"

	"github.com/daolease/daolease/pkg/stream"
)

// What is what a fact meant to the holder that observed it.
type What int

// The meanings of a fact.
const (
	Nothing    What = iota // it is not about this holder, or was known
	WasGranted             // a lease was granted to this holder
	WasRefused             // a proposal of this holder was refused
	HasLapsed              // a lease of this holder was recorded as ended
	NotActedOn             // it names this holder, and never counts: Why says for what reason
	IsUnfit                // a grant was noted and answers its proposal, but is never acted on: Why says why
	TokenSeen              // a grant to another raised the highest token seen
)

// Observation is what one fact meant.
type Observation struct {
	What     What
	Lease    string
	Proposal string
	Why      string // for NotActedOn and IsUnfit, for a person
}

// BeginLook begins a look at the grantor's stream, at a reading taken before anything was read.
func (h *Holder) BeginLook(reading int64) {
	h.See(reading)
	h.began = 0
	if usable(reading) {
		h.began = reading
	}
}

// Gap tells that the look met a gap. What is read from there on may have been read before and forgotten, so
// until a look completes only grants with a token above every one seen count, as for the judge (SPEC 3).
func (h *Holder) Gap() { h.State.Gapped = true }

// EndLook ends a look at a cursor. It is complete when it has reached the end of the stream; one cut short moves
// the cursor only, because what it did not read may already hold a grant.
func (h *Holder) EndLook(at stream.Cursor, complete bool) {
	h.State.Cursor = at
	if complete && h.began != 0 {
		began := h.began
		h.State.Look = &began
		h.State.Gapped = false
	}
	h.began = 0
	h.prune()
}

// Observe takes in one fact of the grantor's stream that the resolver attributes to author. What anyone but the
// grantor wrote there is nothing, and so is every kind of fact that a grantor does not write.
func (h *Holder) Observe(author string, f Fact) Observation {
	if author != h.Grantor || author == Nobody {
		return Observation{}
	}
	switch f.Kind {
	case Grant:
		return h.grant(f)
	case Refusal:
		return h.refusal(f)
	case Lapsed:
		return h.lapsed(f)
	}
	return Observation{}
}

func (h *Holder) grant(f Fact) Observation {
	why := h.inadmissible(f)
	raised := f.Token > h.State.Token
	if raised {
		h.State.Token = f.Token
	}
	ours := f.Holder == h.Name
	switch {
	case ours && why == "":
		return h.granted(f)
	case ours:
		return Observation{What: NotActedOn, Lease: f.Lease, Proposal: f.Proposal, Why: why}
	case why == "":
		h.other(f.Lease)
	}
	if raised {
		return Observation{What: TokenSeen, Lease: f.Lease}
	}
	return Observation{}
}

// inadmissible says why a grant never counts, as far as this holder can tell; empty when it does (SPEC 2, 7). An
// inadmissible one leaves no trace but its token. Proposal ids are each holder's own.
func (h *Holder) inadmissible(f Fact) string {
	p := h.State.Proposed[f.Proposal]
	switch {
	case h.State.Leases[f.Lease] != nil, slices.Contains(h.State.Others, f.Lease):
		return "this lease id was granted before"
	case f.Token != 0 && f.Token <= h.State.Token:
		return fmt.Sprintf("its token %d is not above %d, which was granted before", f.Token, h.State.Token)
	case f.Token == 0 && h.State.Gapped:
		return "it follows a gap and has no token, so that it may be an old one"
	case f.Holder == h.Name && f.Proposal != "" && p != nil && p.Answer != "":
		return fmt.Sprintf("proposal %s was %s before", clip(f.Proposal), p.Answer)
	}
	return ""
}

// granted notes the first grant of a lease to this holder.
func (h *Holder) granted(f Fact) Observation {
	held := &Held{Lease: f.Lease, Proposal: f.Proposal, Subject: f.Subject, Duration: f.Duration, Max: f.Max,
		Token: f.Token, Basis: later(h.State.Look, nil), Seq: h.next()}
	h.State.Leases[f.Lease] = held
	if f.Proposal != "" {
		p := h.answered(f.Proposal, Granted)
		p.Lease = f.Lease
		held.Basis = later(held.Basis, p.Reading)
		// From the moment it set out to withdraw it does not hold what answers the proposal.
		held.Release = p.Withdraw
	}
	o := Observation{What: WasGranted, Lease: f.Lease, Proposal: f.Proposal}
	if held.Unfit = h.unfit(f.Duration); held.Unfit != "" {
		o.What, o.Why = IsUnfit, held.Unfit
	}
	bound, known := h.bound(held)
	held.Late = known && bound <= h.State.Now && held.Unfit == ""
	return o
}

// unfit says why a duration leaves no room for renewals; empty when it does (SPEC 7).
func (h *Holder) unfit(d Duration) string {
	n, err := h.Units.Count(d)
	if err != nil {
		return err.Error()
	}
	if n <= 2*RenewalInterval(n)+1 {
		return fmt.Sprintf("%s is too short to be renewed in time", d)
	}
	return ""
}

func (h *Holder) refusal(f Fact) Observation {
	if f.Holder != h.Name {
		return Observation{}
	}
	o := Observation{What: WasRefused, Proposal: f.Proposal}
	if p := h.State.Proposed[f.Proposal]; p != nil && p.Answer != "" {
		o.What, o.Why = NotActedOn, fmt.Sprintf("proposal %s was %s before", clip(f.Proposal), p.Answer)
		return o
	}
	p := h.answered(f.Proposal, Refused)
	p.Reason, p.By, p.HeldBy = f.Reason, f.By, f.HeldBy
	return o
}

func (h *Holder) lapsed(f Fact) Observation {
	held := h.State.Leases[f.Lease]
	if held == nil || held.Lapsed != "" {
		return Observation{}
	}
	held.Lapsed = f.Cause
	return Observation{What: HasLapsed, Lease: f.Lease, Proposal: held.Proposal}
}

// answered notes the first answer to a proposal, also to one that the state does not know: a second answer must
// be told from it.
func (h *Holder) answered(id string, a Answer) *Proposed {
	p := h.State.Proposed[id]
	if p == nil {
		p = &Proposed{}
		h.State.Proposed[id] = p
	}
	p.Answer, p.Seq = a, h.next()
	return p
}

// other notes an id that was granted to somebody else, so that a second grant of it does not count.
func (h *Holder) other(lease string) {
	h.State.Others = append(h.State.Others, lease)
	if over := len(h.State.Others) - kept; over > 0 {
		h.State.Others = slices.Delete(h.State.Others, 0, over)
	}
}

// later is the later of two readings, either of which may be unknown.
func later(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		a = b
	}
	if a == nil {
		return nil
	}
	reading := *a // a copy of its own: nothing that moves later moves a basis
	return &reading
}
