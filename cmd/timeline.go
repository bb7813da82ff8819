package cmd

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

type timelineOptions struct {
	svg     string
	subject string
	since   spanFlag
}

func newTimelineCmd(app *App) *cobra.Command {
	o := &timelineOptions{}
	cmd := &cobra.Command{
		Use:     "timeline",
		GroupID: groupAnyone,
		Short:   "Draw leases as bars over readings",
		Long: `timeline draws every lease that the judge's ledger tells of as a bar over readings: from its grant to its end,
with its renewals, the time in which its evidence was unknown, the time in which it was pending (concluded, and not
taken back yet), and its end with the first letter of its cause: R release, C cap, P policy, S silence.

It is drawn from the ledger's own stream, as far back as its last compaction, so it is for the judge's user. Readings
are running time of the judge's machine: they stand still while it sleeps or is off. Times of day are marked ≈.
timeline changes nothing of the composition.`,
		Example: `  daolease timeline
  daolease timeline --since 1h --subject '/srv/**'
  daolease timeline --svg leases.svg # a picture for a browser`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := find(app)
			if err != nil {
				return err
			}
			return c.whileReading(timeline(cmd.Context(), c, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.svg, "svg", "", "write a self-contained SVG picture to this `file` (- is stdout); a device or FIFO is written into")
	f.StringVar(&o.subject, "subject", "", "only subjects that match this `pattern` (\"*\": all; else * not across /, ** across)")
	addSpan(f, &o.since, "since", "only the last `span` up to the newest reading", false)
	return cmd
}

func timeline(ctx context.Context, c *Composition, o *timelineOptions) error {
	chart, err := c.chart(ctx, o)
	if err != nil {
		return err
	}
	if len(chart.bars) == 0 {
		c.app.say("the judge's ledger tells of no lease%s", briefWords(" on ", escape(o.subject)))
		if o.svg == "" {
			return nil
		}
	}
	switch o.svg {
	case "":
		return c.app.print(chart.text(c.app))
	case "-":
		return c.app.print(chart.picture())
	}
	path := o.svg
	if !filepath.IsAbs(path) {
		cwd, err := c.app.Cwd()
		if err != nil {
			return err
		}
		path = filepath.Join(cwd, path)
	}
	if err := c.app.writeNamed(path, chart.picture()); err != nil {
		return fail(exitFailure, "--svg - writes it to stdout", "the picture could not be written to %s: %w", o.svg, reasonOf(err))
	}
	return nil
}

// chart is what a timeline shows, whatever draws it. Readings are base units.
type chart struct {
	comp     *Composition
	wall     *wallTimes
	from, to int64
	oldest   int64 // the reading to which the ledger goes back
	bars     []bar // by subject, then by start
}

// bar is one lease between the edges of the chart.
type bar struct {
	*tenure
	first   bool // of its subject
	cutFrom bool // it began before the left edge
	end     int64
	going   bool // it goes on past the right edge
}

// chart reads the ledger's past.
func (c *Composition) chart(ctx context.Context, o *timelineOptions) (*chart, error) {
	f := rowFilter{subject: o.subject}
	if err := f.check(); err != nil {
		return nil, err
	}
	wanted := func(r judge.Row) bool { return f.onSubject(r.Subject) }
	told := &tenures{live: map[string]*tenure{}, units: c.Config.Units}
	if err := c.ownPast(ctx, func(m *judge.Moment) bool { told.take(m, wanted); return ctx.Err() == nil }); err != nil {
		return nil, err
	}
	revoked, err := c.readRevocations(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range told.list {
		t.ByHand = t.Revoked > 0 && revoked[t.Row.Lease].Reclaimed
	}
	s := &survey{comp: c}
	s.readWall(ctx)
	ch := &chart{comp: c, wall: s.wall, to: told.now, oldest: told.since}
	ch.from = ch.to
	for _, t := range told.list {
		ch.from = min(ch.from, t.Start)
	}
	if o.since.Given {
		ch.from = max(ch.from, ch.to-c.Config.baseUp(o.since.D))
	}
	ch.to = max(ch.to, ch.from+1)
	for _, t := range told.list {
		ch.add(t)
	}
	ch.sort()
	return ch, nil
}

// add adds a lease that lies between the edges, at least in part.
func (ch *chart) add(t *tenure) {
	b := bar{tenure: t, cutFrom: t.Start < ch.from, end: t.Gone, going: t.Gone == 0}
	if b.going {
		b.end = ch.to
	}
	if b.end >= ch.from {
		ch.bars = append(ch.bars, b)
	}
}

func (ch *chart) sort() {
	slices.SortStableFunc(ch.bars, func(a, b bar) int {
		return cmp.Or(cmp.Compare(a.Row.Subject.Text(), b.Row.Subject.Text()), cmp.Compare(a.Start, b.Start))
	})
	for i := range ch.bars {
		ch.bars[i].first = i == 0 || ch.bars[i].Row.Subject.Text() != ch.bars[i-1].Row.Subject.Text()
	}
}

// causeLetter is how a cause is shown where there is room for one letter.
func causeLetter(cause lease.Cause) byte {
	switch cause {
	case lease.ByRelease:
		return 'R'
	case lease.ByCap:
		return 'C'
	case lease.ByPolicy:
		return 'P'
	case lease.BySilence:
		return 'S'
	}
	return 'E'
}

// reading is a reading for people, in a precision that fits the chart.
func (ch *chart) reading(n int64) string {
	span := ch.comp.Config.span(n)
	if whole := ch.comp.Config.span(ch.to - ch.from); whole > 20*time.Second {
		span = span.Round(time.Second)
	}
	return formatSpan(span)
}

// steps are the spans by which an axis can be marked, the finest first.
func steps() []time.Duration {
	var list []time.Duration
	add := func(unit time.Duration, counts ...time.Duration) {
		for _, n := range counts {
			list = append(list, n*unit)
		}
	}
	add(time.Millisecond, 1, 2, 5, 10, 20, 50, 100, 200, 500)
	add(time.Second, 1, 2, 5, 10, 15, 30)
	add(time.Minute, 1, 2, 5, 10, 15, 30)
	add(time.Hour, 1, 2, 3, 6, 12)
	add(24*time.Hour, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
	return list
}

// marks are round readings between the edges, at most so many.
func (ch *chart) marks(most int) []int64 {
	step := int64(1)
	for _, span := range steps() {
		if step = max(1, ch.comp.Config.baseUp(span)); (ch.to-ch.from)/step < int64(most) {
			break
		}
	}
	if least := (ch.to - ch.from) / int64(most); step < least {
		step = least // the table of units counts in something greater
	}
	var list []int64
	for at := (ch.from + step - 1) / step * step; at <= ch.to; at += step {
		list = append(list, at)
	}
	return list
}

// clock is about what time of day it was; empty where nobody noted any.
func (ch *chart) clock(n int64) string {
	if ch.wall == nil {
		return ""
	}
	at, known := ch.wall.at(n)
	if !known {
		return ""
	}
	return "≈ " + at.In(ch.wall.zone).Format("15:04:05")
}

// words says what is shown, and how far back it goes.
func (ch *chart) words() string {
	var b bytes.Buffer
	b.WriteString("readings " + ch.reading(ch.from) + briefWords(" ", ch.clock(ch.from)) + " to " + ch.reading(ch.to) + briefWords(" ", ch.clock(ch.to)))
	b.WriteString(", " + counted(len(ch.bars), "lease") + ", from the judge's ledger, which goes back to " + ch.oldestText())
	return b.String()
}

// oldestText is how far back the ledger goes.
func (ch *chart) oldestText() string {
	if ch.oldest == 0 {
		return "its beginning"
	}
	return "reading " + ch.reading(ch.oldest) + ", where it was last compacted"
}
