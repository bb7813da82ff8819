package lease

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/daolease/daolease/pkg/stream"
)

// The constructors refuse to make a defective fact: what they return, Decode gives back unchanged from what
// Encode writes. Their errors say which key is wrong; a *Defective names every one.

// NewProposal asks for a lease on a subject under a proposal id of the holder's own. The ask and the note may
// be left zero.
func NewProposal(u Units, id string, subject Subject, ask Duration, note string) (Fact, error) {
	return made(u, Fact{Kind: Proposal, Proposal: id, Subject: subject, Duration: ask, Note: note})
}

// Withdrawal is the same proposal, taken back. Its ask is left out: it asks for nothing any more.
func Withdrawal(proposal Fact) (Fact, error) {
	if proposal.Kind != Proposal {
		return Fact{}, fmt.Errorf("a %s cannot be withdrawn", proposal.Kind)
	}
	proposal.Duration, proposal.Withdrawn = Duration{}, true
	return made(Units{}, proposal)
}

// GrantTerms is what a grant says. Max, Proposal, Token and Note may be left zero.
type GrantTerms struct {
	Lease    string
	Subject  Subject
	Holder   string
	Duration Duration
	Max      Duration
	Proposal string
	Token    int64
	Note     string
}

// NewGrant grants a lease.
func NewGrant(u Units, t GrantTerms) (Fact, error) {
	return made(u, Fact{Kind: Grant, Lease: t.Lease, Subject: t.Subject, Holder: t.Holder, Duration: t.Duration,
		Max: t.Max, Proposal: t.Proposal, Token: t.Token, Note: t.Note})
}

// RefusalTerms is what a refusal says. All but Proposal may be left zero, but no holder heeds a refusal that
// does not name it (SPEC 8).
type RefusalTerms struct {
	Proposal string
	Holder   string // the proposer
	Reason   string
	By       string // the lease in the way
	HeldBy   string // who holds that
}

// NewRefusal refuses a proposal.
func NewRefusal(u Units, t RefusalTerms) (Fact, error) {
	return made(u, Fact{Kind: Refusal, Proposal: t.Proposal, Holder: t.Holder, Reason: t.Reason, By: t.By, HeldBy: t.HeldBy})
}

// NewRelease gives a lease back.
func NewRelease(lease string) (Fact, error) { return made(Units{}, Fact{Kind: Release, Lease: lease}) }

// NewLapsed records that a lease has ended and was taken back. The reason may be empty.
func NewLapsed(lease string, cause Cause, reason string) (Fact, error) {
	return made(Units{}, Fact{Kind: Lapsed, Lease: lease, Cause: cause, Reason: reason})
}

// NewRenewal is evidence that the holder of a lease is alive.
func NewRenewal(lease string) (Fact, error) { return made(Units{}, Fact{Kind: Renewal, Lease: lease}) }

// NewTick is a reading. Boot may be empty; the raw clock, in ms, goes in when hasClock says so.
func NewTick(u Units, reading Duration, boot string, clock int64, hasClock bool) (Fact, error) {
	f := Fact{Kind: Tick, Reading: reading, Boot: boot, HasClock: hasClock}
	if hasClock {
		f.Clock = clock
	}
	return made(u, f)
}

// made lets a fact through that survives being written and read.
func made(u Units, f Fact) (Fact, error) {
	for _, t := range [...]struct {
		key  key
		text string
	}{
		{keyLease, f.Lease}, {keyProposal, f.Proposal}, {keySubject, f.Subject.text}, {keyHolder, f.Holder},
		{keyNote, f.Note}, {keyReason, f.Reason}, {keyBy, f.By}, {keyHeldBy, f.HeldBy}, {keyBoot, f.Boot},
	} {
		if err := cleanText(t.text); err != nil {
			return Fact{}, fmt.Errorf("%s: %w", t.key, err)
		}
	}
	if f.Token < 0 || f.Token > Limit {
		return Fact{}, fmt.Errorf("%s: %d is not between 1 and 2^52", keyToken, f.Token)
	}
	if f.Clock < 0 || f.Clock > Limit {
		return Fact{}, fmt.Errorf("%s: %d is not between 0 and 2^52", keyClock, f.Clock)
	}
	line := f.Encode()
	if len(line) > stream.MaxValue {
		return Fact{}, fmt.Errorf("a %s of %d bytes is longer than the %d of a value", f.Kind, len(line), stream.MaxValue)
	}
	return Decode(line, u)
}

// cleanText refuses what JSON cannot carry unchanged.
func cleanText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("invalid UTF-8")
	}
	return nil
}
