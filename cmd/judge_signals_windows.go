package cmd

import "os"

// hangup is nothing here: the system has no such signal, so the configuration changes at a start.
func hangup() []os.Signal { return nil }

func isHangup(os.Signal) bool { return false }
