package cmd

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// asUser runs fn on a thread that is this user for the file system. Go's own call would change every thread.
func asUser(t *testing.T, uid int, fn func()) {
	t.Helper()
	asRoot(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set := func(uid int) {
		if _, _, err := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); err != 0 {
			t.Fatal(err)
		}
	}
	set(uid)
	defer set(0)
	fn()
}

// reachable lets every user reach a temporary folder.
func reachable(t *testing.T, dir string) {
	t.Helper()
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		chmod(t, 0o755, dir)
	}
}

// One who may not make a folder for itself is told who can.
func TestHolderFolderThatMayNotBeMade(t *testing.T) {
	w, c := builtComposition(t, tinyConfig)
	reachable(t, c.Dir)
	asUser(t, 1001, func() {
		w.UID = 1001
		wantExit(t, c.makeHolder("alice"), exitRefused, `holder "alice" has no folder here`, "holder add alice --user alice")
	})
}

// Under owner everybody makes a folder of their own, and nobody another's.
func TestHolderFoldersUnderOwner(t *testing.T) {
	w, c := builtComposition(t, "attribution: owner\ngrantor: me\n"+tinyConfig)
	reachable(t, c.Dir)
	asUser(t, 1001, func() {
		w.UID = 1001
		if err := c.makeHolder("alice@host"); err != nil {
			t.Error(err)
		}
		if err := c.callerIsHolder("alice@host"); err != nil {
			t.Error(err)
		}
		if err := c.makeHolder("bob"); err != nil {
			t.Error(err)
		}
		wantExit(t, c.callerIsHolder("bob"), exitRefused, `belongs to "alice"`)
	})
	asUser(t, 1002, func() {
		w.UID = 1002
		wantExit(t, c.callerIsHolder("alice@host"), exitRefused, "belongs to alice, and you are bob")
		if err := os.RemoveAll(c.holderDir("alice@host")); err == nil {
			t.Error("bob removed alice's folder")
		}
	})
}

// A composition that cannot be looked into is refused, and not passed by for one further up.
func TestFindStopsAtWhatItMayNotSee(t *testing.T) {
	w, c := builtComposition(t, tinyConfig)
	reachable(t, c.Dir)
	inner := c.path("inner")
	if err := os.MkdirAll(filepath.Join(inner, ".daolease"), 0o755); err != nil {
		t.Fatal(err)
	}
	chmod(t, 0o700, filepath.Join(inner, ".daolease"))
	w.Cwd = func() (string, error) { return inner, nil }
	asUser(t, 1001, func() {
		_, err := find(w.App)
		wantExit(t, err, exitComposition, "permission denied")
	})
}

// A configuration that the caller may read is enough, whatever lies in hooks/.
func TestHolderNeedsNoHooks(t *testing.T) {
	w, c := builtComposition(t, "subjects: [{match: a, reclaim: [hooks/free]}]\n")
	reachable(t, c.Dir)
	chmod(t, 0o700, c.hooksDir())
	asUser(t, 1001, func() {
		w.UID = 1001
		if _, err := find(w.App); err != nil {
			t.Error(err)
		}
		if err := c.Config.assemble(c.Dir, 1001); err == nil {
			t.Error("the hook was seen after all")
		}
		for _, f := range c.checkGrantorSide(0) {
			t.Errorf("what is private is a finding: %v", f)
		}
	})
}
