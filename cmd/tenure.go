package cmd

import (
	"context"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// tenure is the story of one lease as the judge's ledger tells it, from the grant or the last compaction on.
// Readings are base units; 0 stands for what has not come.
type tenure struct {
	Row      judge.Row // as it stood last while it was in the ledger
	Start    int64
	Renewals []int64   // those that were read since told
	Doubts   []stretch // in which evidence was unknown
	Released int64     // its holder's release was read
	Revoked  int64     // the grantor's policy ends it
	Reason   string    // of that policy
	ByHand   bool      // by which its subject was taken back by hand
	Pending  int64     // it was concluded
	Cause    lease.Cause
	Tries    []try
	Gone     int64 // its lapsed was recorded
}

// stretch is the readings between two, the second of which is 0 while it goes on.
type stretch struct{ From, To int64 }

// try is one report of a reclaim procedure; without a text it succeeded.
type try struct {
	At    int64
	Count int
	Text  string
}

// tenures are the stories of many leases in the order in which they entered the ledger.
type tenures struct {
	list  []*tenure
	live  map[string]*tenure
	since int64 // the reading to which the ledger was compacted; 0: it tells everything
	now   int64 // the reading at which it was last written
	units lease.Units
}

// readTenures tells the stories of the leases that are wanted.
func (c *Composition) readTenures(ctx context.Context, wanted func(judge.Row) bool) (*tenures, error) {
	t := &tenures{live: map[string]*tenure{}, units: c.Config.Units}
	err := c.past(ctx, func(m *judge.Moment) bool {
		t.take(m, wanted)
		return ctx.Err() == nil
	})
	return t, err
}

func (t *tenures) take(m *judge.Moment, wanted func(judge.Row) bool) {
	if m.Snapshot {
		t.since = m.Now
	}
	t.now = m.Now
	for _, c := range m.Changes {
		if c.What == judge.Seeded {
			t.seed(m, c, wanted)
		}
		if one := t.live[c.Lease]; one != nil {
			one.take(m, c)
			if c.What == judge.Gone {
				delete(t.live, c.Lease)
			}
		}
	}
}

// seed begins a story. One that is told already goes on: a pass may write an entry twice, and so does a snapshot.
func (t *tenures) seed(m *judge.Moment, c judge.Change, wanted func(judge.Row) bool) {
	row, live := m.Row(c.Lease)
	if t.live[c.Lease] != nil || !live || !wanted(row) {
		return
	}
	one := &tenure{Row: row, Start: c.At, Cause: row.Reclaim.Cause}
	if row.Reclaim.State == statePending {
		one.Pending = m.Now // since when, the snapshot does not say
	}
	if row.Resumed != nil {
		since, _ := t.units.Count(*row.Resumed) // the ledger holds none that cannot be counted
		one.Doubts = append(one.Doubts, stretch{From: since})
	}
	t.live[c.Lease] = one
	t.list = append(t.list, one)
}

func (t *tenure) take(m *judge.Moment, c judge.Change) {
	if row, live := m.Row(c.Lease); live {
		t.Row = row
	}
	switch c.What {
	case judge.Observed:
		t.Renewals = append(t.Renewals, c.At)
		t.endDoubt(c.At)
	case judge.Doubted:
		t.endDoubt(c.At)
		t.Doubts = append(t.Doubts, stretch{From: c.At})
	case judge.GaveBack:
		t.Released = c.At
	case judge.EndedEarly:
		if n := len(t.Tries); n == 0 || t.Tries[n-1].Text != "" { // one that came too late decided nothing
			t.Revoked, t.Reason = c.At, c.Text
		}
	case judge.Marked:
		t.Pending, t.Cause = c.At, c.Cause
	case judge.Tried:
		t.Tries = append(t.Tries, try{c.At, c.Count, c.Text})
	case judge.Gone:
		t.Gone = c.At
		t.endDoubt(c.At)
	}
}

// endDoubt ends the window of unknown evidence that is open, if one is.
func (t *tenure) endDoubt(at int64) {
	if n := len(t.Doubts); n > 0 && t.Doubts[n-1].To == 0 {
		t.Doubts[n-1].To = at
	}
}
