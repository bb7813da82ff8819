package cmd_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// On a full disk a newer token cannot be noted and so is not admitted; the one that is noted goes on.
func TestFenceOnAFullDisk(t *testing.T) {
	f := newFenced(t)
	if err := unix.Mount("none", f.dir, "tmpfs", 0, "size=64k,mode=755"); err != nil {
		t.Skip("no file system can be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(f.dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	f.call(5, false)
	ballast, err := os.Create(f.path("ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	if err := ballast.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(f.command, "fence", "6", "--state", f.path("state"), "--", "touch", f.path("ran"))
	said, _ := cmd.CombinedOutput() // the code is looked at
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(said), "token 6 cannot be noted") {
		t.Errorf("exit %d: %s", code, said)
	}
	if _, err := os.Lstat(f.path("ran")); err == nil {
		t.Error("the command ran all the same")
	}
	f.call(5, false)
	if f.denied.Load() > 0 {
		t.Error("the token that is noted was denied")
	}
}
