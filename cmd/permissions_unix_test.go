//go:build unix

package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o644) }

func setUmask(mask int) int { return syscall.Umask(mask) }

// asRoot skips a test that has to give files to other users.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
}

func chown(t *testing.T, uid int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Lchown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
}

func chmod(t *testing.T, mode os.FileMode, path string) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// builtComposition has one of each thing that is checked.
func builtComposition(t *testing.T, config string) (*fakeWorld, *Composition) {
	t.Helper()
	w := newFakeWorld(t)
	c := w.composition(t, config)
	chmod(t, 0o755, c.Dir)
	writeFile(t, c.path("hooks", "free"), "#!/bin/sh\n", 0o755)
	writeFile(t, c.path("grantor", "facts.jsonl"), "", 0o644)
	writeFile(t, c.path("grantor", "run", "x.run"), "", 0o600)
	return w, c
}

func TestGrantorSideIsCheckedForModes(t *testing.T) {
	_, c := builtComposition(t, tinyConfig)
	if found := c.checkGrantorSide(os.Geteuid()); len(found) != 0 {
		t.Fatalf("all is well, but %v", found)
	}
	for _, path := range []string{".", "daolease.yaml", "hooks", "hooks/free", "grantor", "grantor/facts.jsonl", "grantor/run/x.run", "holders"} {
		for _, bit := range []os.FileMode{0o020, 0o002} {
			fi, err := os.Stat(c.path(path))
			if err != nil {
				t.Fatal(err)
			}
			chmod(t, fi.Mode().Perm()|bit, c.path(path))
			found := c.checkGrantorSide(os.Geteuid())
			if len(found) != 1 || found[0].Path != c.path(path) || !strings.HasPrefix(found[0].Mend, "chmod go-w ") {
				t.Errorf("%s with %v: %v", path, bit, found)
			}
			wantExit(t, refuseFindings(exitComposition, found), exitComposition, c.path(path), "chmod go-w ")
			chmod(t, fi.Mode().Perm(), c.path(path))
		}
	}
	chmod(t, 0o777|os.ModeSticky, c.holdersDir())
	if found := c.checkGrantorSide(os.Geteuid()); len(found) != 1 {
		t.Errorf("1777 under path: %v", found)
	}
	if err := refuseFindings(exitComposition, nil); err != nil {
		t.Error(err)
	}
	wantExit(t, refuseFindings(7, []finding{{"a", "b", "c"}, {"d", "e", "f"}}), 7, "a: b", "1 more", "c")
}

func TestGrantorSideIsCheckedForOwners(t *testing.T) {
	asRoot(t)
	w, c := builtComposition(t, tinyConfig)
	for _, path := range []string{".", "daolease.yaml", "hooks", "hooks/free", "grantor", "grantor/facts.jsonl", "grantor/run/x.run", "holders"} {
		chown(t, 1001, c.path(path))
		found := c.checkGrantorSide(0)
		if len(found) != 1 || found[0].Path != c.path(path) || !strings.Contains(found[0].Wrong, "alice") ||
			!strings.Contains(found[0].Mend, "chown 0 ") || !strings.Contains(found[0].Mend, "sudo -u alice") {
			t.Errorf("%s of alice, root judges: %v", path, found)
		}
		if found := c.checkGrantorSide(1001); len(found) != 0 {
			t.Errorf("%s of alice, alice judges: %v", path, found)
		}
		if found := c.checkGrantorSide(1002); len(found) != 1 || !strings.HasPrefix(found[0].Mend, "chown 1002 ") {
			t.Errorf("%s of alice, bob judges: %v", path, found)
		}
		chown(t, 0, c.path(path))
	}
	// A link is as bad as who can change it, and as what it leads to.
	if err := os.Rename(c.path("hooks", "free"), c.path("free")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../free", c.path("hooks", "free")); err != nil {
		t.Fatal(err)
	}
	if found := c.checkGrantorSide(0); len(found) != 0 {
		t.Errorf("a good link: %v", found)
	}
	chmod(t, 0o777, c.path("free"))
	if found := c.checkGrantorSide(0); len(found) != 1 {
		t.Errorf("a link to what all can write: %v", found)
	}
	chmod(t, 0o755, c.path("free"))
	chown(t, 1001, c.path("hooks", "free"))
	if found := c.checkGrantorSide(0); len(found) != 1 || !strings.HasPrefix(found[0].Mend, "chown -h ") {
		t.Errorf("a link of another: %v", found)
	}
	_ = w
}

func TestGrantorSideUnderOwner(t *testing.T) {
	w, c := builtComposition(t, "attribution: owner\ngrantor: me\n"+tinyConfig)
	wantMode(t, c.holdersDir(), 0o777|os.ModeSticky)
	if found := c.checkGrantorSide(os.Geteuid()); len(found) != 0 {
		t.Errorf("1777 under owner: %v", found)
	}
	chmod(t, 0o777, c.holdersDir())
	if found := c.checkGrantorSide(os.Geteuid()); len(found) != 1 || found[0].Mend != "chmod 1777 "+shellQuote(c.holdersDir()) {
		t.Errorf("0777 under owner: %v", found)
	}
	chmod(t, 0o755, c.holdersDir())
	w.users.set(map[int]string{os.Geteuid(): "another"}, nil)
	if found := c.checkGrantorSide(os.Geteuid()); len(found) != 1 || found[0].Mend != "set grantor: another" {
		t.Errorf("the grantor is another: %v", found)
	}
	w.users.set(nil, os.ErrDeadlineExceeded)
	if found := c.checkGrantorSide(os.Geteuid()); len(found) != 1 || !strings.Contains(found[0].Wrong, "cannot be told now") {
		t.Errorf("nobody knows: %v", found)
	}
}

func TestHolderSide(t *testing.T) {
	w, c := builtComposition(t, tinyConfig)
	if err := c.makeHolder("a"); err != nil {
		t.Fatal(err)
	}
	facts := c.path("holders", "a", "facts.jsonl")
	writeFile(t, facts, "", 0o644)
	if err := c.callerIsHolder("a"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{facts, c.holderDir("a")} {
		fi, _ := os.Stat(path)
		chmod(t, fi.Mode().Perm()|0o020, path)
		wantExit(t, c.callerIsHolder("a"), exitRefused, path, "chmod go-w ")
		chmod(t, fi.Mode().Perm(), path)
	}
	if os.Geteuid() == 0 {
		chown(t, 1002, facts)
		wantExit(t, c.callerIsHolder("a"), exitRefused, "belongs to bob", "chown 0 ")
		chown(t, 0, facts)
	}
	for name, make := range map[string]func() error{
		"fifo":    func() error { return makeFIFO(facts) },
		"symlink": func() error { return os.Symlink("/dev/null", facts) },
		"folder":  func() error { return os.Mkdir(facts, 0o755) },
	} {
		if err := os.Remove(facts); err != nil {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if found := c.checkHolderSide("a"); len(found) != 1 || !strings.Contains(found[0].Wrong, "no regular file") {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := c.checkHolderSide("nobody-yet"); len(found) != 0 {
		t.Errorf("no folder: %v", found)
	}
	_ = w
}

func TestHolderSideUnderOwner(t *testing.T) {
	asRoot(t)
	_, c := builtComposition(t, "attribution: owner\ngrantor: me\n"+tinyConfig)
	for _, name := range []string{"alice", "alice@h", "alicex", "bob"} {
		if err := c.makeHolder(name); err != nil {
			t.Fatal(err)
		}
		chown(t, 1001, c.holderDir(name))
		found := c.checkHolderSide(name)
		if right := strings.HasPrefix(name, "alice") && name != "alicex"; right != (len(found) == 0) {
			t.Errorf("%s of alice: %v", name, found)
		}
	}
}

func TestCallers(t *testing.T) {
	asRoot(t)
	w, c := builtComposition(t, tinyConfig)
	if err := c.makeHolder("a b"); codeOf(err) != exitUsage {
		t.Errorf("%v", err)
	}
	if err := c.makeHolder("al"); err != nil {
		t.Fatal(err)
	}
	chown(t, 1001, c.grantorDir(), c.holderDir("al"))
	for uid, code := range map[int]int{0: 0, 1001: 0, 1002: exitRefused} {
		w.UID = uid
		if got := codeOf(c.callerIsGrantor()); got != code {
			t.Errorf("uid %d as the grantor: exit %d", uid, got)
		}
		if got := codeOf(c.callerIsHolder("al")); got != code {
			t.Errorf("uid %d as the holder: exit %d", uid, got)
		}
	}
	w.UID = 1002
	w.args = []string{"propose", "--as", "al", "/srv/a b", "-C/x", "--dir=/y", "--note", "it's"}
	wantExit(t, c.callerIsHolder("al"), exitRefused, `holder "al" belongs to alice, and you are bob`,
		"sudo -u alice daolease -C "+c.Dir+` --as al propose '/srv/a b' --note 'it'\''s'`)
	w.args = []string{"-C", "x", "judge", "--", "--as", "z"}
	wantExit(t, c.callerIsGrantor(), exitRefused, "sudo -u alice daolease -C "+c.Dir+" judge -- --as z")
	chown(t, 4242, c.grantorDir())
	wantExit(t, c.callerIsGrantor(), exitRefused, "uid 4242", "sudo -u '#4242'")

	// What root holds is no task of others; what root grants may be theirs to do as root.
	chown(t, 0, c.grantorDir(), c.holderDir("al"))
	err := c.callerIsHolder("al")
	wantExit(t, err, exitRefused, `holder "al" belongs to `, ", whose holder it is, or be another holder with --as")
	if coded := new(exitError); errors.As(err, &coded) && strings.Contains(coded.hint, "sudo") {
		t.Error(coded.hint)
	}
	wantExit(t, c.callerIsGrantor(), exitRefused, "sudo -u ")
}

// What root creates gets the owner of the folder it lies in.
func TestRootGivesAway(t *testing.T) {
	asRoot(t)
	w, c := builtComposition(t, tinyConfig)
	if err := c.makeHolder("al"); err != nil {
		t.Fatal(err)
	}
	chown(t, 1001, c.holdersDir(), c.holderDir("al"))
	m, err := c.holderStream("al")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Append(t.Context(), streamHow(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := c.makeHolder("al2"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{m.Path(), m.Path() + ".lock", c.holderDir("al2")} {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if uid, gid := ownerOf(fi); uid != 1001 || gid != 1001 {
			t.Errorf("%s belongs to %d:%d", path, uid, gid)
		}
	}
	_ = w
}

// A folder that somebody else put there is left alone, and so is what a link leads to.
func TestMakeFolderLeavesWhatIsThere(t *testing.T) {
	w := newFakeWorld(t)
	target := filepath.Join(w.dir(), "target")
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(w.dir(), "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{target, link} {
		if err := w.makeFolder(path, 0o755); err != nil {
			t.Error(err)
		}
	}
	wantMode(t, target, 0o700)
	if err := w.makeFolder(filepath.Join(w.dir(), "no", "parent"), 0o755); err == nil {
		t.Error("it made the parent")
	}
}

// A folder has its mode from the first moment that anybody can see it: a judge of another user would take one that it
// may not enter for a loss.
func TestAFolderIsWholeWhenItAppears(t *testing.T) {
	w := newFakeWorld(t)
	dir := t.TempDir()
	const many = 300
	path := func(n int) string { return filepath.Join(dir, fmt.Sprint("h", n)) }
	var seen sync.WaitGroup
	seen.Go(func() {
		for n := 0; n < many && t.Context().Err() == nil; {
			if fi, err := os.Lstat(path(n)); err == nil {
				if fi.Mode().Perm() != 0o755 {
					t.Errorf("%s appears with mode %v", path(n), fi.Mode())
				}
				n++
			}
		}
	})
	for n := range many {
		if err := w.makeFolder(path(n), 0o755); err != nil {
			t.Error(err)
		}
	}
	seen.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != many {
		t.Errorf("%d entries, %v", len(left), err)
	}
}

// Whoever may write the folder of a fence's state must be able to lock it, and nobody else.
func TestFenceIsSharedByThoseWhoMayWriteItsFolder(t *testing.T) {
	w := newFakeWorld(t)
	for folder, want := range map[os.FileMode]os.FileMode{0o755: 0o600, 0o775: 0o660, 0o777: 0o666} {
		dir := t.TempDir()
		if err := os.Chmod(dir, folder); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "state")
		if code := w.Run(t.Context(), []string{"fence", "1", "--state", file}); code != 0 {
			t.Fatal(code, w.errs.String())
		}
		fi, err := os.Stat(file + ".lock")
		if err != nil || fi.Mode().Perm() != want {
			t.Errorf("in a folder with mode %v the lock has %v, %v", folder, fi.Mode(), err)
		}
	}
}
