package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// makeFolder makes a folder with exactly this mode, whatever the umask, and gives it the owner of the folder
// it lies in when root makes it. One that is there already is left alone. It gets its name last: whoever sees it can
// read what lies in it.
func (a *App) makeFolder(path string, mode fs.FileMode) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*"+freshSuffix)
	if err != nil {
		return err
	}
	if err := a.openUp(fresh, mode); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	err = os.Rename(fresh, path)
	if err == nil {
		return nil
	}
	if _, there := os.Lstat(path); there == nil { // another was quicker
		err = nil
	}
	return errors.Join(err, os.Remove(fresh))
}

// freshSuffix ends the name of what is not complete yet.
const freshSuffix = ".tmp"

// isFresh says that a name is one of those.
func isFresh(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, freshSuffix)
}

// openUp gives a folder that was just made its owner and its mode.
func (a *App) openUp(path string, mode fs.FileMode) error {
	// Through a descriptor: a folder whose parent is another's could be exchanged for a link meanwhile.
	f, err := openFolder(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := a.adopt(f); err != nil {
		return err
	}
	// The mode comes last: a change of owner can drop bits of it, and nobody can enter before.
	return f.Chmod(mode)
}

// makeGrantor makes what the judge writes into.
func (c *Composition) makeGrantor() error {
	if err := c.app.makeFolder(c.grantorDir(), 0o755); err != nil {
		return err
	}
	if err := c.app.makeFolder(c.runDir(), 0o700); err != nil {
		return err
	}
	return c.app.makeFolder(c.holdersDir(), c.holdersMode())
}

// holdersMode is what the folder of the holders' folders has: everybody may make their own where the owner
// of a folder says whose it is.
func (c *Composition) holdersMode() fs.FileMode {
	if c.Config.byOwner() {
		return 0o777 | fs.ModeSticky
	}
	return 0o755
}

// makeHolder makes a holder's folder, where the caller may. A caller who may not is told who can (exit 4).
func (c *Composition) makeHolder(name string) error {
	if err := c.holderName(name); err != nil {
		return usagef("choose another name with --as NAME", "%q cannot be a holder's name: %w", name, err)
	}
	if err := c.app.makeFolder(c.holdersDir(), c.holdersMode()); err != nil {
		return c.noHolderFolder(name, err)
	}
	if err := c.app.makeFolder(c.holderDir(name), 0o755); err != nil {
		return c.noHolderFolder(name, err)
	}
	return nil
}

// makeOwnHolder makes the folder of a holder that the caller is, or that nobody else is said to be. One whose name the caller does not bear would
// stand in the way of the user who does, and nobody would be the author of its facts.
func (c *Composition) makeOwnHolder(name string) error {
	if _, err := os.Lstat(c.holderDir(name)); err != nil && hasOwners && c.Config.byOwner() {
		owner := c.app.UID
		if uid, _, err := parentOwner(c.holderDir(name)); err == nil && owner == 0 {
			owner = uid // what root makes is given away
		}
		if found := c.checkBears(name, owner); len(found) > 0 {
			user, _, _ := strings.Cut(name, "@")
			found[0].Wrong = "is not made, since it then " + found[0].Wrong
			found[0].Mend = fmt.Sprintf("take another name, or the grantor makes it for its user: daolease -C %s holder add %s --user %s", shellQuote(c.Dir), shellQuote(name), shellQuote(user))
			return refuseFindings(exitRefused, found)
		}
	}
	return c.makeHolder(name)
}

func (c *Composition) noHolderFolder(name string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return fail(exitFailure, remedyOf(&fs.PathError{Path: c.holderDir(name), Err: reasonOf(err)}), "the folder of holder %q cannot be made: %w", name, reasonOf(err))
	}
	hint := fmt.Sprintf("the grantor makes it: daolease -C %s holder add %s", shellQuote(c.Dir), shellQuote(name))
	if user, uidErr := c.app.callerName(); uidErr == nil {
		hint += " --user " + shellQuote(user)
	}
	return fail(exitRefused, hint, "holder %q has no folder here, and you may not make one: %w", name, reasonOf(err))
}

// adopt gives a file or folder that root has made the owner of the folder it lies in (SPEC 8).
func (a *App) adopt(f *os.File) error {
	if a.UID != 0 {
		return nil
	}
	uid, gid, err := parentOwner(f.Name())
	if err != nil {
		return err
	}
	return f.Chown(uid, gid)
}

func parentOwner(path string) (uid, gid int, err error) {
	fi, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return 0, 0, err
	}
	uid, gid = ownerOf(fi)
	return uid, gid, nil
}
