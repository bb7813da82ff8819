package cmd

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Running is CLOCK_MONOTONIC.
func (systemClock) Running() int64 { return readClock(unix.CLOCK_MONOTONIC) }

// Boot is CLOCK_BOOTTIME.
func (systemClock) Boot() int64 { return readClock(unix.CLOCK_BOOTTIME) }

// BootID is the kernel's boot id with the time namespace, in which the same boot may have other offsets.
func (systemClock) BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	// Without the file the kernel has no time namespaces.
	namespace, _ := os.Readlink("/proc/self/ns/time")
	return strings.TrimSpace(string(id)) + "/" + namespace
}
