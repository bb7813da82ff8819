package stream

import (
	"io/fs"
	"os"
	"path/filepath"
)

// sys is every call by which a file medium opens or changes anything. Writes, syncs, links, renames and
// removals go through it and nowhere else, so that a test can stop the world before, within and after each.
type sys interface {
	// openRead opens a file for reading: no link is followed, nothing is created, no FIFO is waited for.
	openRead(path string) (*os.File, error)
	// open opens a file for changing, under the same care.
	open(path string, flag int, mode fs.FileMode) (*os.File, error)
	// write is one write(2): what it leaves out is not tried again.
	write(f *os.File, p []byte) (int, error)
	// sync forces a file to disk: its content, or with whole all that is known about it.
	sync(f *os.File, whole bool) error
	link(from, to string) error
	rename(from, to string) error
	remove(path string) error
	// syncFolder forces the names in a folder to disk.
	syncFolder(path string) error
}

// osSys is the machine itself.
type osSys struct{}

func (osSys) openRead(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|carefully, 0)
}

func (osSys) open(path string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|carefully, mode)
}

func (osSys) write(f *os.File, p []byte) (int, error) { return writeOnce(f, p) }

func (osSys) sync(f *os.File, whole bool) error {
	if whole {
		return f.Sync()
	}
	return syncContent(f)
}

func (osSys) link(from, to string) error   { return os.Link(from, to) }
func (osSys) rename(from, to string) error { return os.Rename(from, to) }
func (osSys) remove(path string) error     { return os.Remove(path) }

func (osSys) syncFolder(path string) error { return syncFolder(filepath.Dir(path)) }

// stamp is what one stat of a path says, as far as it tells whether the same file lies there unchanged. It is
// a hint that saves work, and never decides what was read.
type stamp struct {
	dev, ino            uint64
	size                int64
	mtime, ctime, btime int64       // nanoseconds; btime is 0 where it is not known
	kind                fs.FileMode // the type bits; 0 for a regular file
	missing             bool
}

// file is what of a stamp stays the same for as long as it is the same file.
func (s stamp) file() stamp { return stamp{dev: s.dev, ino: s.ino, btime: s.btime} }
