package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// adapterWorld is a composition with an adapter that a test makes anew as another process would.
type adapterWorld struct {
	*fakeWorld
	t      *testing.T
	comp   *Composition
	a      *adapter
	holder bool
}

func newAdapterWorld(t *testing.T, config string, holder bool) *adapterWorld {
	t.Helper()
	w := &adapterWorld{fakeWorld: newFakeWorld(t), t: t, holder: holder}
	w.comp = w.composition(t, config)
	if err := w.comp.makeHolder("a"); err != nil {
		t.Fatal(err)
	}
	w.restart()
	return w
}

func (w *adapterWorld) restart() {
	w.t.Helper()
	var err error
	if w.holder {
		w.a, err = w.comp.holderAdapter("a")
	} else {
		w.a, err = w.comp.judgeAdapter()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// want ticks, and checks the reading; a peek before it must have said the same.
func (w *adapterWorld) want(reading, least int64) {
	w.t.Helper()
	peeked, err := w.a.peek(context.Background(), least)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.a.tick(context.Background(), least)
	if err != nil {
		w.t.Fatal(err)
	}
	if got != reading || peeked != reading {
		w.t.Errorf("reading %d, peeked %d, want %d", got, peeked, reading)
	}
}

func (w *adapterWorld) append(line string) {
	w.t.Helper()
	if _, err := w.a.medium.Append(context.Background(), stream.How{}, []byte(line)); err != nil {
		w.t.Fatal(err)
	}
}

// ticksOf are all ticks on the stream.
func (w *adapterWorld) ticksOf() (facts []lease.Fact) {
	w.t.Helper()
	cursor, err := w.a.medium.Mint(context.Background(), stream.Oldest)
	if err != nil {
		w.t.Fatal(err)
	}
	a := w.a.medium.Read(context.Background(), cursor, stream.Budget{}, func(v stream.Value) bool {
		if f, err := lease.Decode(v.Bytes, w.comp.Config.Units); err == nil {
			facts = append(facts, f)
		}
		return true
	})
	if a.State != stream.Blocked {
		w.t.Fatalf("%v: %v", a.State, a.Err)
	}
	return facts
}

func TestJudgeReadings(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	w.want(1, 0) // the first reading there ever was
	w.clock.run(250)
	w.want(251, 0)
	w.want(251, 0) // no time, no more
	w.clock.suspend(3_600_000)
	w.want(251, 0) // its own sleep counts for nobody
	w.clock.run(9)
	w.restart()
	w.want(260, 0) // another process goes on
	w.clock.run(5)
	w.want(300, 300) // the ledger knows more
	w.clock.run(5)
	w.want(305, 300)
	w.clock.reboot("boot-b/time:[1]")
	w.restart()
	w.want(305, 0) // nothing is added over a reboot
	w.clock.run(10)
	w.want(315, 0)
	w.clock.reboot("boot-b/time:[2]") // the same boot in another time namespace
	w.clock.run(100_000)
	w.want(315, 0)
	w.clock.run(-50) // the clock jumps back within a boot
	w.want(315, 0)
	w.clock.run(7)
	w.want(322, 0)

	last := int64(0)
	for _, f := range w.ticksOf() {
		if f.Kind != lease.Tick || f.Reading.Unit != "ms" || f.Reading.N < last || !f.HasClock || f.Boot == "" {
			t.Errorf("tick %+v", f)
		}
		last = f.Reading.N
	}
	if f := w.ticksOf()[0]; f.Boot != "boot-a/time:[1]" || f.Clock != 5000 {
		t.Errorf("the first tick names %q and %d", f.Boot, f.Clock)
	}
}

func TestHolderReadingsCountSleep(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, true)
	w.want(1, 0)
	w.clock.suspend(3_600_000)
	w.want(3_600_001, 0)
	w.clock.run(10)
	w.want(3_600_011, 0)
}

// What is known without a clock hastens no judge, and lets no holder's bound run on unseen.
func TestReadingKnownFromElsewhere(t *testing.T) {
	judge := newAdapterWorld(t, tinyConfig, false)
	judge.want(1, 0)
	judge.clock.run(100)
	judge.want(1000, 1000)
	judge.restart()

	judge = newAdapterWorld(t, tinyConfig, false)
	judge.want(1, 0)
	judge.clock.run(100)
	judge.restart()
	judge.want(500, 500) // not 600: the 100 ms are in the 500 already
	holder := newAdapterWorld(t, tinyConfig, true)
	holder.want(1, 0)
	holder.clock.run(100)
	holder.restart()
	holder.want(600, 500)

	// Notes that name the clock go on exactly, also without any tick.
	holder = newAdapterWorld(t, tinyConfig, true)
	holder.a.remember(700, holder.clock.BootID(), holder.clock.Boot()-50)
	holder.a.remember(600, holder.clock.BootID(), 0) // an older one
	holder.want(750, 0)
	other := newAdapterWorld(t, tinyConfig, true)
	other.a.remember(700, "boot-z", 0)
	other.want(700, 0)
}

// Ticks by others: older ones and junk count for nothing, newer ones are gone on from.
func TestForeignTicks(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	w.want(1, 0)
	tick := func(ms int, more string) string {
		return fmt.Sprintf(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":%d}%s}`, ms, more)
	}
	w.append(`{"dao.lease/event":"dao.lease/tick"}`)
	w.append(`"junk"`)
	w.append(renewalLine)
	w.append(tick(50, ""))
	w.append(tick(20, `,"daolease/boot":"boot-a/time:[1]","daolease/clock":1`)) // older: inadmissible
	w.append(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"s":1}}`)
	w.want(1000, 0)
	w.clock.run(10)
	w.want(1010, 0)
	w.append(tick(2000, `,"daolease/boot":"boot-a/time:[1]","daolease/clock":5000`))
	w.clock.run(5) // 15 ms after 5000
	w.want(2015, 0)
	w.append(tick(4_503_599_627_370_496, ""))
	w.want(4_503_599_627_370_496, 0)
	w.clock.run(5)
	if _, err := w.a.tick(context.Background(), 0); err == nil || !strings.Contains(err.Error(), "2^52") {
		t.Errorf("over the bound: %v", err)
	}
}

const renewalLine = `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}`

// A stream that is lost takes nothing back; the adapter knows what it said itself.
func TestLostTickStream(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	w.want(1, 0)
	w.clock.run(100)
	w.want(101, 0)
	file := w.a.medium.(*stream.File)
	writeFile(t, file.Path(), "", 0o644)
	w.clock.run(10)
	w.want(111, 0)
	w.clock.run(10)
	w.restart()
	w.want(121, 0)
}

// Readings are in base units also where the table is finer than ms.
func TestFineTable(t *testing.T) {
	w := newAdapterWorld(t, "units: {us: 1, ms: 1000}\n"+tinyConfig, false)
	w.want(1000, 0)
	w.clock.run(3)
	w.want(4000, 0)
	w.want(6000, 5001) // whole in ms, rounded up
}

func TestExternalTicks(t *testing.T) {
	w := newAdapterWorld(t, "ticks: external\nunits: {s: 1}\n"+tinyConfig, false)
	if _, err := w.a.tick(context.Background(), 7); !errors.Is(err, errNoReading) {
		t.Errorf("before a first tick: %v", err)
	}
	w.append(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"s":5}}`)
	w.clock.run(10_000)
	w.want(5, 0)
	w.want(5, 9)
	if n := len(w.ticksOf()); n != 1 {
		t.Errorf("%d ticks: the adapter is off, and appended", n)
	}
}

func TestPeekWritesNothing(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	if _, err := w.a.peek(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if n := len(w.ticksOf()); n != 0 {
		t.Errorf("%d ticks", n)
	}
}

// The stream is read on from where it was left, not each time from its beginning.
func TestAdapterReadsOn(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	counted := &countingMedium{Medium: w.a.medium}
	w.a.medium = counted
	for range 50 {
		w.clock.run(1)
		if _, err := w.a.tick(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if counted.values > 0 {
		t.Errorf("%d of its own ticks were read again", counted.values)
	}
}

type countingMedium struct {
	stream.Medium
	values int
}

func (m *countingMedium) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	return m.Medium.Read(ctx, from, most, func(v stream.Value) bool {
		m.values++
		return yield(v)
	})
}

// Adapters of several processes go on from each other: the stream never goes back.
func TestAdaptersTogether(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	var all sync.WaitGroup
	for range 4 {
		a, err := w.comp.judgeAdapter()
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 25 {
				w.clock.run(3)
				if _, err := a.tick(context.Background(), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	facts := w.ticksOf()
	last := int64(0)
	for _, f := range facts {
		if f.Reading.N < last {
			t.Errorf("from %d back to %d", last, f.Reading.N)
		}
		last = f.Reading.N
	}
	if len(facts) != 100 || last > 301 {
		t.Errorf("%d ticks up to %d", len(facts), last)
	}
}

func TestTickThatCannotBeAppended(t *testing.T) {
	w := newAdapterWorld(t, tinyConfig, false)
	w.want(1, 0)
	if err := w.a.medium.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, err := w.a.tick(context.Background(), 0)
	wantExit(t, err, exitNotAppended)
}
