package stream

import "golang.org/x/sys/unix"

// onNetwork says that a folder's file system does not tell of changes made on another machine.
func onNetwork(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Flags&unix.MNT_LOCAL == 0
}
