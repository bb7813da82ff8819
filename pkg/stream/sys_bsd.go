//go:build unix && !linux

package stream

import "os"

// syncContent forces what was written to disk. Sync is more than content, and on macOS the one call that
// reaches the disk.
func syncContent(f *os.File) error { return f.Sync() }

// pathStamp stamps a path.
func pathStamp(path string, _ []byte) (stamp, error) {
	st, err := lstat(path)
	if err != nil && isMissing(err) {
		return stamp{missing: true}, nil
	}
	return st, err
}

// isRemote cannot be told here: FileOptions.SyncAll is for such a folder.
func isRemote(*os.File) bool { return false }
