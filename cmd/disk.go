package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/daolease/daolease/pkg/stream"
)

// remedyOf is what to do about an error of the file system that nobody has given a remedy; empty where there is none.
func remedyOf(err error) string {
	if out := new(stdoutError); errors.As(err, &out) {
		return ""
	}
	path := pathIn(err)
	folder := "that file"
	if path != "" {
		folder = shellQuote(filepath.Dir(path))
	}
	switch {
	case errors.Is(err, syscall.EROFS):
		return "the file system of " + folder + " is mounted read-only: mount it writable (mount -o remount,rw), or work where one may write"
	case isFull(err):
		return "make room on the file system of " + folder + " (df shows its blocks, df -i its inodes), and try again"
	case errors.Is(err, fs.ErrPermission) && path != "":
		return "ls -ld " + folder + " " + shellQuote(path) + " shows who may; its owner gives access with chmod u+rw"
	}
	return ""
}

// isFull says that there was no room.
func isFull(err error) bool {
	return errors.Is(err, stream.ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// pathIn is the file that an error is about, if it says so.
func pathIn(err error) string {
	if about := new(fs.PathError); errors.As(err, &about) {
		return about.Path
	}
	if about := new(os.LinkError); errors.As(err, &about) {
		return about.New
	}
	return ""
}

// fullWords says which of a composition's file systems is full, by what it tells itself; empty where none is, or
// where that cannot be told.
func (c *Composition) fullWords() (place, words string) {
	for _, dir := range []string{c.grantorDir(), c.holdersDir()} {
		blocks, inodes, known := freeOf(dir, c.app.UID == 0)
		switch {
		case !known:
		case blocks == 0:
			return dir, "the file system of " + dir + " is full: it has no free block"
		case inodes == 0:
			return dir, "the file system of " + dir + " is full: it has no free inode"
		}
	}
	return "", ""
}

// madeRoom is the remedy for a full file system.
func madeRoom(dir string) string {
	return "make room on it (df " + shellQuote(dir) + ", df -i " + shellQuote(dir) + "); passes are completed again by themselves"
}
