package cmd

import (
	"strings"

	"github.com/olekukonko/tablewriter"
)

// pager draws a table without borders page by page, so that a long one begins to appear at once. A column never
// gets narrower; one that a later page makes wider is wider from there on.
type pager struct {
	header []string
	print  func([]byte) error
	pageOf int // rows of the first page; later ones are longer

	widths []int
	rows   [][]string
	shown  int // rows printed so far
}

// The rows of the first page, and of the others.
const (
	firstPage = 200
	nextPages = 4000
)

func newPager(header []string, print func([]byte) error) *pager {
	return &pager{header: header, print: print, pageOf: firstPage, widths: make([]int, len(header))}
}

// add takes one row, whose cells are escaped here.
func (p *pager) add(cells []string) error {
	p.rows = append(p.rows, escapeAll(cells))
	if len(p.rows) < p.pageOf {
		return nil
	}
	p.pageOf = nextPages
	return p.flush()
}

// flush prints what was not printed yet. Without any row not even the headers are.
func (p *pager) flush() error {
	if len(p.rows) == 0 {
		return nil
	}
	lines := p.rows
	if p.shown == 0 {
		lines = append([][]string{escapeAll(p.header)}, lines...)
	}
	for _, line := range lines {
		for i, cell := range line {
			p.widths[i] = max(p.widths[i], cellWidth(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		p.draw(&b, line)
	}
	p.shown += len(p.rows)
	p.rows = p.rows[:0]
	return p.print([]byte(b.String()))
}

// draw writes one line. What would only pad its end is left out.
func (p *pager) draw(b *strings.Builder, line []string) {
	last := len(line) - 1
	for last > 0 && strings.TrimRight(line[last], " ") == "" {
		last--
	}
	for i, cell := range line[:last+1] {
		if i == last {
			b.WriteString(strings.TrimRight(cell, " "))
			break
		}
		b.WriteString(cell)
		for range p.widths[i] - cellWidth(cell) + 2 {
			b.WriteByte(' ')
		}
	}
	b.WriteByte('\n')
}

// cellWidth is how many columns of a terminal a text takes.
func cellWidth(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return tablewriter.DisplayWidth(s)
		}
	}
	return len(s) // it was escaped, so that every byte is a column
}
