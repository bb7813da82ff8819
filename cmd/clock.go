package cmd

import (
	"sync"
	"time"
)

// Clock is the machine's clocks (SPEC 5). Judges count running time, so that a machine that slept judges
// nobody dead for its own sleep; holders count the sleep too, because their bound runs on meanwhile.
type Clock interface {
	Running() int64 // ms of running time since the boot: it stands still while the machine sleeps
	Boot() int64    // ms since the boot, with the time asleep
	BootID() string // names the boot and the time namespace; empty when that cannot be told
	UTC() time.Time // for people only
}

// systemClock is the real machine. No variable of the environment can change what it says.
type systemClock struct{}

// UTC is the time of day.
func (systemClock) UTC() time.Time { return time.Now().UTC() }

// oneBoot is a clock that asks for the boot once: a process does not live on into another. Asking takes opening two
// files, and a short command wants to know four times.
type oneBoot struct {
	Clock
	id func() string
}

func newOneBoot(c Clock) oneBoot { return oneBoot{c, sync.OnceValue(c.BootID)} }

// BootID names the boot in which the process has begun.
func (c oneBoot) BootID() string { return c.id() }
