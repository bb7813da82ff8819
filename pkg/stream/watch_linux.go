package stream

import (
	"slices"

	"golang.org/x/sys/unix"
)

// onNetwork says that a folder's file system does not tell of changes made on another machine, or behind it.
func onNetwork(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && slices.Contains(remoteMagics(), uint32(st.Type))
}
