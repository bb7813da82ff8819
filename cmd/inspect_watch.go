package cmd

import (
	"bytes"
	"context"
	"strings"
	"time"
)

// The most and the least between two looks of inspect --watch.
const (
	watchMost  = 2 * time.Second
	watchLeast = 250 * time.Millisecond
)

// watchLeases shows what inspect does again and again until a signal: in place on a terminal, elsewhere as one JSON
// document a line whenever more has changed than the time.
func watchLeases(ctx context.Context, c *Composition, o *inspectOptions, args []string) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	ctx, done := c.app.whileRead(ctx)
	defer done()
	w := &leaseWatch{app: c.app, o: o, one: len(args) > 0, lines: !c.app.OutIsTerminal || o.output.form == "jsonl"}
	every := min(max(c.Config.Cadence/2, watchLeast), watchMost)
	for {
		s, err := c.survey(ctx)
		if err == nil {
			err = s.gather(ctx, o, args)
		}
		switch {
		case ctx.Err() != nil:
			return endOfOutput(ctx)
		case err != nil:
			return err
		}
		if err := w.show(s); err != nil {
			return err
		}
		if pause(ctx, every) != nil {
			if !w.lines && c.app.styled() {
				_ = c.app.print([]byte("\n")) // whatever comes next on the terminal begins below
			}
			return endOfOutput(ctx)
		}
	}
}

// leaseWatch is what is on the screen, or was printed last.
type leaseWatch struct {
	app   *App
	o     *inspectOptions
	one   bool // the history of one lease, not the listing
	lines bool
	last  string
}

func (w *leaseWatch) show(s *survey) error {
	s.filtered = w.o.filter.narrows()
	if w.lines {
		key, err := encodeJSON(timeless(s.doc), "")
		if err != nil || string(key) == w.last {
			return err
		}
		w.last = string(key)
		text, err := encodeJSON(s.doc, "")
		if err != nil {
			return err
		}
		return w.app.print(text)
	}
	text, err := s.tables(w.o.output.form == "wide", w.one)
	if err != nil {
		return err
	}
	text = append(text, s.words()...)
	if !w.app.styled() {
		return w.app.print(append(text, '\n'))
	}
	return w.app.print(w.screen(text))
}

// watchTail is how many lines at the end stay on a screen that is too short.
const watchTail = 4

// screen draws over what is there. What is longer or wider than the terminal is cut, and that is shown.
func (w *leaseWatch) screen(text []byte) []byte {
	width, height := w.app.Size()
	if width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) > height-1 {
		tail := min(watchTail, height/2) // says whose conclusion all of it is, so the middle goes
		keep := max(height-2-tail, 1)
		lines = append(append(lines[:keep:keep], "…"), lines[len(lines)-tail:]...)
	}
	var b bytes.Buffer
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(cutCells(line, width) + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	return b.Bytes()
}

// cutCells cuts a text to so many columns, and shows that it was cut.
func cutCells(s string, width int) string {
	if cellWidth(s) <= width {
		return s
	}
	cut, used := 0, 0
	for i, r := range s {
		if used += cellWidth(string(r)); used > width-1 {
			break
		}
		cut = i + len(string(r))
	}
	return s[:cut] + "…"
}

// timeless is a document without what changes with every reading.
func timeless(doc inspection) inspection {
	doc.AsOf, doc.Now, doc.Conclusion = nil, nil, ""
	doc.Judge = judgeState{Passing: doc.Judge.Passing, Lock: doc.Judge.Lock, Incarnation: doc.Judge.Incarnation}
	rows := make([]leaseRow, len(doc.Leases))
	for i, row := range doc.Leases {
		row.Left, row.StartAgo, row.LastAgo, row.ResumedAgo, row.StartTime, row.Why = nil, nil, nil, nil, "", ""
		rows[i] = row
	}
	doc.Leases = rows
	return doc
}
