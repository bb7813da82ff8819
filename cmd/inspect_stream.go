package cmd

import "context"

// streams says that rows can be printed as they are found: they need no sorting, and the form is one of lines.
func (o *inspectOptions) streams() bool {
	return o.filter.sort == "" && (!o.output.data() || o.output.form == "jsonl")
}

// stream prints the leases as they are found, so that many begin to appear at once, and then what is said about
// them: beside JSON lines on stderr.
func (s *survey) stream(ctx context.Context, o *inspectOptions) error {
	if o.output.form == "jsonl" {
		return s.streamLines(ctx, o)
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

// lineChunk is how many bytes of JSON lines are written at once.
const lineChunk = 64 << 10

func (s *survey) streamLines(ctx context.Context, o *inspectOptions) error {
	var buf []byte
	flush := func() error {
		err := s.comp.app.print(buf)
		buf = buf[:0]
		return err
	}
	err := s.eachLease(ctx, o, func(row leaseRow) error {
		line, err := encodeJSON(row, "")
		if err != nil {
			return err
		}
		if buf = append(buf, line...); len(buf) < lineChunk {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	_, _ = s.comp.app.Err.Write(s.words())
	return flush()
}
