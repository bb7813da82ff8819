package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile replaces a small file at once: temporary file, sync, rename, sync of the folder. A crash leaves
// the old or the new, and a temporary file that the next replacement sweeps away. The caller has the lock under
// which this file is replaced, so that what lies there is nobody's any more.
func (a *App) replaceFile(path string, text []byte, mode fs.FileMode) error {
	sweep(path)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	err = a.fill(f, text, mode)
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

func (a *App) fill(f *os.File, text []byte, mode fs.FileMode) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := a.adopt(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// sweep removes the temporary files of replacements of a file whose process was killed. Only regular files with
// a name that os.CreateTemp gives are ours; one that cannot be removed is in nobody's way.
func sweep(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), "."+filepath.Base(path)+".")
		number, temporary := strings.CutSuffix(rest, ".tmp")
		if ours && temporary && number != "" && strings.Trim(number, "0123456789") == "" && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name())) // what stays is tried again
		}
	}
}
