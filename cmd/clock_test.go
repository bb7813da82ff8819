package cmd

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// The machine's clocks move with time, and name the boot alike each time they are asked.
func TestSystemClock(t *testing.T) {
	var c Clock = systemClock{}
	id := c.BootID()
	if id == "" || id != c.BootID() {
		t.Errorf("boot %q, then %q", id, c.BootID())
	}
	running, boot, began := c.Running(), c.Boot(), time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for c.Running()-running < 20 || c.Boot()-boot < 20 {
		if ctx.Err() != nil {
			t.Fatalf("stood still: %d and %d ms", c.Running()-running, c.Boot()-boot)
		}
	}
	// The boot clock runs at least as far as the running one, and neither faster than time itself.
	awake, all, real := c.Running()-running, c.Boot()-boot, time.Since(began).Milliseconds()+2
	if all < awake-2 || awake > real {
		t.Errorf("running %d ms, boot %d ms, in %d ms", awake, all, real)
	}
	if c.Boot() < c.Running()-2 {
		t.Errorf("boot %d is behind running %d", c.Boot(), c.Running())
	}
	if d := time.Since(c.UTC()); d < -time.Minute || d > time.Minute || c.UTC().Location() != time.UTC {
		t.Errorf("UTC is off by %v", d)
	}
}

// No variable of the environment fakes a clock.
func TestEnvironmentFakesNoClock(t *testing.T) {
	c := systemClock{}
	before := c.Boot()
	for _, key := range []string{"DAOLEASE_CLOCK", "DAOLEASE_NOW", "DAOLEASE_BOOT", "DAOLEASE_READING", "FAKETIME"} {
		t.Setenv(key, "@1")
	}
	if after := c.Boot(); after < before || after > before+600_000 {
		t.Errorf("from %d to %d", before, after)
	}
}

// The boot is asked for once.
func TestOneBoot(t *testing.T) {
	asked := 0
	c := newOneBoot(countsBoots{systemClock{}, &asked})
	if id := c.BootID(); id != "boot 1" || c.BootID() != id || asked != 1 {
		t.Errorf("boot %q, asked %d times", c.BootID(), asked)
	}
	if c.Running() <= 0 {
		t.Error("the clock behind it is not asked for the time")
	}
}

type countsBoots struct {
	Clock
	asked *int
}

func (c countsBoots) BootID() string {
	*c.asked++
	return fmt.Sprint("boot ", *c.asked)
}
