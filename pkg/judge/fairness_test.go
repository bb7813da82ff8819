package judge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// polled is a medium that does not say when it has something new, as a file does not. It notes the reads.
type polled struct {
	stream.Medium
	name  string
	reads *[]string // name and how many lines
}

func (p polled) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	n := 0
	answer := p.Medium.Read(ctx, from, most, func(v stream.Value) bool {
		taken := yield(v)
		if taken {
			n++
		}
		return taken
	})
	if most.Values > 0 {
		*p.reads = append(*p.reads, fmt.Sprint(p.name, " ", n))
	}
	return answer
}

// polling is a world whose holders' media are polled; owners are the first letters of their names.
func polling(t *testing.T, holders ...string) (w *world, reads *[]string) {
	w = newWorld(t, holders...)
	reads = new([]string)
	w.cfg.Resolver = byFirstLetter{}
	w.around = func(name string, m stream.Medium) stream.Medium {
		if slices.Contains(holders, name) {
			return polled{m, name, reads}
		}
		return m
	}
	return w, reads
}

// byFirstLetter attributes as bySoleMedium does, and groups media by their first letter.
type byFirstLetter struct{ bySoleMedium }

func (byFirstLetter) Owner(medium string) string { return medium[:1] }

// flood writes lines that establish nothing.
func (w *world) flood(medium string, lines int) {
	w.write(medium, strings.TrimSuffix(strings.Repeat("{}\n", lines), "\n"))
}

func TestRoundsGoByOwnerThenByMediumAtMostSoManyLines(t *testing.T) {
	w, reads := polling(t, "a1", "a2", "b1")
	w.start()
	w.flood("a1", 2500)
	w.flood("a2", 10)
	w.flood("b1", 1500)
	w.okAt(1)
	got := strings.Join(*reads, ", ")
	if got != "a1 1024, b1 1024, a2 10, b1 476, a1 1024, a1 452" {
		t.Fatal(got)
	}
}

func TestEnoughIsObeyedAndTheNextPassGoesOnAfterTheLastOneServed(t *testing.T) {
	w, reads := polling(t, "a", "b", "c", "d")
	served := 0
	w.cfg.Draining = func() { served = 0 }
	w.cfg.Enough = func() bool { served++; return served > 2 }
	w.start()
	for at, want := range []string{"a 0, b 0, c 0", "d 0, a 0, b 0", "c 0, d 0, a 0"} {
		*reads = nil
		r := w.okAt(int64(at + 1))
		if got := strings.Join(*reads, ", "); got != want {
			t.Fatalf("pass %d read %s, want %s", at+1, got, want)
		}
		if len(r.Truncated) != 1 {
			t.Fatalf("truncated %v", r.Truncated)
		}
	}
}

func TestAtLeastOneIsServed(t *testing.T) {
	w, reads := polling(t, "a", "b", "c")
	w.cfg.Enough = func() bool { return true }
	w.start()
	for at := range int64(6) {
		w.okAt(at + 1)
	}
	if got := strings.Join(*reads, ", "); got != "a 0, b 0, c 0, a 0, b 0, c 0" {
		t.Fatal(got)
	}
}

// What the pass had no time for bars silence of that holder, and nothing else.
func TestWhatWasNotReadIsNoSilence(t *testing.T) {
	w, _ := polling(t, "a", "b", "c")
	enough := false
	w.cfg.Cadence = ms(1000)
	w.cfg.Enough = func() bool { return enough }
	w.start()
	w.okAt(1)
	for _, h := range []string{"a", "b", "c"} {
		w.grant("L"+h, "/s", h, 50)
	}
	w.grant("capped", "/s", "c", 500, `"dao.lease/max":{"ms":60}`)
	w.okAt(2)
	enough = true
	w.renew("b", "Lb")
	r := w.okAt(200)
	wantList(t, "lapsed", ended(r), "La by silence", "capped by cap")
	wantList(t, "truncated", r.Truncated, "b", "c")
	wantList(t, "lapsed", ended(w.okAt(201)))
	w.wantLive("Lb", "Lc")
	wantList(t, "lapsed", ended(w.okAt(202)), "Lc by silence")
}

// Whoever was granted the subject last comes last, whatever the names are.
func TestProposalsOfOnePassAreAnsweredInTurn(t *testing.T) {
	w := office(t, oneSlot, "c")
	var served []string
	for at := range int64(7) {
		for _, h := range []string{"a", "b", "c"} {
			w.propose(h, fmt.Sprint(h, at), "o")
		}
		r := w.okAt(10*at + 2)
		if len(r.Granted) != 1 {
			t.Fatalf("granted %v", r.Granted)
		}
		holder := w.row(r.Granted[0]).Holder
		served = append(served, holder)
		w.release(holder, r.Granted[0])
		wantList(t, "lapsed", ended(w.okAt(10*at+3)), r.Granted[0]+" by release")
	}
	wantList(t, "served", served, "a", "b", "c", "a", "b", "c", "a")
}

func TestAMediumLongerThanTheBudgetIsReadOverSeveralPasses(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.cfg.DrainBudget, w.cfg.Cadence = 10, ms(1000)
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.grant("M", "/s", "b", 50)
	w.okAt(2)
	w.flood("a", 25)
	w.renew("a", "L")
	r := w.okAt(200)
	wantList(t, "truncated", r.Truncated, "a")
	wantList(t, "lapsed", ended(r), "M by silence")
	w.okAt(201)
	w.wantRenewed(w.okAt(202), "L")
	w.wantLive("L")
}

func TestExactlyTheBudgetIsNotCutShort(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBudget = 10
	w.start()
	w.flood("a", 10)
	if r := w.okAt(1); len(r.Truncated) > 0 {
		t.Fatalf("truncated %v", r.Truncated)
	}
}

func TestBytesAreBudgetToo(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBytes = 1000
	w.start()
	w.write("a", strings.Repeat("x", 600), strings.Repeat("y", 600), strings.Repeat("z", 600))
	if r := w.okAt(1); len(r.Truncated) != 1 || r.Dropped != 2 {
		t.Fatalf("truncated %v, dropped %d", r.Truncated, r.Dropped)
	}
	if r := w.okAt(2); len(r.Truncated) != 0 || r.Dropped != 1 {
		t.Fatalf("truncated %v, dropped %d", r.Truncated, r.Dropped)
	}
}

func TestHintedPassReadsWhatHasHintsAndAllOnceACadence(t *testing.T) {
	w, reads := polling(t, "a", "b")
	w.cfg.Hinted, w.cfg.Cadence = true, ms(100)
	cfg := w.config()
	j, err := judge.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.judge = j
	for _, c := range []struct {
		at    int64
		touch string
		want  string
	}{{1, "", "a 0, b 0"}, {2, "", ""}, {20, "b", "b 0"}, {51, "", ""}, {88, "", ""}, {89, "", "a 0, b 0"}, {139, "", ""}, {177, "", "a 0, b 0"}} {
		*reads = nil
		if c.touch != "" {
			cfg.Media.Touch(c.touch)
		}
		r := w.okAt(c.at)
		if got := strings.Join(*reads, ", "); got != c.want || r.All != (c.want == "a 0, b 0") {
			t.Fatalf("at %d it read %q, all %t, want %q", c.at, got, r.All, c.want)
		}
	}
}

// Before a lease is concluded silent every medium that may carry its facts is drained in that same pass.
func TestHintedPassDrainsWhoseSilenceIsInQuestion(t *testing.T) {
	w, reads := polling(t, "a", "b")
	w.cfg.Hinted, w.cfg.Cadence = true, ms(1000)
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.okAt(2)
	w.renew("a", "L") // and no hint of it
	*reads = nil
	r := w.okAt(100)
	if got := strings.Join(*reads, ", "); got != "a 1" {
		t.Fatal(got)
	}
	w.wantRenewed(r, "L")
	w.wantLive("L")
	wantList(t, "lapsed", ended(w.okAt(200)), "L by silence")
}
