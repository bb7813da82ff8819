package cmd

import (
	"bytes"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// The least width of a chart, and the width where no terminal says one.
const (
	leastWidth = 40
	plainWidth = 80
)

// The letters of a chart in a terminal. What comes later hides what comes before it in the same column.
const (
	cellLive    = '-'
	cellRenewed = '|'
	cellUnknown = '?'
	cellPending = '~'
	cellBegin   = '['
	cellBefore  = '<' // it began before the left edge
	cellGoesOn  = '>' // it has not ended
)

// text draws the chart for a terminal, as wide as that is.
func (ch *chart) text(app *App) []byte {
	width := plainWidth
	if app.Size != nil {
		if w, _ := app.Size(); w > 0 {
			width = w
		}
	}
	width = max(width, leastWidth)
	subject, holder := ch.columns(width)
	room := width - subject - holder - 4
	var b bytes.Buffer
	for _, bar := range ch.bars {
		name := ""
		if bar.first {
			name = subjectText(bar.Row.Subject)
		}
		b.WriteString(padCells(cutCells(escape(name), subject), subject) + "  " + padCells(cutCells(escape(bar.Row.Holder), holder), holder) + "  ")
		b.WriteString(strings.TrimRight(paint(ch.cells(&bar, room), app.styled()), " ") + "\n")
	}
	margin := strings.Repeat(" ", subject+holder+4)
	for _, line := range ch.axis(room) {
		b.WriteString(strings.TrimRight(margin+line, " ") + "\n")
	}
	b.WriteString("\n")
	for _, line := range []string{
		"[ granted  - held  | renewed  ? evidence unknown  ~ pending  > goes on",
		"ended by: R release  C cap  P policy  S silence", ch.words(),
	} {
		b.WriteString(wrapCells(line, width))
	}
	return b.Bytes()
}

// columns are the widths of the two columns of names: what they need, and at most a third of the whole.
func (ch *chart) columns(width int) (subject, holder int) {
	for _, bar := range ch.bars {
		subject, holder = max(subject, cellWidth(escape(subjectText(bar.Row.Subject)))), max(holder, cellWidth(escape(bar.Row.Holder)))
	}
	most := width / 3
	holder = min(holder, max(most/2, most-subject))
	return min(subject, most-holder), holder
}

// column is where a reading lies in so many columns.
func (ch *chart) column(reading int64, room int) int {
	reading = min(max(reading, ch.from), ch.to)
	return int(float64(reading-ch.from) / float64(ch.to-ch.from) * float64(room-1))
}

// cells draws one lease.
func (ch *chart) cells(bar *bar, room int) []byte {
	row := bytes.Repeat([]byte{' '}, room)
	fill := func(from, to int64, with byte) {
		for i := ch.column(from, room); i <= ch.column(to, room); i++ {
			row[i] = with
		}
	}
	fill(bar.Start, bar.end, cellLive)
	for _, at := range bar.Renewals {
		if at >= ch.from {
			row[ch.column(at, room)] = cellRenewed
		}
	}
	for _, doubt := range bar.Doubts {
		to := doubt.To
		if to == 0 {
			to = bar.end
		}
		if to >= ch.from {
			fill(doubt.From, to, cellUnknown)
		}
	}
	if bar.Pending > 0 {
		fill(bar.Pending, bar.end, cellPending)
	}
	row[ch.column(bar.Start, room)] = cellBegin
	if bar.cutFrom {
		row[0] = cellBefore
	}
	row[ch.column(bar.end, room)] = cellGoesOn
	if !bar.going {
		row[ch.column(bar.end, room)] = causeLetter(bar.Cause)
	}
	return row
}

// paint colours the letters of a row.
func paint(row []byte, styled bool) string {
	if !styled {
		return string(row)
	}
	var b strings.Builder
	colour := ""
	for _, cell := range row {
		if next := cellColour(cell); next != colour {
			if colour != "" {
				b.WriteString("\x1b[0m")
			}
			b.WriteString(next)
			colour = next
		}
		b.WriteByte(cell)
	}
	if colour != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

func cellColour(cell byte) string {
	switch cell {
	case ' ':
		return ""
	case cellUnknown:
		return "\x1b[33m" // yellow
	case cellPending:
		return "\x1b[35m" // magenta
	case causeLetter(lease.BySilence):
		return "\x1b[1;31m" // red
	case causeLetter(lease.ByCap):
		return "\x1b[1;34m" // blue
	case causeLetter(lease.ByPolicy):
		return "\x1b[1;36m" // cyan
	case causeLetter(lease.ByRelease):
		return "\x1b[1m"
	}
	return "\x1b[32m" // green
}

// axis is the readings below the bars, and the times of day below them where those were noted: round ones, or where
// there is no room for two of those, the edges.
func (ch *chart) axis(room int) []string {
	marks := ch.marks(max(2, room/14))
	lines, put := ch.axisOf(marks, room)
	if put < 2 {
		lines, _ = ch.axisOf([]int64{ch.from, ch.to}, room)
	}
	return lines
}

// axisOf marks readings, and says how many of them it had room to name.
func (ch *chart) axisOf(marks []int64, room int) (lines []string, named int) {
	line, readings, clocks := bytes.Repeat([]byte{'-'}, room), "", ""
	for _, reading := range marks {
		at := ch.column(reading, room)
		line[at] = '+'
		if text := putCells(readings, at, ch.reading(reading), room); text != readings {
			readings = text
			named++
		}
		clocks = putCells(clocks, at, ch.clock(reading), room)
	}
	if clocks == "" {
		return []string{string(line), readings}, named
	}
	return []string{string(line), readings, clocks}, named
}

// putCells appends a mark to a line at a column, or before it where it would not fit in; not at all where something
// is in its way.
func putCells(text string, at int, mark string, room int) string {
	at = min(at, room-cellWidth(mark))
	if at < 0 || text != "" && at < cellWidth(text)+2 {
		return text
	}
	return padCells(text, at) + mark
}

// padCells pads a text to so many columns.
func padCells(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-cellWidth(s)))
}

// wrapCells breaks a line at spaces where it is too long.
func wrapCells(s string, width int) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.SplitAfter(s, " ") {
		if n := cellWidth(strings.TrimRight(word, " ")); used > 0 && used+n > width {
			b.WriteString("\n")
			used = 0
		}
		b.WriteString(word)
		used += cellWidth(word)
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
