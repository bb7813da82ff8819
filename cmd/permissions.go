package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// finding is one thing that is wrong with the permissions of a path, and the command line that mends it.
type finding struct {
	Path  string `json:"path"`
	Wrong string `json:"wrong"`
	Mend  string `json:"mend"`
}

func (f finding) String() string {
	text := f.Path + ": " + f.Wrong
	if f.Mend != "" {
		text += "; " + f.Mend
	}
	return text
}

// refuseFindings makes the first finding an error of this code and counts the others: exit 7 where a judge
// does not start, 4 where a holder's own medium would not be read.
func refuseFindings(code int, found []finding) error {
	if len(found) == 0 {
		return nil
	}
	more := ""
	if n := len(found) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more, see daolease check)", n)
	}
	return fail(code, found[0].Mend, "%s: %s%s", found[0].Path, found[0].Wrong, more)
}

// checkGrantorSide finds what a judge that is this user must not run on (SPEC 4): the composition, its
// configuration, hooks/, grantor/ with all that is in it, and holders/ must belong to root or to the user and
// be writable by nobody else.
func (c *Composition) checkGrantorSide(uid int) []finding {
	found := c.checkOwn(c.Dir, uid, false)
	found = append(found, c.checkOwn(configFile(c.Dir), uid, false)...)
	found = append(found, c.checkTree(c.hooksDir(), uid)...)
	if fi, err := os.Lstat(c.grantorDir()); err == nil && !fi.IsDir() {
		found = append(found, finding{c.grantorDir(), "is no folder of its own", "mv " + shellQuote(c.grantorDir()) + " " + shellQuote(c.grantorDir()+".aside")})
	}
	found = append(found, c.checkTree(c.grantorDir(), uid)...)
	found = append(found, c.checkOwn(c.holdersDir(), uid, c.Config.byOwner())...)
	return append(found, c.checkGrantorName(uid)...)
}

// checkTree checks a folder and everything below it.
func (c *Composition) checkTree(root string, uid int) (found []finding) {
	_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, fs.ErrPermission) && c.app.UID != uid:
			// What is private to the judge is no business of another user who checks.
		case err != nil:
			found = append(found, finding{path, err.Error(), ""})
		default:
			found = append(found, c.checkOwn(path, uid, false)...)
		}
		return nil
	})
	return found
}

// checkOwn checks one path. Sticky allows a folder that everybody may add to, as long as nobody can take away
// what is another's. What is missing is no finding.
func (c *Composition) checkOwn(path string, uid int, sticky bool) (found []finding) {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []finding{{path, err.Error(), ""}}
	case fi.Mode()&fs.ModeSymlink != 0:
		return c.checkLink(path, uid, sticky)
	}
	return c.checkFile(path, fi, uid, sticky)
}

// checkLink checks a link and what it leads to. The mode of a link says nothing.
func (c *Composition) checkLink(path string, uid int, sticky bool) []finding {
	link, err := os.Lstat(path)
	if err == nil {
		owner, _ := ownerOf(link)
		if f, bad := c.wrongOwner(path, owner, uid); bad {
			f.Mend = strings.Replace(f.Mend, "chown ", "chown -h ", 1)
			return []finding{f}
		}
		var fi fs.FileInfo
		if fi, err = os.Stat(path); err == nil {
			return c.checkFile(path, fi, uid, sticky)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return []finding{{path, "is a link that leads nowhere", "rm " + shellQuote(path)}}
	}
	return []finding{{path, err.Error(), ""}}
}

func (c *Composition) checkFile(path string, fi fs.FileInfo, uid int, sticky bool) (found []finding) {
	if !hasOwners {
		return nil
	}
	owner, _ := ownerOf(fi)
	if f, bad := c.wrongOwner(path, owner, uid); bad {
		found = append(found, f)
	}
	open := fi.Mode().Perm()&0o022 != 0
	switch {
	case open && sticky && fi.Mode()&fs.ModeSticky == 0:
		found = append(found, finding{path, "can be written by others and is not sticky", "chmod 1777 " + shellQuote(path)})
	case open && !sticky:
		found = append(found, finding{path, "can be written by group or others", "chmod go-w " + shellQuote(path)})
	}
	return found
}

func (c *Composition) wrongOwner(path string, owner, uid int) (finding, bool) {
	if !hasOwners || owner == 0 || owner == uid {
		return finding{}, false
	}
	mend := fmt.Sprintf("chown %d %s", uid, shellQuote(path))
	if uid == 0 {
		mend += ", or be that user: sudo -u " + shellQuote(c.app.sudoName(owner))
	}
	return finding{path, fmt.Sprintf("belongs to %s, neither root nor the judge's user", c.app.userLabel(owner)), mend}, true
}

// checkGrantorName finds that, where owners tell authors, the grantor's name is not that of the user who owns
// grantor/ (SPEC 4).
func (c *Composition) checkGrantorName(uid int) []finding {
	if !c.Config.byOwner() {
		return nil
	}
	if !hasOwners {
		return []finding{{configFile(c.Dir), "attribution: owner needs files with owners", "set attribution: path"}}
	}
	if fi, err := os.Stat(c.grantorDir()); err == nil {
		uid, _ = ownerOf(fi)
	}
	name, err := c.app.nameOf(uid)
	if err != nil {
		return []finding{{configFile(c.Dir), fmt.Sprintf("the name of uid %d cannot be told now: %v", uid, err), ""}}
	}
	if bears(c.Config.Grantor, name) {
		return nil
	}
	return []finding{{configFile(c.Dir),
		fmt.Sprintf("grantor is %q, but grantor/ belongs to %q, and under attribution: owner it must be that user", c.Config.Grantor, name),
		"set grantor: " + name}}
}

// checkHolderSide finds why a holder's medium is not read (SPEC 4): a lasting gap for the judge, a refusal for
// that holder's own commands.
func (c *Composition) checkHolderSide(name string) []finding {
	dir := c.holderDir(name)
	var found []finding
	for _, path := range []string{dir, filepath.Join(dir, "facts.jsonl"), filepath.Join(dir, "facts.jsonl.1"), filepath.Join(dir, "ticks.jsonl")} {
		fi, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			found = append(found, finding{path, err.Error(), ""})
			continue
		}
		if f, bad := c.holderFinding(path, dir, fi); bad {
			found = append(found, f)
		}
	}
	return append(found, c.checkHolderName(name)...)
}

// checkHolderName finds that under owner the folder is that of a user whose name the holder does not bear, so
// that nobody would be the author of its facts.
func (c *Composition) checkHolderName(name string) []finding {
	dir := c.holderDir(name)
	fi, err := os.Lstat(dir)
	if err != nil || !hasOwners || !c.Config.byOwner() {
		return nil
	}
	owner, _ := ownerOf(fi)
	return c.checkBears(name, owner)
}

// checkBears finds that a user's facts under this name would be nobody's.
func (c *Composition) checkBears(name string, uid int) []finding {
	dir := c.holderDir(name)
	switch user, err := c.app.nameOf(uid); {
	case err != nil:
		return []finding{{dir, fmt.Sprintf("the name of uid %d cannot be told now: %v", uid, err), ""}}
	case !bears(name, user):
		return []finding{{dir, fmt.Sprintf("belongs to %q, who under attribution: owner can only be holder %s or %s@…", user, user, user),
			fmt.Sprintf("name the holder %s, or give the folder to the right user with chown", user)}}
	}
	return nil
}

func (c *Composition) holderFinding(path, dir string, fi fs.FileInfo) (finding, bool) {
	switch {
	case path == dir && !fi.IsDir():
		return finding{path, "is no folder", "rm " + shellQuote(path)}, true
	case path != dir && !fi.Mode().IsRegular():
		return finding{path, "is no regular file", "rm " + shellQuote(path)}, true
	case hasOwners && fi.Mode().Perm()&0o022 != 0:
		return finding{path, "can be written by group or others, so nobody knows who wrote it", "chmod go-w " + shellQuote(path)}, true
	}
	owner, _ := ownerOf(fi)
	folder, err := os.Lstat(dir)
	if err != nil || !hasOwners {
		return finding{}, false
	}
	if want, _ := ownerOf(folder); owner != want && owner != 0 {
		return finding{path, fmt.Sprintf("belongs to %s, but its folder to %s", c.app.userLabel(owner), c.app.userLabel(want)),
			fmt.Sprintf("chown %d %s", want, shellQuote(path))}, true
	}
	return finding{}, false
}
