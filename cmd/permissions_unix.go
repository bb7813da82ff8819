//go:build unix

package cmd

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// hasOwners says that files have an owner and mode bits that mean something.
const hasOwners = true

// ownerOf is who owns a file, from its stat.
func ownerOf(fi fs.FileInfo) (uid, gid int) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return -1, -1
}

// isNotDir says that a file lies where a path wants a folder.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// openFolder opens a folder, and nothing that a link leads to.
func openFolder(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
}

// inodeOf names a file within its file system. The device is left out: it may be another after a reboot.
func inodeOf(fi fs.FileInfo) string {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return "inode " + strconv.FormatUint(uint64(st.Ino), 10)
	}
	return ""
}

// syncFolder has a rename or a new name on disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
