package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// readTokenFile reads the token that a file keeps; 0 says that there was none yet.
func readTokenFile(path string) (int64, error) {
	text, err := readAtMost(path, 64)
	if err != nil {
		return 0, err
	}
	// Without its newline it was cut, and what is left of a number is a lower one.
	digits, whole := strings.CutSuffix(string(text), "\n")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !whole || err != nil || n < 0 || n > lease.Limit {
		return 0, fmt.Errorf("%s holds no token", path)
	}
	return n, nil
}

// tokenLine is what such a file says.
func tokenLine(token int64) []byte { return []byte(strconv.FormatInt(token, 10) + "\n") }

// replaceFile replaces a small file at once and for good: the new one outlasts a power loss.
func (a *App) replaceFile(path string, text []byte, mode fs.FileMode) error {
	if err := a.exchangeFile(path, text, mode); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// exchangeFile replaces a small file at once: temporary file, sync, rename. A crash leaves the old or the new, a
// power loss some old one or the new. Whoever calls it has a lock that keeps out all others who do, so that the
// temporary file that a killed one left is nobody's.
func (a *App) exchangeFile(path string, text []byte, mode fs.FileMode) error {
	fresh := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = a.fill(f, text, mode)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
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
