//go:build unix

package cmd

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Under systemd a judge says that it is ready, that it is not stuck, that it reads its configuration again, and
// that it stops.
func TestJudgeTellsSystemd(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, "cadence: 100ms\n"+tinyConfig)
	dir, err := os.MkdirTemp("", "notify") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cmd := program("-C " + w.dir() + " judge")
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=30000000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	heard := func(what string) string {
		t.Helper()
		for buf := make([]byte, 4096); ; {
			if err := socket.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			n, err := socket.Read(buf)
			if err != nil {
				t.Fatalf("%s was never told: %v", what, err)
			}
			if text := string(buf[:n]); strings.HasPrefix(text, what) {
				return text
			}
		}
	}
	contains(t, heard("READY=1"), "STATUS=0 leases live, 0 pending")
	heard("WATCHDOG=1")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	contains(t, heard("RELOADING=1"), "MONOTONIC_USEC=")
	heard("READY=1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	heard("STOPPING=1")
	if err := cmd.Wait(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}
