package stream

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syncContent forces what was written to disk, and the file's size, but not its times.
func syncContent(f *os.File) error {
	return onDescriptor(f, func(fd int) error {
		for {
			if err := unix.Fdatasync(fd); err != unix.EINTR {
				return err
			}
		}
	})
}

// pathStamp stamps a path. terminated is the path with a NUL after it: a pass asks this of every medium that
// has nothing new, so it allocates nothing. Where statx is not to be had, lstat does.
func pathStamp(path string, terminated []byte) (stamp, error) {
	var st unix.Statx_t
	folder := unix.AT_FDCWD
	_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(folder), uintptr(unsafe.Pointer(&terminated[0])),
		unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, uintptr(unsafe.Pointer(&st)), 0)
	if errno == unix.ENOENT || errno == unix.ENOTDIR {
		return stamp{missing: true}, nil
	}
	if errno != 0 {
		return lstatStamp(path)
	}
	return stamp{
		dev:   unix.Mkdev(st.Dev_major, st.Dev_minor),
		ino:   st.Ino,
		size:  int64(st.Size),
		mtime: st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec),
		ctime: st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec),
		btime: st.Btime.Sec*1e9 + int64(st.Btime.Nsec),
		kind:  kindOf(uint32(st.Mode)),
	}, nil
}

func lstatStamp(path string) (stamp, error) {
	st, err := lstat(path)
	if err != nil && isMissing(err) {
		return stamp{missing: true}, nil
	}
	return st, err
}

// remoteMagics are the file systems whose files other machines, or programs, may keep: NFS, SMB and CIFS, FUSE,
// 9P, Ceph, AFS, Lustre, OCFS2, GFS2, BeeGFS, GPFS, and the shared folders of VirtualBox.
func remoteMagics() []uint32 {
	return []uint32{
		0x6969, 0x517B, 0xFE534D42, 0xFF534D42, 0x65735546, 0x01021997, 0x00C36400, 0x5346414F, 0x6B414653,
		0x0BD00BD0, 0x7461636F, 0x01161970, 0x19830326, 0x47504653, 0x786F4256,
	}
}

// isRemote says that a file lies on a network file system, where ok wants a sync.
func isRemote(f *os.File) bool {
	var st unix.Statfs_t
	if err := onDescriptor(f, func(fd int) error { return unix.Fstatfs(fd, &st) }); err != nil {
		return false
	}
	return slices.Contains(remoteMagics(), uint32(st.Type))
}
