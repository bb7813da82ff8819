package cmd

import (
	"bytes"
	"context"
	"strings"
)

// streams says that rows can be printed as they are found: they need no sorting, and the form lets them.
func (o *inspectOptions) streams() bool { return o.filter.sort == "" && o.output.form != "yaml" }

// stream prints the leases as they are found, so that many begin to appear at once, and then what is said about
// them: beside JSON lines on stderr.
func (s *survey) stream(ctx context.Context, o *inspectOptions) error {
	switch o.output.form {
	case "jsonl":
		return s.streamLines(ctx, o)
	case "json":
		return s.streamDocument(ctx, o)
	}
	wide := o.output.form == "wide"
	s.lean = !wide
	p := newPager(leaseHeader(wide), s.comp.app.print)
	if err := s.eachLease(ctx, o, func(row leaseRow) error { return p.add(s.leaseCells(&row, wide)) }); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	text := "\n"
	if p.shown == 0 {
		s.filtered = o.filter.narrows()
		text = s.nothing() + "\n\n"
	}
	return s.comp.app.print(append([]byte(text), s.words()...))
}

func (s *survey) streamLines(ctx context.Context, o *inspectOptions) error {
	out := chunks{print: s.comp.app.print}
	err := s.eachLease(ctx, o, func(row leaseRow) error {
		line, err := encodeJSON(row, "")
		if err != nil {
			return err
		}
		return out.add(line)
	})
	if err != nil {
		return err
	}
	_, _ = s.comp.app.Err.Write(s.words())
	return out.flush()
}

// noLeases is the list of leases in a document without any. A string has no newline in it, so it is there once.
const noLeases = "\n  \"leases\": []"

// streamDocument prints the document as encode would, but what stands before the leases, and the leases, at once.
func (s *survey) streamDocument(ctx context.Context, o *inspectOptions) error {
	out := chunks{print: s.comp.app.print}
	before, _, err := s.around()
	if err == nil {
		err = out.add(before, []byte(strings.TrimSuffix(noLeases, "]")))
	}
	if err != nil {
		return err
	}
	separator, end := "\n    ", "]"
	err = s.eachLease(ctx, o, func(row leaseRow) error {
		text, err := encodeJSON(row, "  ")
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), []byte("\n    "))
		err = out.add([]byte(separator), text)
		separator, end = ",\n    ", "\n  ]"
		return err
	})
	if err != nil {
		return err
	}
	_, after, err := s.around() // with what was found on the way
	if err == nil {
		err = out.add([]byte(end), after)
	}
	if err != nil {
		return err
	}
	return out.flush()
}

// around is the document before and after its leases.
func (s *survey) around() (before, after []byte, err error) {
	text, err := encodeJSON(s.doc, "  ")
	before, after, _ = bytes.Cut(text, []byte(noLeases))
	return before, after, err
}

// lineChunk is how many bytes of JSON are written at once.
const lineChunk = 64 << 10

// chunks gathers what is printed into writes of that size.
type chunks struct {
	print func([]byte) error
	buf   []byte
}

func (c *chunks) add(parts ...[]byte) error {
	for _, part := range parts {
		c.buf = append(c.buf, part...)
	}
	if len(c.buf) < lineChunk {
		return nil
	}
	return c.flush()
}

func (c *chunks) flush() error {
	err := c.print(c.buf)
	c.buf = c.buf[:0]
	return err
}
