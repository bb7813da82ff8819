//go:build unix

package cmd

import (
	"os"
	"syscall"
)

// hangup is the signal that has the configuration read again.
func hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }

func isHangup(sig os.Signal) bool { return sig == syscall.SIGHUP }
