package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Dump is everything persistent that the judge knows, one thing a line, for comparison.
func Dump(j *Judge) string { return j.ledger.dump() }

// Replayed is what a judge that begins now would read back: its dump, the number of the last whole group, and
// how many lines at the end are discarded.
func Replayed(ctx context.Context, m stream.Medium, j *Judge) (dump string, group uint64, discarded int, err error) {
	l := newLedger(j.ledger.units, j.ledger.cadence, j.ledger.tolerance)
	read, err := readBack(ctx, m, l)
	return l.dump(), read.group, read.discarded, err
}

// ReplayedFrom replays these lines.
func ReplayedFrom(ctx context.Context, lines [][]byte, j *Judge) (dump string, err error) {
	m := stream.NewMemory("ledger")
	for _, line := range lines {
		m.AppendRaw(line)
	}
	dump, _, _, err = Replayed(ctx, m, j)
	return dump, err
}

// LastOfGroup says that a line of the ledger ends a group, and the group's number.
func LastOfGroup(line []byte) (group uint64, last bool) {
	g, whole := decodeLine(line)
	return g.Group, whole && g.Last
}

// GroupOf is what a line of the ledger carries, as JSON.
func GroupOf(line []byte) map[string]any {
	var m map[string]any
	if _, whole := decodeLine(line); whole {
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
	}
	return m
}

// LedgerLine makes a sound line of the ledger from a group number and a delta's members.
func LedgerLine(group uint64, members string) []byte {
	var d delta
	if err := json.Unmarshal([]byte(members), &d); err != nil {
		panic(err)
	}
	line, err := journalLine{Group: group, Last: true, delta: d}.encode()
	if err != nil {
		panic(err)
	}
	return line
}

// Populate gives the judge live leases that are renewed at its now, without media or journal.
func Populate(j *Judge, leases int, holder func(i int) string) {
	j.ledger.ticked = true
	for i := range leases {
		e := &Entry{
			Lease: fmt.Sprint("lease-", i), Subject: lease.StringSubject(fmt.Sprint("/srv/", i)), Holder: holder(i),
			Duration: lease.Duration{Unit: "ms", N: 1 << 40}, Token: int64(i + 1),
		}
		if _, err := j.ledger.put(e); err != nil {
			panic(err)
		}
	}
}

// Snapshot are the lines of a ledger that holds what the judge knows.
func Snapshot(j *Judge) [][]byte {
	j.ledger.base, j.ledger.format = j.ledger.units.Base(), ledgerFormat
	return Taken(j.ledger.snapshotLines(j.ledger.base))
}

// Taken are values, once and for all.
func Taken(values stream.Values) (lines [][]byte) {
	for v, err := range values {
		if err != nil {
			panic(err)
		}
		lines = append(lines, bytes.Clone(v))
	}
	return lines
}

// Kept is how many facts about unknown leases are kept.
func Kept(j *Judge) int { return len(j.kept.list) }

func (l *ledger) dump() string {
	var b strings.Builder
	line := func(key string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s %s\n", key, text)
	}
	line("pass, incarnation", []uint64{l.pass, l.incarnation})
	line("now", []any{l.now, l.ticked})
	line("completed", []any{l.completed, l.watched})
	line("start", l.start(l.base))
	line("lost grants", l.lostGrants)
	line("token", l.token)
	line("cursors", l.cursors)
	line("known", l.names)
	oldest := l.now
	for _, e := range l.sorted() {
		line("lease", l.entry(e))
		line("due", []any{l.passes(e), e.Pending(), l.awaited(e)})
		oldest = min(oldest, e.LastObservation)
	}
	line("stalls", slices.DeleteFunc(append([]stall{}, l.stalls...), func(s stall) bool { return s.To <= oldest }))
	for _, name := range sortedKeys(l.holders) {
		if h := l.holders[name]; len(h.Queue)+len(h.Answered) > 0 {
			h = h.copy()
			line("holder "+name, h)
		}
	}
	line("asking", slices.Sorted(maps.Keys(l.asking)))
	line("seen", slices.Sorted(slices.Values(l.seenOrder)))
	return b.String()
}

// Journaled says that nothing waits to be journaled.
func Journaled(j *Judge) bool {
	return j.leftover == nil && j.late == nil && len(j.newborn) == 0 &&
		(j.journal == nil || len(j.journal.carried)+len(j.journal.tried)+len(j.journal.rewrote) == 0)
}

// OnDisk is one lease as a judge that begins now would read it back.
func OnDisk(ctx context.Context, m stream.Medium, units lease.Units, id string) (e Entry, live bool) {
	l := newLedger(units, 0, 0)
	if _, err := readBack(ctx, m, l); err != nil {
		panic(err)
	}
	if e := l.find(id); e != nil {
		return *l.entry(e), true
	}
	return Entry{}, false
}

// LedgerPart makes a sound line of the ledger that does not end its group.
func LedgerPart(group uint64, members string) []byte {
	var d delta
	if err := json.Unmarshal([]byte(members), &d); err != nil {
		panic(err)
	}
	line, err := journalLine{Group: group, delta: d}.encode()
	if err != nil {
		panic(err)
	}
	return line
}

// Remembered counts what is kept in memory by holder or medium.
func Remembered(j *Judge) int {
	return len(j.sources) + len(j.bySole) + len(j.mixed) + len(j.again) + len(j.owners.media) + len(j.running) +
		j.ledger.count + len(j.ledger.freed) + len(j.ledger.rares) + len(j.ledger.urgent) + len(j.ledger.pending) +
		j.ledger.byLease.used + j.ledger.byHolder.used + j.ledger.bySubject.used + j.ledger.byProposal.used +
		len(j.ledger.holders) + len(j.ledger.asking) + len(j.own)
}

// Carried is how many changes wait for the next group.
func Carried(j *Judge) int { return len(j.journal.carried) }

// WithSum is a line of the ledger with the sum that belongs to it; any other text stays as it is.
func WithSum(line []byte) []byte {
	if len(line) < sumLength || !bytes.HasPrefix(line, []byte(sumPrefix)) {
		return line
	}
	rest := line[sumLength:]
	return append(fmt.Appendf(nil, `%s%08x",`, sumPrefix, sumOf(rest)), rest...)
}

// GrantedIn are the leases that a sound line of the ledger grants.
func GrantedIn(line []byte) (ids []string) {
	if g, whole := decodeLine(line); whole {
		for _, e := range g.Entries {
			ids = append(ids, e.Lease)
		}
	}
	return ids
}

// Departed is how many ids of leases that have gone are remembered.
func Departed(j *Judge) int { return len(j.ledger.seenOrder) }

// Compact replaces the ledger by a snapshot, as a pass does when it has outgrown what it holds.
func Compact(ctx context.Context, j *Judge) error { return j.journal.rewrite(ctx, j.ledger) }
