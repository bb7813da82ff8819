package cmd

import (
	"context"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// historyMedium is one medium as history reads it: the grantor's stream, a holder's, or a tick stream.
type historyMedium struct {
	name   string // grantor, ticks, NAME or NAME/ticks
	owner  string // whose folder it lies in
	dir    string
	ticks  bool
	file   *stream.File
	cursor stream.Cursor   // where to read on; empty before the first read
	oldest stream.Position // where that began
}

// historyReader reads media in rounds: the grantor's stream first, then the others by name. It may be called
// again for what has come since.
type historyReader struct {
	*history
	grantor *historyMedium
	media   []*historyMedium // the others, sorted
	emit    func(*historyMedium, historyLine) error
	tried   map[string]bool // unknown leases for which the grantor's stream was read once more
}

// maxTried bounds for how many unknown leases the grantor's stream is read once more.
const maxTried = 4096

func newHistoryReader(c *Composition, emit func(*historyMedium, historyLine) error) (*historyReader, error) {
	file, err := c.grantorStream()
	if err != nil {
		return nil, err
	}
	return &historyReader{
		history: newHistory(c), emit: emit, tried: map[string]bool{},
		grantor: &historyMedium{name: mediumGrantor, owner: c.Config.Grantor, dir: c.grantorDir(), file: file},
	}, nil
}

// addHolders adds the holders' media that are wanted and not there yet.
func (r *historyReader) addHolders(wanted func(name string) bool) error {
	names, _, err := r.comp.holderNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.add(wanted, name, name, r.comp.holderDir(name), r.comp.holderStream); err != nil {
			return err
		}
	}
	return nil
}

// addTicks adds the tick streams that are wanted and not there yet.
func (r *historyReader) addTicks(wanted func(name string) bool) error {
	judges := func(string) (*stream.File, error) { return r.comp.ticks() }
	if err := r.add(wanted, mediumTicks, r.comp.Config.Grantor, r.comp.grantorDir(), judges); err != nil {
		return err
	}
	names, _, err := r.comp.holderNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.add(wanted, name+"/"+mediumTicks, name, r.comp.holderDir(name), r.comp.holderTicks); err != nil {
			return err
		}
	}
	return nil
}

func (r *historyReader) add(wanted func(name string) bool, name, owner, dir string, open func(string) (*stream.File, error)) error {
	for _, m := range r.media {
		if m.name == name {
			return nil
		}
	}
	if !wanted(name) {
		return nil
	}
	file, err := open(owner)
	if err == nil {
		r.media = append(r.media, &historyMedium{name: name, owner: owner, dir: dir, ticks: name != owner, file: file})
	}
	return err
}

// round reads everything that is there now.
func (r *historyReader) round(ctx context.Context) error {
	if err := r.drain(ctx, r.grantor); err != nil {
		return err
	}
	for _, m := range r.media {
		if err := r.drain(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// drain reads one medium to its end. At evidence about an unknown lease the grantor's stream is read once more
// first: the grant may have come after it was read.
func (r *historyReader) drain(ctx context.Context, m *historyMedium) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	for {
		var failed error
		again := false
		answer := m.file.Read(ctx, m.cursor, stream.Budget{}, func(v stream.Value) bool {
			l, bad := r.read(m, v)
			if again = r.tryAgain(m, l.fact); again {
				return false
			}
			failed = r.emit(m, r.judge(ctx, m, v, l, bad))
			return failed == nil
		})
		if answer.Cursor != "" {
			m.cursor = answer.Cursor
		}
		switch {
		case failed != nil:
			return failed
		case again:
			if err := r.drain(ctx, r.grantor); err != nil {
				return err
			}
			continue
		}
		if done, err := r.came(m, answer); done || err != nil {
			return err
		}
	}
}

// begin mints the cursor of the first read at the oldest that is retained.
func (m *historyMedium) begin(ctx context.Context) error {
	if m.cursor != "" {
		return nil
	}
	cursor, err := m.file.Mint(ctx, stream.Oldest)
	if err == nil {
		m.oldest, err = stream.CursorPosition(cursor)
	}
	if err == nil {
		m.cursor = cursor
	}
	return err
}

// came takes what a read came to; true: there is no more for now.
func (r *historyReader) came(m *historyMedium, answer stream.Answer) (bool, error) {
	switch answer.State {
	case stream.Blocked, stream.End:
		return true, nil
	case stream.OK:
		return false, nil
	case stream.Gap:
		l := historyLine{Medium: m.name}
		return false, r.emit(m, l.as("gap", lineGap, answer.Err.Error()))
	}
	return false, fmt.Errorf("reading %s: %w", m.name, answer.Err)
}

func (r *historyReader) tryAgain(m *historyMedium, f lease.Fact) bool {
	if m == r.grantor || m.ticks || !r.unknown(f) || r.tried[f.Lease] || len(r.tried) >= maxTried {
		return false
	}
	r.tried[f.Lease] = true
	return true
}
