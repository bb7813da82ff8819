//go:build unix

package stream_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

func makeFIFO(t *testing.T, path string) {
	t.Helper()
	must(t, unix.Mkfifo(path, 0o644))
}

// makeDevice makes a device of a kind that a read of would never end, where the test may.
func makeDevice(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mknod(path, unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))); err != nil {
		t.Skip("no device can be made here:", err)
	}
}

func makeSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no socket can be made there:", err)
	}
	t.Cleanup(func() { _ = l.Close() })
}
