package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
)

type logOptions struct {
	follow, raw bool
	all, ticks  bool
	media       []string
	lease       string
	author      string
	kinds       []string
	idle        bool // only what does not count
	output      outputFlag
}

func (o *logOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with what comes")
	f.BoolVar(&o.raw, "raw", false, "the lines of one medium as they stand")
	f.BoolVar(&o.all, "all", false, "also lines that are no lease facts")
	f.BoolVar(&o.ticks, "ticks", false, "also the tick streams")
	f.StringArrayVar(&o.media, "medium", nil, "only this medium: grantor, ticks, `NAME` of a holder or NAME/ticks (may be repeated)")
	f.StringVar(&o.lease, "lease", "", "only facts about the lease or proposal of this `id`, or unique beginning of one")
	f.StringVar(&o.author, "author", "", "only what this `name` wrote")
	f.StringArrayVar(&o.kinds, "kind", nil, "only this `kind`: "+strings.Join(lineKinds(), ", ")+" (may be repeated)")
	f.BoolVar(&o.idle, "not-counting", false, "only what does not count, and why")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(lineKinds(), cobra.ShellCompDirectiveNoFileComp))
	addOutput(cmd, &o.output, []string{"table", "jsonl"})
	cmd.MarkFlagsMutuallyExclusive("raw", "output")
	for _, filter := range []string{"all", "lease", "author", "kind", "not-counting"} {
		cmd.MarkFlagsMutuallyExclusive("raw", filter)
	}
}

func newLogCmd(app *App) *cobra.Command {
	o := &logOptions{}
	cmd := &cobra.Command{
		Use:     "log",
		GroupID: groupAnyone,
		Short:   "Show every fact, its author, whether it counts, and why not",
		Long: `log shows every fact on every medium, the grantor's stream first, and those of one medium in their order: no
fact carries a time, so there is no order across media. Who wrote a fact is told from the medium it lies on. What
does not count is shown with the reason: it is defective, inadmissible, by the wrong author, or about a lease that
is not known. This is a reader's judgement; a judge may have read facts of different media in another order.

On a terminal what does not count is coloured: dim for what is ignored, yellow for a wrong author and what is
inadmissible, red for what is damaged, undecodable or defective, and for gaps.

Where filters let nothing through, it is said on stderr which of them nothing here meets; that is no failure. With -f
the medium of a holder who is still to come is waited for.

log changes nothing. With --raw the lines of one medium are printed byte for byte; on a terminal control
characters in them are escaped.`,
		Example: `  daolease log                       # every fact
  daolease log -f --medium alice     # what alice writes, as it comes
  daolease log --lease "$DAOLEASE_LEASE"
  daolease log --not-counting        # what is dropped or ignored, and why
  daolease log --raw --medium grantor | jq .`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.raw && len(o.media) != 1 {
				return usagef("as in: daolease log --raw --medium grantor", "--raw is about one --medium")
			}
			for _, kind := range o.kinds {
				if !slices.Contains(lineKinds(), kind) {
					return usagef("the kinds are "+strings.Join(lineKinds(), ", "), "--kind: %q is no kind", kind)
				}
			}
			c, err := find(app)
			if err != nil {
				return err
			}
			return c.whileReading(runLog(cmd.Context(), c, o))
		},
	}
	o.addFlags(cmd)
	return cmd
}

func runLog(ctx context.Context, c *Composition, o *logOptions) error {
	p := newLogPrinter(c.app, o)
	r, err := newHistoryReader(c, p.line)
	if err != nil {
		return err
	}
	if err := o.choose(r); err != nil {
		return err
	}
	if err := o.named(r); err != nil {
		return err
	}
	if err := o.whole(ctx, c); err != nil {
		return err
	}
	p.align(r)
	if o.follow {
		return follow(ctx, r, o, p)
	}
	if err := r.round(ctx); err != nil {
		return err
	}
	p.sayNothing()
	return p.flush()
}

// choose has the reader read the media that are wanted and are there.
func (o *logOptions) choose(r *historyReader) error {
	if err := r.addHolders(o.wants); err != nil {
		return err
	}
	if !o.ticks && !slices.ContainsFunc(o.media, isTicks) {
		return nil
	}
	return r.addTicks(o.wants)
}

// isTicks says that a name is that of a tick stream.
func isTicks(medium string) bool {
	return medium == mediumTicks || strings.HasSuffix(medium, "/"+mediumTicks)
}

// wants says whether a medium is to be shown.
func (o *logOptions) wants(medium string) bool {
	return len(o.media) == 0 || slices.Contains(o.media, medium)
}

// named refuses a name that is no medium's (exit 2). A holder who has a folder has media, written or not; one who
// has none yet may get it, for which log -f waits.
func (o *logOptions) named(r *historyReader) error {
	there := []string{mediumGrantor}
	for _, m := range r.media {
		there = append(there, m.name)
	}
	for _, name := range o.media {
		switch mayCome := r.comp.holderName(strings.TrimSuffix(name, "/"+mediumTicks)) == nil; {
		case slices.Contains(there, name):
		case !mayCome || !o.follow:
			return usagef("daolease log without --medium shows them all; log -f waits for one that is to come", "no medium %q is here", name)
		default:
			r.comp.app.say("no medium %s is here yet: waiting for it", name)
		}
	}
	return nil
}

// lineKinds are what a line can be.
func lineKinds() []string {
	kinds := []string{}
	for _, kind := range []lease.Kind{lease.Proposal, lease.Grant, lease.Refusal, lease.Release, lease.Lapsed, lease.Renewal, lease.Tick} {
		kinds = append(kinds, kind.String())
	}
	return append(kinds, lineDamaged, lineUndecodable, lineDefective, lineForeign, lineGap)
}

// verdictColour is how a line that does not count is shown on a terminal.
func verdictColour(verdict string) string {
	switch verdict {
	case lineWrongAuthor, lineInadmissible, lineUnresolved:
		return "\x1b[33m" // yellow
	case lineDamaged, lineUndecodable, lineDefective, lineGap:
		return "\x1b[31m" // red
	}
	return "\x1b[2m" // dim
}

// logPrinter prints lines as they come, many in one write.
type logPrinter struct {
	app           *App
	o             *logOptions
	coloured      bool
	buf           []byte
	medium, owner int             // widths of the columns of names
	begun         map[string]bool // media of which a line was read
	found         found
	said          bool // that there is nothing to show
}

// logChunk is how many bytes are written at once.
const logChunk = 64 << 10

func newLogPrinter(app *App, o *logOptions) *logPrinter {
	return &logPrinter{app: app, o: o, coloured: app.styled(), begun: map[string]bool{}}
}

// align fits the columns to the names that there are. They never get narrower.
func (p *logPrinter) align(r *historyReader) {
	p.medium, p.owner = max(p.medium, len(mediumGrantor)), max(p.owner, len(r.grantor.owner))
	for _, m := range r.media {
		p.medium, p.owner = max(p.medium, len(m.name)), max(p.owner, len(m.owner))
	}
}

// line prints a line of a medium, if it is to be shown.
func (p *logPrinter) line(m *historyMedium, l historyLine) error {
	if !p.o.wants(m.name) {
		return nil
	}
	p.sayOldest(m)
	shown := p.o.raw || p.o.shows(m, &l)
	p.found.note(p.o, &l, shown)
	if !shown {
		return nil
	}
	switch {
	case p.o.raw:
		p.raw(m, &l)
	case p.o.output.form == "jsonl":
		text, err := encodeJSON(&l, "")
		if err != nil {
			return err
		}
		p.buf = append(p.buf, text...)
	default:
		p.text(&l)
	}
	if len(p.buf) < logChunk {
		return nil
	}
	return p.flush()
}

// sayOldest says, once a medium, that something came before what it retains: evidence about a lease may then be all
// that is left of it. Which lines are shown has no part in that.
func (p *logPrinter) sayOldest(m *historyMedium) {
	if p.begun[m.name] {
		return
	}
	p.begun[m.name] = true
	if m.oldest > 0 {
		p.app.say("%s: what came before position %s is no longer retained", m.name, m.oldest)
	}
}

// sayNothing says, once, why there is nothing to show.
func (p *logPrinter) sayNothing() {
	if why := p.found.nothing(p.o); why != "" && !p.said {
		p.app.say("%s", why)
	}
	p.said = true
}

// raw prints a line as it stands. What is no line that can be handed out is said on stderr.
func (p *logPrinter) raw(m *historyMedium, l *historyLine) {
	switch {
	case l.Verdict == lineGap:
		p.app.say("%s: a gap: %s", m.name, l.Why)
	case l.Verdict == lineDamaged:
		p.app.say("%s: left out at position %s: %s", m.name, l.position(), l.Why)
	case p.app.OutIsTerminal:
		p.buf = append(append(p.buf, escape(string(l.text))...), '\n')
	default:
		p.buf = append(append(p.buf, l.text...), '\n')
	}
}

// text prints a line for people: fixed columns first, then the fact, then the verdict.
func (p *logPrinter) text(l *historyLine) {
	line := fmt.Sprintf("%-*s  %10s  %-*s  %-11s  %s", p.medium, l.Medium, l.position(), p.owner, l.author(), l.Kind, l.Brief)
	if !l.Counts {
		line = strings.TrimRight(line, " ") + "  -- " + l.verdictText()
	}
	line = escape(line)
	if p.coloured && !l.Counts {
		line = verdictColour(l.Verdict) + line + "\x1b[0m"
	}
	p.buf = append(append(p.buf, line...), '\n')
}

func (p *logPrinter) flush() error {
	err := p.app.print(p.buf)
	p.buf = p.buf[:0]
	return err
}
