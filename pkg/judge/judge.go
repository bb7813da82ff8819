package judge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// ErrPlace means that the ledger was written in another folder: a copy, or a restored backup (SPEC 6).
var ErrPlace = errors.New("the ledger belongs to another folder")

// Names by which the media that are no holder's are reported, and their cursors kept.
const (
	ticksName   = "ticks"
	grantorName = "grantor"
	policyName  = "policy"
	ledgerName  = "ledger"
	holdersPath = "holders/" // before the name of a holder's medium, among the cursors
)

// Judge reads the media, concludes, takes back and records. One goroutine calls its methods; appends to the
// media may come from any.
type Judge struct {
	cfg     Config
	ledger  *ledger
	journal *journal // nil: process-scoped, or only looking

	sources map[string]*source // holders' media by name
	bySole  map[string]map[string]*source
	mixed   map[string]*source
	owners  ring                // whose turn it is to be drained
	again   map[string]struct{} // media that were not drained to their end

	began    Beginning
	fresh    bool // a tick has been drained since this start
	lastAll  int64
	alledYet bool
	drains   uint64 // of the holders' media, so far
	running  map[*live]struct{}
	own      map[stream.Position]struct{} // appends of our own that are still ahead of the cursor
	kept     kept                         // facts about leases not known yet
	newborn  []*live                      // granted since the last pass
	late     *observations                // of earlier passes, still to be stamped
	leftover *dirty                       // of the last pass, not to be journaled before that
	aside    Report                       // what was dropped between passes, for the next report

	*pass // the pass under way, nil between passes
}

// New makes a judge and, where there is a ledger, begins an incarnation: the ledger is read back and the
// beginning noted and synced. Errors: ErrLost, ErrPlace, a unit that leases still need, or the machine's.
func New(ctx context.Context, cfg Config) (*Judge, error) {
	j, err := assemble(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Ledger == nil {
		if cfg.Durable {
			return nil, errors.New("a durable resource needs a ledger: what a judge knew would die with it, and the lease live on")
		}
		j.began, j.ledger.first = First, true
		j.ledger.incarnation = 1
		return j, nil
	}
	if err := j.begin(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

func assemble(cfg Config) (*Judge, error) {
	if cfg.Units.Base() == "" {
		cfg.Units = lease.DefaultUnits()
	}
	if cfg.NewID == nil {
		cfg.NewID = func() string { return rand.Text()[:16] }
	}
	if cfg.DrainBudget == 0 {
		cfg.DrainBudget = 65536
	}
	if cfg.DrainBytes == 0 {
		cfg.DrainBytes = 16 << 20
	}
	if cfg.Media == nil {
		cfg.Media = stream.NewSet(nil)
	}
	if cfg.Ticks == nil || cfg.Facts == nil || cfg.Resolver == nil {
		return nil, errors.New("a judge needs a tick stream, a grantor's stream and a resolver")
	}
	cadence, err := cfg.Units.Count(cfg.Cadence)
	if err != nil {
		return nil, fmt.Errorf("cadence: %w", err)
	}
	tolerance := int64(0)
	if cfg.Tolerance.N != 0 {
		if tolerance, err = cfg.Units.Count(cfg.Tolerance); err != nil {
			return nil, fmt.Errorf("tolerance: %w", err)
		}
	}
	j := &Judge{
		cfg: cfg, ledger: newLedger(cfg.Units, cadence, tolerance),
		sources: map[string]*source{}, bySole: map[string]map[string]*source{}, mixed: map[string]*source{},
		again: map[string]struct{}{}, running: map[*live]struct{}{}, own: map[stream.Position]struct{}{},
	}
	for _, name := range cfg.Media.Names() {
		j.Attach(name, cfg.Media.Get(name))
	}
	return j, nil
}

// load reads the ledger's medium back and decides how to begin.
func (j *Judge) load(ctx context.Context) (replay, error) {
	read, err := readBack(ctx, j.cfg.Ledger, j.ledger)
	if err != nil {
		return read, err
	}
	l := j.ledger
	switch {
	case read.group == 0 && (j.cfg.Expected || read.later):
		return read, fmt.Errorf("%w: %s", ErrLost, lossOf(read))
	case read.group == 0:
		j.began, l.first = First, true
		return read, nil
	}
	if err := l.rescale(j.cfg.Units, l.base); err != nil {
		return read, err
	}
	if r, remembers := j.cfg.Resolver.(Rememberer); remembers {
		r.Remember(l.names)
	}
	moved := l.place != j.cfg.Place
	if moved && !j.cfg.Adopt && !j.cfg.Look {
		return read, fmt.Errorf("%w (it was written in %s, this is %s)", ErrPlace, l.place, j.cfg.Place)
	}
	j.began = Threaded
	if moved || l.boot != j.cfg.Boot || read.discarded > 0 || l.incarnation < j.cfg.Reached {
		j.began, l.resume = Recovered, l.resume || !j.cfg.Look
	}
	return read, nil
}

func lossOf(read replay) string {
	if read.found {
		return "it holds no whole group"
	}
	return "it is missing or empty, although a judge has run here"
}

// begin starts the next incarnation on the ledger as it was found.
func (j *Judge) begin(ctx context.Context) error {
	read, err := j.load(ctx)
	if err != nil {
		return err
	}
	l := j.ledger
	if err := l.accepted(j.cfg.Accept); err != nil {
		return err
	}
	base := l.units.Base()
	j.journal = &journal{medium: j.cfg.Ledger, end: read.end, group: read.group, base: base, most: j.cfg.Retention}
	for e := range l.pending {
		e.onDisk = true
	}
	l.incarnation++
	l.boot, l.place = j.cfg.Boot, j.cfg.Place
	d := &delta{Start: l.start(base), Incarnation: l.incarnation}
	anew := read.group > 0 && (l.base != base || l.format != ledgerFormat)
	l.base, l.format = base, ledgerFormat
	if anew {
		return j.journal.rewrite(ctx, l) // in another unit, or another format
	}
	if err := j.journal.write(ctx, d, true); err != nil {
		return fmt.Errorf("beginning incarnation %d: %w", l.incarnation, err)
	}
	j.journal.settled = l.weight(base)
	return nil
}

// Began says how the ledger was found.
func (j *Judge) Began() Beginning { return j.began }

// Incarnation is the number of this start.
func (j *Judge) Incarnation() uint64 { return j.ledger.incarnation }

// Now is the newest reading known, in base units; false before a first tick.
func (j *Judge) Now() (int64, bool) { return j.ledger.now, j.ledger.ticked }

// LostGrants says that the grantor's stream had a gap: nothing is granted until it is recovered.
func (j *Judge) LostGrants() bool { return j.ledger.lostGrants }

// CursorOf is where the judge reads a medium on: "ticks", "grantor", "policy" or a holder's name.
func (j *Judge) CursorOf(medium string) stream.Cursor {
	switch medium {
	case ticksName, grantorName, policyName:
		return j.ledger.cursors[medium]
	}
	return j.ledger.cursors[holdersPath+medium]
}
