package judge_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// A week of leases that come and go. Each pass grants what was proposed, some are renewed, a third is given
// back, the others fall silent; one pass in a few fails to take back. What is kept follows what is live.
func TestLeasesThatComeAndGoLeaveNothingBehind(t *testing.T) {
	total, first := 200_000, 30_000
	if testing.Short() || lives(5) < 5 {
		total = 60_000
	}
	b := newBusy(t)
	// The measure is what is kept after enough of them that every bounded memory is full.
	b.comeAndGo(first)
	heap, kept, ledger := heapInUse(), judge.Remembered(b.judge), b.ledgerSize()
	b.comeAndGo(total - first)
	if got := judge.Remembered(b.judge); got > kept+kept/4 {
		t.Errorf("%d things are kept after %d leases, %d after %d", got, total, kept, first)
	}
	if got := heapInUse(); got > heap+4<<20 {
		t.Errorf("the heap has %d KiB after %d leases, %d KiB after %d", got>>10, total, heap>>10, first)
	}
	if got, most := b.ledgerSize(), 2*max(ledger, b.cfg.Retention); got > most {
		t.Errorf("the ledger has %d bytes, more than %d", got, most)
	}
	if b.ended < total*9/10 {
		t.Errorf("only %d of %d leases have lapsed", b.ended, total)
	}
	// And when nobody comes any more, nothing is live.
	for b.now < 1<<40 && len(b.live()) > 0 {
		b.now += 10
		b.okAt(b.now)
	}
	dump, _, _, err := judge.Replayed(t.Context(), b.media["ledger"], b.judge)
	if want := judge.Dump(b.judge); err != nil || dump != want {
		t.Errorf("read back, %v:\n%s\nin memory:\n%s", err, dump, want)
	}
}

// busy is a composition in which much happens, over memory media with capacities.
type busy struct {
	*world
	now       int64
	made      int
	ended     int
	proposals int
}

// busyHolders is how many holders come and go; each proposes so many leases before a pass.
const busyHolders, busyEach = 20, 16

func newBusy(t *testing.T) *busy {
	names := make([]string, busyHolders)
	for i := range names {
		names[i] = fmt.Sprint("h", i)
	}
	b := &busy{world: newWorld(t, names...)}
	for name := range b.media {
		if name != "ledger" {
			b.media[name] = stream.NewMemory(name, stream.MemoryCapacity(128<<10))
		}
	}
	b.cfg.Rules = terms{Name: "all", Answer: true, Duration: ms(20), Longest: ms(1000)}
	b.cfg.Retention = 256 << 10
	b.hooks.do = func(task judge.Task) (judge.Progress, error) {
		b.hooks.asked = nil
		if b.now%70 == 0 && task.Attempt == 1 {
			return failing(task)
		}
		return judge.Done, nil
	}
	b.start()
	return b
}

// comeAndGo goes on until so many leases more were granted.
func (b *busy) comeAndGo(n int) {
	b.t.Helper()
	for until := b.made + n; b.made < until; {
		for i := range busyHolders {
			name := fmt.Sprint("h", i)
			for range busyEach {
				b.proposals++
				b.propose(name, fmt.Sprint("p", b.proposals), fmt.Sprint("/s/", b.proposals))
			}
		}
		b.now += 10
		b.tick(b.now)
		r := b.judge.Pass(context.Background())
		if r.Outcome != judge.OK || r.Dropped > 0 || len(r.Gaps) > 0 {
			b.t.Fatalf("the pass at %d came to %s (%s), %v, gaps %v", b.now, r.Outcome, r.Abort, r.Drops, r.Gaps)
		}
		b.made += len(r.Granted)
		b.ended += len(r.Lapsed)
		b.answer(r.Granted)
	}
}

// answer has the holders renew, or give back, what they were just granted.
func (b *busy) answer(granted []string) {
	for i, id := range granted {
		row, live := b.judge.Row(id)
		switch {
		case !live:
		case i%3 == 0:
			b.release(row.Holder, id)
		case i%3 == 1:
			b.renew(row.Holder, id)
		}
	}
}

func (b *busy) ledgerSize() int64 {
	size, err := b.media["ledger"].Size(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return size
}

// heapInUse is what is reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Ids of leases without a token, which are remembered when they have gone, are bounded too; so is what is
// remembered of a holder's proposals.
func TestWhatIsRememberedOfTheDepartedIsBounded(t *testing.T) {
	if testing.Short() || lives(5) < 5 {
		t.Skip("it takes more leases than this run has time for")
	}
	w := newWorld(t, "a").start()
	w.media[grantor] = stream.NewMemory(grantor, stream.MemoryCapacity(64<<20))
	w.start()
	most := 0
	for i := range 24 {
		for n := range 3000 {
			w.grant(fmt.Sprintf("lease-%d-%d", i, n), "/s", "a", 1)
		}
		w.okAt(int64(20 * (i + 1)))
		if r := w.okAt(int64(20*(i+1) + 19)); len(r.Lapsed) != 3000 {
			t.Fatalf("%d have lapsed in round %d", len(r.Lapsed), i)
		}
		w.hooks.asked = nil
		most = max(most, judge.Departed(w.judge))
	}
	if most != 65536 {
		t.Fatalf("%d ids are remembered", most)
	}
	if n := len(w.of(lease.Lapsed)); n != 72_000 {
		t.Fatalf("%d have lapsed", n)
	}
}
