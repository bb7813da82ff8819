package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// attribution answers who wrote what on the media of a composition (SPEC 4). A medium is known to it by the
// holder's name, or as grantor.
//
// Under path the folder says it. Under owner the user does who owns both the folder and the file, as the open
// descriptor showed them: a file that was exchanged after it was opened proves nothing about what was read.
type attribution struct {
	comp *Composition

	mu     sync.Mutex
	seen   map[string]map[string]ownership // by medium, by file: what was last admitted
	known  map[int]string                  // names once resolved, also by former processes
	news   map[string]string               // of these, what was resolved since News, by the number as text
	recent map[int]resolved                // answers of this process, for a while
}

// ownership is who owned a file and its folder when the file was opened.
type ownership struct{ file, folder int }

// resolved is a name and until when it is not asked for again, in ms of running time.
type resolved struct {
	name  string
	until int64
}

// namesLast is how long a resolved name is used without asking again, in ms.
const namesLast = 60_000

var _ lease.Resolver = (*attribution)(nil)

func newAttribution(c *Composition) *attribution {
	return &attribution{
		comp: c, seen: map[string]map[string]ownership{}, known: map[int]string{}, news: map[string]string{}, recent: map[int]resolved{},
	}
}

// Sole is the one author that a medium can have: each has one, or nobody.
func (a *attribution) Sole(medium string) (string, bool) { return a.named(medium), true }

// named is the name that an author of this medium would have to bear.
func (a *attribution) named(medium string) string {
	if medium == mediumGrantor {
		return a.comp.Config.Grantor
	}
	return medium
}

// Author is who wrote what was last read on a medium.
func (a *attribution) Author(_ context.Context, medium string, _ stream.Value) (string, error) {
	name := a.named(medium)
	if !a.comp.Config.byOwner() {
		return name, nil
	}
	owner, ok := a.soleOwner(medium)
	if !ok {
		return lease.Nobody, nil
	}
	user, err := a.user(owner)
	if err != nil {
		return lease.Nobody, err
	}
	if !bears(name, user) {
		return lease.Nobody, nil
	}
	return name, nil
}

// soleOwner is the user who owns the folder and every file of a medium that was read. Which of the two files
// a value came from cannot be told, so that both have to agree.
func (a *attribution) soleOwner(medium string) (int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	owner, found := 0, false
	for _, o := range a.seen[medium] {
		if o.file != o.folder || found && o.file != owner {
			return 0, false
		}
		owner, found = o.file, true
	}
	return owner, found
}

// user is the name of a user. A lookup that fails, or that no longer knows a name that was known, cannot
// answer now: taking uid-N for the author then would make a live holder somebody else.
func (a *attribution) user(uid int) (string, error) {
	now := a.comp.app.Clock.Running()
	a.mu.Lock()
	last, fresh := a.recent[uid]
	former, once := a.known[uid]
	a.mu.Unlock()
	if fresh && now < last.until {
		return last.name, nil
	}
	name, known, err := a.comp.app.Users.name(uid)
	if err != nil {
		return "", fmt.Errorf("%w: the name of uid %d: %w", lease.ErrUnresolved, uid, err)
	}
	if !known && once {
		return "", fmt.Errorf("%w: uid %d was %s and has no name now", lease.ErrUnresolved, uid, former)
	}
	number := fmt.Sprintf("uid-%d", uid)
	if !known || looksLikeNumber(name) {
		name = number
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recent[uid] = resolved{name, now + namesLast}
	if name != number && a.known[uid] != name {
		a.known[uid], a.news[strconv.Itoa(uid)] = name, name
	}
	return name, nil
}

// News are the names that were resolved since it was last asked, by the number of the user. A judge keeps them
// with its cursors (see judge.Rememberer).
func (a *attribution) News() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.news
	a.news = map[string]string{}
	return news
}

// Remember takes over what a former process knew.
func (a *attribution) Remember(known map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for number, name := range known {
		if uid, err := strconv.Atoi(number); err == nil {
			a.known[uid] = name
		}
	}
}

// Owner is whose medium it is, for fairness between users with many media. It need not be right: it decides
// the order of reading only.
func (a *attribution) Owner(medium string) string {
	dir := a.comp.holderDir(medium)
	if medium == mediumGrantor {
		dir = a.comp.grantorDir()
	}
	if fi, err := os.Lstat(dir); err == nil && hasOwners {
		uid, _ := ownerOf(fi)
		return "uid " + strconv.Itoa(uid)
	}
	return medium
}

// admit makes the judgement on a medium's files: whether they may be read at all, and by whom they are owned.
// Under owner a file of another user than its folder's is read, and is nobody's.
func (a *attribution) admit(medium string) func(path string, fi fs.FileInfo) error {
	return func(path string, fi fs.FileInfo) error {
		folder, err := os.Lstat(filepath.Dir(path))
		if err != nil {
			return err
		}
		if err := onlyOwnerWrites(path, fi, folder); err != nil {
			return err
		}
		if !a.comp.Config.byOwner() {
			return oneOwner(path, fi, folder)
		}
		of := ownership{}
		of.file, _ = ownerOf(fi)
		of.folder, _ = ownerOf(folder)
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.seen[medium] == nil {
			a.seen[medium] = map[string]ownership{}
		}
		a.seen[medium][path] = of
		return nil
	}
}

// admitPlain refuses a file that others than the owner of its folder could have written (SPEC 4).
func admitPlain(path string, fi fs.FileInfo) error {
	folder, err := os.Lstat(filepath.Dir(path))
	if err != nil {
		return err
	}
	if err := onlyOwnerWrites(path, fi, folder); err != nil {
		return err
	}
	return oneOwner(path, fi, folder)
}

// onlyOwnerWrites refuses what group or others can write, and a file whose folder is a link, behind which the
// same user may keep what was written for another purpose.
func onlyOwnerWrites(path string, fi, folder fs.FileInfo) error {
	dir := filepath.Dir(path)
	switch {
	case !folder.IsDir():
		return fmt.Errorf("%s is no folder of its own", dir)
	case hasOwners && folder.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by group or others", dir)
	case hasOwners && fi.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by group or others", path)
	}
	return nil
}

// oneOwner refuses a file of another user than its folder's, save one of root's.
func oneOwner(path string, fi, folder fs.FileInfo) error {
	owner, _ := ownerOf(fi)
	if want, _ := ownerOf(folder); hasOwners && owner != want && owner != 0 {
		return fmt.Errorf("%s belongs to uid %d, its folder to uid %d", path, owner, want)
	}
	return nil
}
