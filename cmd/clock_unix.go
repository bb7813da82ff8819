//go:build linux || darwin

package cmd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// readClock reads one of the kernel's clocks in ms. That cannot fail for a clock that the system has, and
// without it nothing can be concluded.
func readClock(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(fmt.Sprintf("clock %d: %v", id, err))
	}
	return ts.Nano() / 1_000_000
}
