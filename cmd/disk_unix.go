//go:build linux || darwin

package cmd

import "golang.org/x/sys/unix"

// freeOf is what is free on the file system of a folder: blocks, some of which root alone may use, and inodes. One
// that does not count its inodes never lacks any.
func freeOf(dir string, root bool) (blocks, inodes uint64, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Blocks == 0 {
		return 0, 0, false
	}
	blocks, inodes = st.Bavail, st.Ffree
	if root {
		blocks = st.Bfree
	}
	if st.Files == 0 {
		inodes = 1
	}
	return blocks, inodes, true
}
