package cmd

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// The measures of a picture, in pixels.
const (
	svgWidth  = 1200
	svgTop    = 72 // the title, and the words below it
	svgRow    = 24
	svgBar    = 12
	svgNames  = 300 // the most that the names take
	svgCell   = 7.3 // about the width of a letter
	svgMargin = 20
	svgFoot   = 92 // the axis and the legend
)

// svgStyle is all that a browser needs: no font, script or sheet from elsewhere.
const svgStyle = `
text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#222}
.title{font-size:15px;font-weight:bold}.subject{font-weight:bold}.soft{fill:#666}
.grid{stroke:#e2e2e2}.rule{stroke:#bbb}.live{fill:#7fbf8e}.tick{stroke:#1d6b33;fill:none}.edge{fill:#1d6b33}
.unknown{fill:url(#doubt)}.pending{fill:url(#wait)}.end{stroke:#fff;stroke-width:1.5}
.letter{font-size:10px;font-weight:bold;fill:#fff;text-anchor:middle}
.silence{fill:#c02626}.cap{fill:#2457b3}.policy{fill:#6b3fa0}.release{fill:#555}
`

// svgPatterns hatch what is not plainly held, so that it is told apart without colour.
const svgPatterns = `<defs>
<pattern id="doubt" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#fbe7a1"/><rect width="2.5" height="6" fill="#c79100"/></pattern>
<pattern id="wait" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#f6c9b0"/><circle cx="2.5" cy="2.5" r="1.2" fill="#b4481a"/></pattern>
</defs>
`

// sheet is a picture under way.
type sheet struct {
	*chart
	bytes.Buffer
	left, right float64 // the edges of the bars
	bottom      float64
}

// picture draws the chart as SVG that needs nothing else.
func (ch *chart) picture() []byte {
	names := 0
	for _, b := range ch.bars {
		names = max(names, cellWidth(escape(subjectText(b.Row.Subject))), cellWidth(svgHolder(&b)))
	}
	s := &sheet{chart: ch, right: svgWidth - svgMargin - 10, bottom: float64(svgTop + ch.height())}
	s.left = svgMargin + min(svgNames, max(80, float64(names)*svgCell)) + 16
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %[1]d %.0[2]f" role="img">`+"\n", svgWidth, s.bottom+svgFoot)
	fmt.Fprintf(s, "<title>Leases of %s</title>\n<style>%s</style>\n%s", svgText(ch.comp.Dir), svgStyle, svgPatterns)
	fmt.Fprintf(s, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	s.text(svgMargin, 28, "title", "Leases of "+ch.comp.Dir)
	s.text(svgMargin, 48, "soft", ch.words())
	s.axis()
	y := float64(svgTop)
	for i := range ch.bars {
		y = s.row(&ch.bars[i], y)
	}
	s.legend()
	s.WriteString("</svg>\n")
	return s.Bytes()
}

// height is that of all rows: each subject has a line for its name.
func (ch *chart) height() int {
	rows := 0
	for _, b := range ch.bars {
		if rows++; b.first {
			rows++
		}
	}
	return rows*svgRow + 8
}

func svgHolder(b *bar) string { return "  " + escape(b.Row.Holder) + " " + escape(b.Row.Lease) }

// svgText is a text as it may stand in XML. What cannot be printed is shown escaped.
func svgText(s string) string { return html.EscapeString(escape(s)) }

func (s *sheet) text(x, y float64, class, text string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" class="%s" xml:space="preserve">%s</text>`+"\n", x, y, class, svgText(text))
}

// x is where a reading lies.
func (s *sheet) x(reading int64) float64 {
	reading = min(max(reading, s.from), s.to)
	return s.left + (s.right-s.left)*float64(reading-s.from)/float64(s.to-s.from)
}

// row draws one lease, below the name of its subject where it is the first on it.
func (s *sheet) row(b *bar, y float64) float64 {
	room := int((s.left - svgMargin - 10) / svgCell)
	if b.first {
		fmt.Fprintf(s, `<path class="rule" d="M%d %.1fH%.1f"/>`+"\n", svgMargin, y+2, s.right)
		s.text(svgMargin, y+17, "subject", cutCells(escape(subjectText(b.Row.Subject)), room))
		y += svgRow
	}
	s.text(svgMargin, y+16, "", cutCells(svgHolder(b), room))
	top := y + (svgRow-svgBar)/2
	fmt.Fprintf(s, "<g><title>%s</title>\n", svgText(s.story(b)))
	s.stretch("live", b.Start, b.end, top)
	for _, d := range b.Doubts {
		to := d.To
		if to == 0 {
			to = b.end
		}
		s.stretch("unknown", d.From, to, top)
	}
	if b.Pending > 0 {
		s.stretch("pending", b.Pending, b.end, top)
	}
	s.ticks(b, top)
	s.edges(b, top)
	s.WriteString("</g>\n")
	return y + svgRow
}

// stretch fills a bar between two readings that lie within the edges, at least in part. It is never too thin to
// be seen.
func (s *sheet) stretch(class string, from, to int64, top float64) {
	if to < s.from {
		return
	}
	x := s.x(from)
	fmt.Fprintf(s, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`+"\n", class, x, top, max(1.5, s.x(to)-x), svgBar)
}

// ticks draws the renewals. Where several fall on one pixel, one is drawn.
func (s *sheet) ticks(b *bar, top float64) {
	var d strings.Builder
	last := math.Inf(-1)
	for _, at := range b.Renewals {
		if x := s.x(at); at >= s.from && x-last >= 1 {
			fmt.Fprintf(&d, "M%.1f %.1fv%d", x, top-2, svgBar+4)
			last = x
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(s, `<path class="tick" d="%s"/>`+"\n", d.String())
	}
}

// edges draws where a lease began and how it ended, or that it lies beyond the edges.
func (s *sheet) edges(b *bar, top float64) {
	middle := top + svgBar/2
	if b.cutFrom {
		fmt.Fprintf(s, `<path class="edge" d="M%.1f %.1fl-7 %.1fl7 %.1fz"/>`+"\n", s.left, top, svgBar/2.0, svgBar/2.0)
	} else {
		fmt.Fprintf(s, `<rect class="edge" x="%.1f" y="%.1f" width="2.5" height="%d"/>`+"\n", s.x(b.Start), top-3, svgBar+6)
	}
	if b.going {
		fmt.Fprintf(s, `<path class="edge" d="M%.1f %.1fl7 %.1fl-7 %.1fz"/>`+"\n", s.right, top, svgBar/2.0, svgBar/2.0)
		return
	}
	s.end(b.Cause, s.x(b.end), middle)
}

// end draws a cause: its colour, and its letter for those who see none.
func (s *sheet) end(cause lease.Cause, x, y float64) {
	fmt.Fprintf(s, `<circle class="end %s" cx="%.1f" cy="%.1f" r="8"/><text class="letter" x="%.1f" y="%.1f">%c</text>`+"\n", cause, x, y, x, y+3.6, causeLetter(cause))
}

// story is a lease in a line, for the pointer that rests on it.
func (s *sheet) story(b *bar) string {
	text := fmt.Sprintf("%s holds %s (lease %s) from reading %s", b.Row.Holder, subjectText(b.Row.Subject), b.Row.Lease, s.reading(b.Start))
	if b.Pending > 0 {
		text += fmt.Sprintf(", concluded by %s at %s", b.Cause, s.reading(b.Pending))
	}
	switch last := lastTry(leaseRow{}, b.tenure); {
	case b.ByHand:
		text += ", taken back by hand" + afterFailures(last) + briefWords(": ", b.Reason)
	case last.Text != "":
		text += fmt.Sprintf(", %s to take it back", counted(last.Count, "failed attempt"))
	}
	if !b.going {
		text += ", recorded as lapsed at " + s.reading(b.end)
	}
	return text + "; " + counted(len(b.Renewals), "renewal")
}

// axis draws the readings, and the times of day where those were noted.
func (s *sheet) axis() {
	for _, reading := range s.marks(int((s.right - s.left) / 110)) {
		x := s.x(reading)
		fmt.Fprintf(s, `<path class="grid" d="M%.1f %dV%.1f"/>`+"\n", x, svgTop, s.bottom+4)
		fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text><text class="soft" x="%[1]f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			x, s.bottom+18, svgText(s.reading(reading)), s.bottom+33, svgText(s.clock(reading)))
	}
}

// legend says what is what.
func (s *sheet) legend() {
	y, x := s.bottom+66, float64(svgMargin)
	swatch := func(class, text string) {
		fmt.Fprintf(s, `<rect class="%s" x="%.1f" y="%.1f" width="26" height="%d"/>`+"\n", class, x, y-10, svgBar)
		s.text(x+32, y, "", text)
		x += 32 + float64(len(text))*svgCell + 18
	}
	swatch("live", "held")
	fmt.Fprintf(s, `<path class="tick" d="M%.1f %.1fv%d"/>`+"\n", x+6, y-12, svgBar+4)
	s.text(x+14, y, "", "renewal")
	x += 14 + 7*svgCell + 18
	swatch("unknown", "evidence unknown")
	swatch("pending", "pending: concluded, not taken back yet")
	s.text(x, y, "", "ended by")
	x += 9*svgCell + 14
	for _, cause := range []lease.Cause{lease.ByRelease, lease.ByCap, lease.ByPolicy, lease.BySilence} {
		s.end(cause, x, y-4)
		s.text(x+12, y, "", string(cause))
		x += 12 + float64(len(cause))*svgCell + 20
	}
}
