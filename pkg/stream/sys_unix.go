//go:build unix

package stream

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// carefully is how every file is opened: a link is not followed, and a FIFO is not waited for.
const carefully = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// writeOnce is one write(2). (*os.File).Write would go on after a short one, and another writer's line could
// come between.
func writeOnce(f *os.File, p []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) {
		for {
			if n, err = unix.Write(int(fd), p); err != unix.EINTR {
				return
			}
		}
	})
	return max(n, 0), errors.Join(failed, err)
}

// syncFolder forces the names in a folder to disk.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// tryLock takes the exclusive lock of an open file unless another descriptor has it.
func tryLock(f *os.File) (bool, error) {
	err := onDescriptor(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives a lock back. Closing alone would not do: a child that is just being started has the
// descriptor too, until its exec closes it.
func unlock(f *os.File) {
	_ = onDescriptor(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_UN) })
	_ = f.Close()
}

// onDescriptor calls fn with the file's descriptor, without making it a blocking one.
func onDescriptor(f *os.File, fn func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = fn(int(fd)) })
	return errors.Join(failed, err)
}

// isFull says that there is no room: on the disk, in the quota, or under the limit of a file's size.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// isStale says that a network file system no longer knows a file that was open.
func isStale(err error) bool { return errors.Is(err, unix.ESTALE) }

// isMissing says that there is no file: nothing of that name, or no folder that it could lie in.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// isWriters says that an error of opening or reading is one that whoever owns the file can cause at will:
// modes, links (ELOOP, on some systems EMLINK), FIFOs and sockets (ENXIO), devices (ENODEV), folders, and a
// lease that is to be broken (EAGAIN).
func isWriters(err error) bool {
	for _, theirs := range []error{unix.EACCES, unix.EPERM, unix.ELOOP, unix.EMLINK, unix.ENXIO, unix.ENODEV, unix.EISDIR, unix.EAGAIN} {
		if errors.Is(err, theirs) {
			return true
		}
	}
	return false
}

// lstat stamps a path by the call that all systems have.
func lstat(path string) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return stamp{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return stamp{
		dev:   uint64(st.Dev),
		ino:   uint64(st.Ino),
		size:  st.Size,
		mtime: unix.TimespecToNsec(st.Mtim),
		ctime: unix.TimespecToNsec(st.Ctim),
		kind:  kindOf(uint32(st.Mode)),
	}, nil
}

// kindOf is the type in a mode as the system gives it.
func kindOf(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFBLK:
		return fs.ModeDevice
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}
