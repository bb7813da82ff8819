package stream_test

import "testing"

func makeFIFO(t *testing.T, _ string)   { t.Skip("no FIFOs") }
func makeDevice(t *testing.T, _ string) { t.Skip("no devices") }
func makeSocket(t *testing.T, _ string) { t.Skip("no sockets in folders") }

// withUmask runs fn: there is no umask.
func withUmask(_ *testing.T, _ int, fn func()) { fn() }
