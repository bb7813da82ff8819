//go:build unix

package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hookFile makes a file of a mode, owned by somebody who is not root, and answers its path and that uid.
func hookFile(t *testing.T, mode os.FileMode) (string, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's a hook")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	owner := os.Getuid()
	if owner == 0 {
		owner = 4321
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path, owner
}

func TestCheckModes(t *testing.T) {
	for _, c := range []struct {
		mode  os.FileMode
		other bool // another user than the owner asks
		fix   string
	}{
		{0o755, false, ""},
		{0o700, false, ""},
		{0o644, false, "chmod +x "},
		{0o655, false, "chmod +x "},
		{0o775, false, "chmod go-w "},
		{0o757, false, "chmod go-w "},
		{0o755, true, "chown "},
	} {
		path, owner := hookFile(t, c.mode)
		uid := owner
		if c.other {
			uid++
		}
		err := Check(path, uid)
		var bad *CheckError
		switch {
		case c.fix == "" && err != nil:
			t.Errorf("%o: %v", c.mode, err)
		case c.fix != "" && (!errors.As(err, &bad) || !strings.HasPrefix(bad.Fix, c.fix)):
			t.Errorf("%o, other %v: %v, want a fix by %q", c.mode, c.other, err, c.fix)
		case bad != nil && (!strings.Contains(bad.Fix, `'\''`) || !strings.Contains(bad.Error(), bad.Fix)):
			t.Errorf("%v: its fix cannot be pasted", bad)
		}
	}
}

func TestCheckRunBitsOfRootsHooks(t *testing.T) {
	for _, c := range []struct {
		owner, uid int
		want       os.FileMode
	}{{0, 0, 0o111}, {0, 7, 0o011}, {7, 7, 0o100}, {7, 0, 0o111}} {
		if got := runBits(c.owner, c.uid); got != c.want {
			t.Errorf("owner %d, uid %d: %o, want %o", c.owner, c.uid, got, c.want)
		}
	}
}

func TestCheckWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "is missing",
		dir:                        "is no regular file",
		fifo:                       "is no regular file",
	} {
		if err := Check(path, os.Getuid()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestLookPathIsFixed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hooks-only-here"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got, err := LookPath("hooks-only-here"); err == nil {
		t.Errorf("found %q through the environment", got)
	}
	if got, err := LookPath("sh"); err != nil || filepath.Base(got) != "sh" || !filepath.IsAbs(got) {
		t.Errorf("sh: %q, %v", got, err)
	}
	for _, word := range []string{"", ".", ".."} {
		if got, err := LookPath(word); err == nil {
			t.Errorf("%q: found %q", word, got)
		}
	}
	if got, err := LookPath("hooks/free-dir"); err != nil || got != "hooks/free-dir" {
		t.Errorf("a word with a slash became %q, %v", got, err)
	}
}
