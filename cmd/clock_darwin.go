package cmd

import "golang.org/x/sys/unix"

// Running is CLOCK_UPTIME_RAW, which stands still while the machine sleeps.
func (systemClock) Running() int64 { return readClock(unix.CLOCK_UPTIME_RAW) }

// Boot is CLOCK_MONOTONIC_RAW, which here counts the sleep too.
func (systemClock) Boot() int64 { return readClock(unix.CLOCK_MONOTONIC_RAW) }

// BootID is the id of the boot session.
func (systemClock) BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
