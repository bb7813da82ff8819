//go:build unix

package cmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// outlet is a standard descriptor under another number, for this process alone. Go ends a program that writes to
// descriptor 1 or 2 where nobody reads, in the middle of whatever it does; from any other the write answers with an
// error. To ask for the signal instead starts a thread, which a command that is over in milliseconds would notice.
// To ignore it would be worse: what is ignored is inherited by every procedure that is started.
func outlet(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}
