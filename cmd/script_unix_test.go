//go:build unix

package cmd_test

import "syscall"

// plainUmask has files that a script lays out be writable by their owner alone, as a composition wants them.
func plainUmask() { syscall.Umask(0o022) }
