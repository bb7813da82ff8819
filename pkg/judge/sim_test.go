package judge_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// The simulator tells random lives of a whole composition: media, ticks, holders, judge, procedures, faults,
// kills, reboots and usurpers, in one process and without real time. Everything in a life follows from its seed.
//
//	go test ./pkg/judge -run Sim                       a short round
//	go test ./pkg/judge -run Sim -sim.seeds=100000     a long one
//	go test ./pkg/judge -run Sim -sim.seed=42 -v       one life, with a trace
//
// A life that breaks an invariant is told again with steps left out while it still breaks one; what remains is
// printed with the seed.
var (
	simSeeds = flag.Uint64("sim.seeds", 1500, "how many random lives TestSim tells")
	simSeed  = flag.Uint64("sim.seed", 0, "the one life that TestSim tells, with a trace; 0: many")
)

func TestSim(t *testing.T) {
	if *simSeed > 0 {
		if failure := tell(t, *simSeed, stepsOf(*simSeed), t.Logf); failure != "" {
			t.Fatal(failure)
		}
		return
	}
	for seed := uint64(1); seed <= lives(*simSeeds); seed++ {
		steps := stepsOf(seed)
		if failure := tell(t, seed, steps, nil); failure != "" {
			t.Fatalf("seed %d: %s\nreplay: go test ./pkg/judge -run Sim -sim.seed=%d -v\nwhat suffices:\n%s",
				seed, failure, seed, shrunk(t, seed, steps))
		}
	}
}

// tell tells one life, and answers what went wrong in it.
func tell(t *testing.T, seed uint64, steps []step, trace func(string, ...any)) (failure string) {
	s := newSim(t, seed)
	s.trace = trace
	defer func() {
		if p := recover(); p != nil {
			failure = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	for _, st := range steps {
		if s.do(st); s.failure != "" {
			return s.failure
		}
	}
	s.end()
	return s.failure
}

// shrunk leaves steps out while the life still goes wrong in the same way, and tells what is left.
func shrunk(t *testing.T, seed uint64, steps []step) string {
	number := regexp.MustCompile(`[0-9]+|released|revoked|cap|silence|policy`)
	way := func(failure string) string { return number.ReplaceAllString(failure[:min(len(failure), 120)], "") }
	wrong := way(tell(t, seed, steps, nil))
	for size := len(steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(steps); {
			fewer := append(steps[:at:at], steps[at+size:]...)
			if way(tell(t, seed, fewer, nil)) == wrong {
				steps = fewer
			} else {
				at += size
			}
		}
	}
	var b strings.Builder
	failure := tell(t, seed, steps, func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	return b.String() + failure
}

// step is one thing that happens. It carries its own randomness, so that leaving one out changes no other.
type step struct {
	op   int
	seed uint64
}

// stepsOf are the steps of a life. What each weighs differs from life to life.
func stepsOf(seed uint64) []step {
	r := rand.New(rand.NewPCG(seed, 2))
	var bag []int
	for op, kind := range ops {
		n := kind.weight
		if n < 10 { // the rare are absent from many lives, and frequent in some
			n *= r.IntN(3)
		}
		for range n {
			bag = append(bag, op)
		}
	}
	steps := make([]step, 30+r.IntN(90))
	for i := range steps {
		steps[i] = step{bag[r.IntN(len(bag))], r.Uint64()}
	}
	return steps
}

// A life is the same however often it is told: otherwise a seed would replay nothing.
func TestSimIsDeterministic(t *testing.T) {
	identity := regexp.MustCompile(`[0-9a-f]{32}`) // of a memory, in the text of an error
	for seed := uint64(1); seed <= 20; seed++ {
		var told [2]string
		for i := range told {
			var b strings.Builder
			tell(t, seed, stepsOf(seed), func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
			told[i] = identity.ReplaceAllString(b.String(), "")
		}
		if told[0] != told[1] {
			t.Fatalf("seed %d:\n%s\nand:\n%s", seed, told[0], told[1])
		}
	}
}
