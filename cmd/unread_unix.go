//go:build unix

package cmd

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// unreadEvery is how long one wait for the end of a reader lasts, in ms: as long as the goroutine may outlive its
// context.
const unreadEvery = 200

// unread waits until nobody can read any more what is written to a file: the pipe's other end is closed.
func unread(ctx context.Context, f *os.File) bool {
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(f.Fd())}} // errors and hang-ups are reported without being asked for
		n, err := unix.Poll(fds, unreadEvery)
		switch {
		case err == unix.EINTR:
		case err != nil || fds[0].Revents&unix.POLLNVAL != 0:
			return false
		case n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return true
		}
	}
	return false
}
