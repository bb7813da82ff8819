package judge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// countsReads is a memory medium that counts how often it is read.
type countsReads struct {
	*stream.Memory
	reads *int
}

func (c countsReads) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	*c.reads++
	return c.Memory.Read(ctx, from, most, yield)
}

// idler is a medium that is polled, and tells whether something has come.
type idler struct {
	stream.Medium
	reads *int
	news  *bool
}

func (m idler) Idle(stream.Cursor) (stream.State, bool) { return stream.Blocked, !*m.news }

func (m idler) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	*m.reads++
	return m.Medium.Read(ctx, from, most, yield)
}

// A medium that tells that nothing has come is drained by that, so that silence on it counts.
func TestIdleMediaAreNotRead(t *testing.T) {
	w, reads, news := newWorld(t, "a"), 0, true
	w.cfg.Cadence = ms(1000)
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name == "a" {
			return idler{m, &reads, &news}
		}
		return m
	}
	w.start()
	w.grant("L", "/s", "a", 50)
	w.renew("a", "L")
	w.okAt(1)
	reads, news = 0, false
	w.okAt(20)
	wantList(t, "lapsed", ended(w.okAt(60)), "L by silence")
	if reads != 0 {
		t.Fatalf("%d reads of an idle medium", reads)
	}
	news = true
	if w.okAt(61); reads != 1 {
		t.Fatalf("%d reads of one with news", reads)
	}
}

// connections is a judge with so many quiet memory media.
func connections(t testing.TB, n int, hinted bool) (w *world, reads *int) {
	w, reads = newWorld(t), new(int)
	w.cfg.Hinted = hinted
	cfg := w.config()
	cfg.Ledger, cfg.Durable = nil, false
	for i := range n {
		name := fmt.Sprint("conn-", i)
		w.media[name] = stream.NewMemory(name)
		cfg.Media.Add(name, countsReads{w.media[name], reads})
	}
	j, err := judge.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.judge = j
	w.okAt(1)
	return w, reads
}

func TestQuietMemoryMediaAreNotRead(t *testing.T) {
	for _, hinted := range []bool{false, true} {
		w, reads := connections(t, 50000, hinted)
		if *reads != 50000 {
			t.Fatalf("%d reads in the first pass", *reads)
		}
		*reads = 0
		for at := range int64(10) {
			w.okAt(2 + at*7)
		}
		if *reads != 0 {
			t.Fatalf("hinted %t: %d reads of quiet media", hinted, *reads)
		}
		w.grant("L", "/s", "conn-7", 20)
		w.okAt(80)
		w.renew("conn-7", "L")
		w.wantRenewed(w.okAt(85), "L")
		if *reads > 2 {
			t.Fatalf("%d reads for one renewal", *reads)
		}
		w.okAt(95)
		w.okAt(105)
		wantList(t, "lapsed", ended(w.okAt(106)), "L by silence")
		if *reads > 2 {
			t.Fatalf("%d reads: a quiet medium is known to say nothing", *reads)
		}
	}
}

// populated is a judge with so many live leases of so many holders, of which nothing is due.
func populated(t testing.TB, leases int) *world {
	w := newWorld(t, "a")
	cfg := w.config()
	cfg.Ledger, cfg.Durable, cfg.Cadence = nil, false, ms(1<<30)
	j, err := judge.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	judge.Populate(j, leases, func(i int) string { return fmt.Sprint("holder-", i) })
	w.judge = j
	w.okAt(1)
	return w
}

func TestAPassWithNothingDueDoesNotWalkAllLeases(t *testing.T) {
	took := func(leases int) time.Duration {
		w := populated(t, leases)
		least := time.Hour
		for at := range int64(50) {
			w.tick(2 + at)
			began := time.Now()
			r := w.pass()
			least = min(least, time.Since(began))
			if r.Outcome != judge.OK || r.NextDue == nil {
				t.Fatalf("%+v", r)
			}
		}
		return least
	}
	few, many := took(100), took(50_000)
	if many > 20*few+time.Millisecond {
		t.Fatalf("a pass takes %v with 100 leases and %v with 50,000", few, many)
	}
}

func BenchmarkPassNothingDue(b *testing.B) {
	for _, leases := range []int{1_000, 100_000, 1_000_000} {
		if testing.Short() && leases > 100_000 {
			continue
		}
		b.Run(fmt.Sprint(leases), func(b *testing.B) {
			w := populated(b, leases)
			at := int64(2)
			for b.Loop() {
				w.tick(at)
				w.pass()
				at++
			}
		})
	}
}

func BenchmarkPassQuietMedia(b *testing.B) {
	for _, hinted := range []bool{false, true} {
		b.Run(fmt.Sprint("50000/hinted=", hinted), func(b *testing.B) {
			w, _ := connections(b, 50_000, hinted)
			for b.Loop() {
				w.pass()
			}
		})
	}
}
