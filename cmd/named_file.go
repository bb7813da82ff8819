package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// namedFile is a file to be written that a user has named. What lies there may be anything: a link, a device, a FIFO.
// Only a regular file, or nothing, is replaced by rename, and a link never is: what it names is.
type namedFile struct {
	path  string      // with its links followed; as it was given where it is not regular
	there fs.FileInfo // what lies there; nil: nothing
}

// errNotReplaced is a named file that no rename may replace.
var errNotReplaced = errors.New("it is no regular file, and nothing else is replaced")

// errLinkToNothing is a link whose end has yet to be made.
var errLinkToNothing = errors.New("it is a link to what is not there: name the file itself")

// followed finds out what lies at a path. The error is errNotReplaced or errLinkToNothing where a rename would
// take away something else than a regular file.
func followed(path string) (namedFile, error) {
	n := namedFile{path: path}
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return n, errLinkToNothing
		}
		return n, nil
	case err != nil:
		return n, err
	}
	n.there = fi
	real, err := filepath.EvalSymlinks(path)
	if err == nil && fi.Mode().IsRegular() {
		// The links of /proc can lead to a file that has no name any more, or another one.
		if at, err := os.Stat(real); err == nil && os.SameFile(at, fi) {
			n.path = real
			return n, nil
		}
	}
	return n, errNotReplaced
}

// writeNamed writes a whole file that a user has named, as a shell's redirect does: a device or a FIFO is written
// into, and a link is followed. A regular file is exchanged at once, so that a crash leaves the old or the new.
func (a *App) writeNamed(path string, text []byte) error {
	n, err := followed(path)
	switch {
	case err == nil:
		return a.replaceNamed(n, text, true)
	case errors.Is(err, errNotReplaced):
		return writeThrough(path, os.O_WRONLY|os.O_TRUNC, text)
	case errors.Is(err, errLinkToNothing):
		return writeThrough(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, text)
	}
	return err
}

func writeThrough(path string, flag int, text []byte) error {
	f, err := os.OpenFile(path, flag, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// replaceNamed exchanges a named file at once, whoever else does the same, and keeps its owner and its mode. lasting:
// the new one outlasts a power loss.
func (a *App) replaceNamed(n namedFile, text []byte, lasting bool) error {
	dir := filepath.Dir(n.path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(n.path)+".*"+freshSuffix)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && lasting {
		err = f.Sync()
	}
	if err = errors.Join(err, a.own(f, n.there), f.Close()); err == nil {
		err = os.Rename(f.Name(), n.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if lasting {
		return syncFolder(dir)
	}
	return nil
}

// own gives a file the owner and the mode of the one that it replaces, if any.
func (a *App) own(f *os.File, old fs.FileInfo) error {
	if old == nil {
		return errors.Join(a.adopt(f), f.Chmod(0o644))
	}
	if a.UID == 0 {
		if err := f.Chown(ownerOf(old)); err != nil {
			return err
		}
	}
	return f.Chmod(old.Mode().Perm())
}
