package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CheckError says why a hook must not be run, and what mends it (SPEC 10).
type CheckError struct {
	Path string
	Why  string // what is wrong, in a few words
	Fix  string // a command line that mends it; empty when there is none
}

// Error says what is wrong and what mends it, in one line.
func (e *CheckError) Error() string {
	if e.Fix == "" {
		return fmt.Sprintf("hook %q %s", e.Path, e.Why)
	}
	return fmt.Sprintf("hook %q %s: %s", e.Path, e.Why, e.Fix)
}

// Check answers a *CheckError for a hook that is missing, is no regular file, has no run bit for uid, can be
// written by group or others, or is owned by neither root nor uid, the judge's user (SPEC 4, 10). A symlink is
// judged by what it leads to.
func Check(path string, uid int) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &CheckError{Path: path, Why: "is missing"}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &CheckError{Path: path, Why: "is no regular file"}
	}
	return checkFile(path, info, uid)
}

// checkFile judges the mode and the owner of a hook that exists.
func checkFile(path string, info fs.FileInfo, uid int) error {
	owner, known := ownerOf(info)
	if !known {
		return nil // a system without such owners and modes
	}
	word := shellWord(path)
	switch {
	case owner != 0 && owner != uid:
		return &CheckError{path, fmt.Sprintf("is owned by uid %d, neither root nor the judge's user", owner), fmt.Sprintf("chown %d %s", uid, word)}
	case info.Mode().Perm()&0o022 != 0:
		return &CheckError{path, "can be written by group or others", "chmod go-w " + word}
	case info.Mode().Perm()&runBits(owner, uid) == 0:
		return &CheckError{path, "has no run bit", "chmod +x " + word}
	}
	return nil
}

// runBits are the mode bits of which one lets uid run a file of owner. Root needs any.
func runBits(owner, uid int) fs.FileMode {
	switch uid {
	case 0:
		return 0o111
	case owner:
		return 0o100
	default:
		return 0o011
	}
}

// shellWord quotes a path for a command line that a person can paste.
func shellWord(path string) string {
	plain := func(r rune) bool {
		return !strings.ContainsRune("/._-+@%,:=", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if path != "" && strings.IndexFunc(path, plain) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// LookPath finds a program in the fixed path, /usr/local/sbin to /bin (SPEC 8). A word with a slash is answered
// as it is.
func LookPath(word string) (string, error) {
	if strings.ContainsRune(word, '/') {
		return word, nil
	}
	for _, dir := range strings.Split(fixedPath, ":") {
		path := filepath.Join(dir, word)
		if info, err := os.Stat(path); err == nil && word != "" && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %q in %s", word, fixedPath)
}
