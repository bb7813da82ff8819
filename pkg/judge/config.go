package judge

import (
	"context"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Config is what a judge is made of. Everything that touches the world comes in here.
type Config struct {
	Units     lease.Units    // zero: lease.DefaultUnits()
	Grantor   string         // the grantor's name; no holder may bear it
	Tolerance lease.Duration // flight time and clock skew; zero: none
	Cadence   lease.Duration // the most between two completed passes

	Ticks    stream.Medium // the judge's tick stream
	Facts    stream.Medium // the grantor's stream
	Policy   stream.Medium // revocations (see Revocation); nil: none
	Media    *stream.Set   // the holders' media; more are attached and detached between passes
	Resolver lease.Resolver

	// Ledger keeps what the judge knows. Nil is process-scoped: fine for a resource that dies with its
	// process, refused when Durable says that it does not.
	Ledger  stream.Rewriter
	Durable bool
	// Retention is the size in bytes above which the ledger is compacted, if it is also twice what it holds.
	Retention int64
	// Boot names the running time that readings count: another boot, another clock. Place names the folder
	// that the composition is; Adopt says that it was moved while no judge ran. Expected says that a judge
	// has run here: a missing ledger is then ErrLost. Reached is the newest incarnation that is known to have
	// begun here, 0 for none: a ledger that ends before it was cut, however cleanly, and is recovered.
	Boot, Place     string
	Adopt, Expected bool
	Reached         uint64
	// Look is for Observe: a ledger of another folder or boot is taken as it stands. Began still says Recovered.
	Look bool

	// Accept refuses a configuration that has no room for a live lease. Nil: every lease is accepted.
	Accept func(e Entry) error

	Rules     Rules     // nil: no proposal is answered
	Reclaimer Reclaimer // takes resources back
	Retry     Retry
	Parallel  int           // procedures at a time; 0: any number
	Tokens    Tokens        // where the highest token is kept besides; nil: nowhere
	NewID     func() string // ids for leases; nil: random

	DrainBudget int   // lines a medium and pass; 0: 65,536
	DrainBytes  int64 // bytes a medium and pass; 0: 16 MiB
	// Enough says, between rounds of a drain of the holders' media, that the pass has read long enough;
	// Draining is called when that drain begins. Both may be nil.
	Enough   func() bool
	Draining func()
	// Stamp appends a second tick, for what a pass has observed (SPEC 6, Stamps). Nil: everything carries now.
	Stamp func(ctx context.Context) error
	// Hinted says that the set hears of news: a pass then reads only media with hints, those whose silence
	// is in question, and all of them where that was most of a cadence ago (Report.All). Otherwise each pass
	// reads all.
	Hinted bool
}

// Rules are the grantor's terms.
type Rules interface {
	// Rule is the first entry that a subject matches; false when none does, or the subject is one that is
	// never granted.
	Rule(subject lease.Subject) (Rule, bool)
}

// Rule is what one entry of the terms allows.
type Rule struct {
	Name     string // tells entries apart
	Answer   bool   // proposals are answered by the judge
	Holder   func(name string) bool
	Duration lease.Duration // granted when none is asked
	Longest  lease.Duration // the most that is granted
	Max      lease.Duration // cap; zero: none
	Slots    int            // live leases at a time on one subject; 0: any number
	Limit    int            // live leases of one holder under this entry; 0: any number
}

// Retry is how the delay between attempts grows, in base units of readings. Initial 0: every pass.
type Retry struct{ Initial, Max int64 }

// Tokens keeps the highest token outside the streams, so that one is never given twice. Both are called
// under the append lock of the grantor's stream.
type Tokens interface {
	Highest(ctx context.Context) (int64, error)
	// Raise answers when the new highest is on disk.
	Raise(ctx context.Context, token int64) error
}

// Task is one lease to take back.
type Task struct {
	Lease, Holder string
	Subject       lease.Subject
	Cause         lease.Cause
	Reason        string // of a policy
	Token         int64
	Attempt       int // 1 for the first
	Incarnation   uint64
	// ByHand: the subject was taken back by hand. Only what still runs for it is to be stopped.
	ByHand bool
	// Row is the whole entry.
	Row Row
}

// Progress is how far a reclaim has come.
type Progress int

// What a Reclaimer answers.
const (
	Running Progress = iota // not over yet, or not begun for want of room: ask again
	Done
	Failed
)

// Reclaimer takes a resource back. It is asked again by later passes while it answers Running. It must be
// idempotent: a procedure that was killed with its judge runs again.
type Reclaimer interface {
	Reclaim(ctx context.Context, task Task) (Progress, error)
}

// Waiter is a Reclaimer whose procedures go on beside the pass.
type Waiter interface {
	// Begin is called once a pass, before its procedures start.
	Begin()
	// Wait blocks until a procedure may have reported; false: the pass shall wait no longer.
	Wait(ctx context.Context) bool
}
