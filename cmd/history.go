package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// history judges the facts of all media from the oldest retained, as log, inspect and check show them. It is a
// reader's judgement: no fact carries a time, so what a judge read between two of its passes, and in which order
// across media, is not in it. Facts of one medium are judged in their order, and every holder's against all that
// the grantor's stream has.
type history struct {
	comp *Composition

	grants   map[string]*grantedLease // by lease
	known    map[string]string        // holders of leases whose grant is not retained, from the ledger
	answered map[proposalOf]bool      // on the grantor's stream
	refused  map[string]bool          // proposals refused without a word on whose they are
	asked    map[proposalOf]*askedFor // on the holders' media
	order    []proposalOf             // in which they were asked
	token    int64                    // the highest so far
	readings map[string]int64         // the newest reading of each tick stream
}

// proposalOf names a proposal: two holders may use the same id.
type proposalOf struct{ holder, proposal string }

// grantedLease is a lease as its grant on the grantor's stream says, and what the media say became of it.
type grantedLease struct {
	lease.Fact
	released bool
	lapsed   *lease.Fact
}

// askedFor is a proposal on its holder's medium.
type askedFor struct {
	lease.Fact
	withdrawn bool
}

func newHistory(c *Composition) *history {
	return &history{
		comp: c, grants: map[string]*grantedLease{}, known: map[string]string{}, answered: map[proposalOf]bool{},
		refused: map[string]bool{}, asked: map[proposalOf]*askedFor{}, readings: map[string]int64{},
	}
}

// What a reader makes of a line.
const (
	lineCounts       = "counts"
	lineDamaged      = "damaged"      // no line that could be a value
	lineUndecodable  = "undecodable"  // no JSON that SPEC 2 takes
	lineDefective    = "defective"    // a fact that establishes nothing by what it says itself
	lineInadmissible = "inadmissible" // one that establishes nothing by what was before it
	lineWrongAuthor  = "wrong author" // valid data about its author, and nothing else
	lineIgnored      = "ignored"      // about a lease or a medium that it cannot be about
	lineForeign      = "foreign"      // no lease fact
	lineUnresolved   = "unresolved"   // its author cannot be told now
	lineGap          = "gap"          // no line: something is lost, or the medium cannot be read
)

// historyLine is one line of a medium and what a reader makes of it.
type historyLine struct {
	Medium   string           `json:"medium"`
	Position *stream.Position `json:"position"` // null for a gap
	Author   *string          `json:"author"`   // null where nobody is known to have written it
	Kind     string           `json:"kind"`
	Brief    string           `json:"brief"`
	Counts   bool             `json:"counts"`
	Verdict  string           `json:"verdict"`
	Why      string           `json:"why,omitempty"`
	Fact     json.RawMessage  `json:"fact,omitempty"` // the line as it stands, where it is JSON

	fact  lease.Fact // zero unless it could be decoded
	named string     // the lease that a defective fact names
	text  []byte     // the line; valid until the function it was handed to returns
}

// about says that a line concerns one of these leases or proposals. A refusal that does not say whose the proposal
// is concerns the one of nobody.
func (l *historyLine) about(leases map[string]bool, proposals map[proposalOf]bool) bool {
	switch f := &l.fact; f.Kind {
	case 0:
		return l.named != "" && leases[l.named]
	case lease.Proposal:
		return proposals[proposalOf{l.Medium, f.Proposal}]
	case lease.Refusal:
		return proposals[proposalOf{f.Holder, f.Proposal}] || f.Holder == "" && proposals[proposalOf{"", f.Proposal}]
	default:
		return leases[f.Lease] || f.Proposal != "" && proposals[proposalOf{f.Holder, f.Proposal}]
	}
}

// read is the next line of a medium, not judged yet. Bad says why it is no sound fact.
func (h *history) read(m *historyMedium, v stream.Value) (l historyLine, bad error) {
	at := v.Position
	l = historyLine{Medium: m.name, Position: &at, text: v.Bytes}
	if v.Damage == "" {
		l.fact, bad = lease.Decode(v.Bytes, h.comp.Config.Units)
	}
	return l, bad
}

// judge says what a reader makes of a line that was just read.
func (h *history) judge(ctx context.Context, m *historyMedium, v stream.Value, l historyLine, bad error) historyLine {
	undecodable, defective := new(lease.Undecodable), new(lease.Defective)
	switch {
	case v.Damage != "":
		return l.as("damaged", lineDamaged, v.Damage)
	case errors.Is(bad, lease.ErrNoFact):
		l.Fact = validJSON(v.Bytes)
		return l.as("foreign", lineForeign, "no lease fact")
	case errors.As(bad, &undecodable):
		return l.as("undecodable", lineUndecodable, undecodable.Reason)
	}
	author, unresolved := h.author(ctx, m, v)
	l.Author, l.Fact, l.Brief = orNil(author), v.Bytes, briefFact(l.fact)
	switch {
	case errors.As(bad, &defective):
		l.named = leaseNamed(v.Bytes)
		l.Brief = l.named
		return l.as("defective", lineDefective, strings.TrimPrefix(defective.Error(), "defective: "))
	case unresolved != nil:
		return l.as(l.fact.Kind.String(), lineUnresolved, "its author cannot be told now")
	}
	verdict, why := h.verdict(m, author, l.fact)
	return l.as(l.fact.Kind.String(), verdict, why)
}

// as completes a line.
func (l historyLine) as(kind, verdict, why string) historyLine {
	l.Kind, l.Verdict, l.Why, l.Counts = kind, verdict, why, verdict == lineCounts
	return l
}

// author is who wrote a line. The resolver knows no tick streams: their author is whose folder they lie in.
func (h *history) author(ctx context.Context, m *historyMedium, v stream.Value) (string, error) {
	if m.ticks {
		return m.owner, nil
	}
	return h.comp.attribution.Author(ctx, m.name, v)
}

// unknown says that a line is evidence about a lease of which no grant was read.
func (h *history) unknown(f lease.Fact) bool {
	if f.Kind != lease.Renewal && f.Kind != lease.Release {
		return false
	}
	_, known := h.holderOf(f.Lease)
	return !known
}

// holderOf is who holds, or held, a lease.
func (h *history) holderOf(id string) (string, bool) {
	if g := h.grants[id]; g != nil {
		return g.Holder, true
	}
	name, known := h.known[id]
	return name, known
}

// open are the proposals that the media show no answer to, in the order in which they were read.
func (h *history) open() []*askedFor {
	proposers := map[string]int{}
	for key := range h.asked {
		proposers[key.proposal]++
	}
	var list []*askedFor
	for _, key := range h.order {
		a := h.asked[key]
		loosely := h.refused[key.proposal] && proposers[key.proposal] == 1
		if !a.withdrawn && !h.answered[key] && !loosely {
			list = append(list, a)
		}
	}
	return list
}

// validJSON is a line where it is JSON, so that it can stand in JSON.
func validJSON(line []byte) json.RawMessage {
	if !json.Valid(line) {
		return nil
	}
	return line
}

// leaseNamed is the lease id that a defective fact names.
func leaseNamed(line []byte) string {
	var named struct {
		Lease any `json:"dao.lease/lease"`
	}
	if json.Unmarshal(line, &named) != nil {
		return ""
	}
	id, _ := named.Lease.(string)
	return id
}
