package cmd

import (
	"errors"
	"strconv"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// leaseView is what propose, grant and renew print about one lease (SPEC 9). What is not known is null.
type leaseView struct {
	Lease    *string         `json:"lease"`
	Proposal *string         `json:"proposal"`
	Subject  lease.Subject   `json:"subject"`
	Holder   string          `json:"holder"`
	Token    *int64          `json:"token"`
	Duration lease.Duration  `json:"duration"`
	Left     *lease.Duration `json:"left"` // until the bound; null where none is known

	dir string // the composition, where it is not plain which
}

func viewOfFact(f lease.Fact) leaseView {
	v := leaseView{Lease: orNil(f.Lease), Proposal: orNil(f.Proposal), Subject: f.Subject, Holder: f.Holder, Duration: f.Duration}
	if f.Token > 0 {
		v.Token = &f.Token
	}
	return v
}

// view is one lease of this holder's.
func (t *turn) view(held *lease.Held) leaseView {
	v := leaseView{Lease: orNil(held.Lease), Proposal: orNil(held.Proposal), Subject: held.Subject, Holder: t.name, Duration: held.Duration}
	if held.Token > 0 {
		token := held.Token
		v.Token = &token
	}
	if _, known := t.h.Bound(held.Lease); known {
		left := t.comp.Config.Units.Of(t.h.Left(held.Lease, t.reading))
		v.Left = &left
	}
	return v
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// id is the lease, or the proposal that has no lease yet.
func (v leaseView) id() string {
	switch {
	case v.Lease != nil:
		return *v.Lease
	case v.Proposal != nil:
		return *v.Proposal
	}
	return ""
}

// env is the view as lines for sh. Every value is quoted, whatever is in it.
func (v leaseView) env() string {
	var b strings.Builder
	line := func(name, value string) {
		b.WriteString("export DAOLEASE_" + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n")
	}
	if v.dir != "" {
		line("DIR", v.dir)
	}
	if v.Lease != nil {
		line("LEASE", *v.Lease)
	}
	if v.Proposal != nil {
		line("PROPOSAL", *v.Proposal)
	}
	line("SUBJECT", v.Subject.Text())
	line("HOLDER", v.Holder)
	if v.Token != nil {
		line("TOKEN", strconv.FormatInt(*v.Token, 10))
	}
	if !v.Duration.IsZero() {
		line("DURATION", v.Duration.String())
	}
	if v.Left != nil {
		line("LEFT", v.Left.String())
	}
	return b.String()
}

// showLease prints one lease in the form asked for. What cannot be printed is said: it has been granted or proposed,
// and its id is known nowhere else.
func (a *App) showLease(o *outputFlag, v leaseView) error {
	err := a.printLease(o, v)
	if out := (*stdoutError)(nil); errors.As(err, &out) && v.id() != "" {
		what := "lease"
		if v.Lease == nil {
			what = "proposal"
		}
		a.say("%s %s on %s was not printed", what, v.id(), shortened(subjectText(v.Subject)))
	}
	return err
}

func (a *App) printLease(o *outputFlag, v leaseView) error {
	switch o.form {
	case "json":
		text, err := encodeJSON(v, "  ")
		if err != nil {
			return err
		}
		return a.print(text)
	case "env":
		text := v.env()
		if a.OutIsTerminal {
			text = string(escapeUnicode([]byte(text), func(r rune) string { return escape(string(r)) }))
		}
		return a.print([]byte(text))
	}
	return a.print([]byte(escape(v.id()) + "\n"))
}
