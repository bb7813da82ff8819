package cmd_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A lock that another process keeps is waited for, and not for ever.
func TestFaultLockKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1h, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	judge := w.judge()
	w.want(0, as("alice", "propose", "x"))
	w.want(0, as("alice", "renew"))
	for _, c := range []struct {
		lock string
		args []string
	}{
		{"holders/alice/facts.jsonl.lock", as("alice", "renew")},
		{"holders/alice/ticks.jsonl.lock", as("alice", "renew")},
		{"holders/alice/facts.jsonl.lock", as("alice", "release")},
		{"grantor/facts.jsonl.lock", []string{"grant", "y", "bob"}},
	} {
		before := w.read("holders/alice/facts.jsonl")
		unlock := w.lockOut(c.lock)
		began := time.Now()
		w.want(6, c.args, c.lock+" was not to be had within 5s", "the file system did not answer")
		if took := time.Since(began); took < 5*time.Second || took > bound/2 {
			t.Errorf("%v on %s took %v", c.args, c.lock, took)
		}
		unlock()
		if w.read("holders/alice/facts.jsonl") != before {
			t.Errorf("%v on %s was written all the same", c.args, c.lock)
		}
	}
	w.want(0, as("alice", "release", "--wait", "30s"))
	w.want(0, []string{"grant", "y", "bob"})
	judge.stop()
	w.once()
}

// A composition has one judge by whatever name it is called.
func TestFaultTwoNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: \"*\", duration: 1h, reclaim: [hooks/free]}]\n", map[string]string{"free": noting})
	judge := w.judge()
	names := map[string]func(other string) error{
		"link": func(other string) error { return os.Symlink(w.dir, other) },
		"bind": func(other string) error {
			if err := os.Mkdir(other, 0o755); err != nil {
				return err
			}
			if err := unix.Mount(w.dir, other, "", unix.MS_BIND, ""); err != nil {
				t.Skip("nothing can be mounted: ", err)
			}
			t.Cleanup(func() { w.must(unix.Unmount(other, unix.MNT_DETACH)) })
			return nil
		},
	}
	for _, name := range []string{"link", "bind"} {
		other := *w
		other.dir = filepath.Join(t.TempDir(), name)
		w.must(names[name](other.dir))
		other.want(8, []string{"judge"}, "another judge runs")
		other.want(8, []string{"judge", "--once"}, "another judge runs")
		other.want(0, as(name, "propose", name)) // the one judge hears holders by every name
	}
	judge.stop()
}
