package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// adapter turns a clock of the machine into readings on a tick stream (SPEC 5). One goroutine calls it.
//
// A reading is the greatest of what is known, and never less than one before. What has elapsed is added from
// the newest tick of the same boot, because that tick says where the raw clock stood. What is known without a
// clock is taken as it stands by a judge: adding to it what passed since some older tick would count time
// twice, and hasten a conclusion. A holder does add it, because its bound must not run on unseen.
type adapter struct {
	medium   stream.Medium
	units    lease.Units
	external bool
	clock    func() int64 // raw, in ms
	boot     func() string
	holder   bool

	cursor   stream.Cursor
	greatest int64  // the greatest reading on the stream, base units; 0: none yet
	marked   anchor // the newest tick that says where the clock stood
	noted    anchor // the same from elsewhere
	at       int64  // where the clock stood at the last tick appended here, ms
}

// anchor is a reading and where the raw clock of a boot stood at it.
type anchor struct {
	reading int64 // base units
	boot    string
	clock   int64 // ms
}

// errNoReading is a tick stream on which time has not begun.
var errNoReading = errors.New("no tick yet: under ticks: external whoever appends ticks owns time")

func newAdapter(c *Config, medium stream.Medium, clock func() int64, boot func() string) *adapter {
	return &adapter{medium: medium, units: c.Units, external: c.external(), clock: clock, boot: boot}
}

// remember adds a reading from outside of the stream with the boot and raw clock at which it was taken: a
// holder's notes.
func (a *adapter) remember(reading int64, boot string, clock int64) {
	if reading >= a.noted.reading {
		a.noted = anchor{reading, boot, clock}
	}
}

// tick appends a tick, under the stream's append lock, and answers its reading in base units. It is at least
// least, the ledger's now or that of the holder's notes. Under ticks: external nothing is appended, and the
// newest reading is answered, or errNoReading.
func (a *adapter) tick(ctx context.Context, least int64) (int64, error) {
	if a.external {
		return a.peek(ctx, least)
	}
	under, release, err := a.medium.Hold(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := a.catchUp(ctx); err != nil {
		return 0, err
	}
	clock, boot := a.clock(), a.boot()
	reading, ms, err := a.next(least, clock, boot)
	if err != nil {
		return 0, err
	}
	fact, err := lease.NewTick(a.units, lease.Duration{Unit: "ms", N: ms}, boot, clock, true)
	if err != nil {
		return 0, err
	}
	done, err := under.Append(ctx, stream.How{Cursor: true}, fact.Encode())
	if err != nil {
		return 0, err
	}
	a.observe(fact)
	a.at = clock
	if done.Cursor != "" {
		a.cursor = done.Cursor
	}
	return reading, nil
}

// peek is the reading that a tick would have now. It writes nothing.
func (a *adapter) peek(ctx context.Context, least int64) (int64, error) {
	if err := a.catchUp(ctx); err != nil {
		return 0, err
	}
	if a.external {
		if a.greatest == 0 {
			return 0, errNoReading
		}
		return a.greatest, nil
	}
	reading, _, err := a.next(least, a.clock(), a.boot())
	return reading, err
}

// next is the reading to be taken at a raw clock, in base units and in ms. It is whole in ms, rounded up.
func (a *adapter) next(least, clock int64, boot string) (reading, ms int64, err error) {
	one, has := a.units.Magnitude("ms")
	if !has {
		return 0, 0, errors.New("the table of units has no ms")
	}
	at := max(a.greatest, least, a.noted.reading)
	for _, from := range []anchor{a.marked, a.noted} {
		elapsed, same := from.elapsed(clock, boot)
		if !same {
			continue
		}
		if elapsed > lease.Limit/one {
			return 0, 0, fmt.Errorf("%d ms have elapsed, more than a reading can tell", elapsed)
		}
		start := from.reading
		if a.holder {
			start = max(start, least)
		}
		at = max(at, start+elapsed*one)
	}
	ms = max((at+one-1)/one, 1)
	if ms > lease.Limit/one {
		return 0, 0, fmt.Errorf("reading %d ms is over the bound of 2^52", ms)
	}
	return ms * one, ms, nil
}

// elapsed is what has passed since an anchor, in ms, if that was in this boot. A raw clock that stands before
// the anchor's adds nothing.
func (f anchor) elapsed(clock int64, boot string) (int64, bool) {
	if f.reading == 0 || f.boot == "" || f.boot != boot {
		return 0, false
	}
	return max(clock-f.clock, 0), true
}

// catchUp reads the ticks that followed what was read last, from the oldest retained the first time.
func (a *adapter) catchUp(ctx context.Context) error {
	minted := false
	for {
		if a.cursor == "" {
			cursor, err := a.medium.Mint(ctx, stream.Oldest)
			if err != nil {
				return err
			}
			a.cursor, minted = cursor, true
		}
		answer := a.medium.Read(ctx, a.cursor, stream.Budget{}, func(v stream.Value) bool {
			if fact, err := lease.Decode(v.Bytes, a.units); v.Damage == "" && err == nil {
				a.observe(fact)
			}
			return true
		})
		if answer.Cursor != "" {
			a.cursor = answer.Cursor
		}
		switch answer.State {
		case stream.Blocked, stream.End:
			return nil
		case stream.OK, stream.Gap:
			if err := ctx.Err(); err != nil {
				return err
			}
		case stream.Mismatch, stream.Invalid:
			if minted {
				return answer.Err
			}
			a.cursor = ""
		default:
			return answer.Err
		}
	}
}

// observe takes a tick that is not older than one before; others are inadmissible.
func (a *adapter) observe(fact lease.Fact) {
	reading, err := a.units.Count(fact.Reading)
	if fact.Kind != lease.Tick || err != nil || reading < a.greatest {
		return
	}
	a.greatest = reading
	if fact.HasClock && fact.Boot != "" {
		a.marked = anchor{reading, fact.Boot, fact.Clock}
	}
}
