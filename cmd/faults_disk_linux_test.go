package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const diskSubjects = quick + `retention: {ledger: 64KiB, ticks: 1MiB}
subjects:
  - {match: due, duration: 3s, reclaim: [hooks/free]}
  - {match: kept, duration: 4s, reclaim: [hooks/free]}
  - {match: "*", duration: 1h, reclaim: [hooks/free]}
`

// newDisk is a composition on a small file system of its own.
func newDisk(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, diskSubjects, map[string]string{"free": noting})
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=512k,mode=755"); err != nil {
		t.Skip("no file system can be mounted: ", err)
	}
	t.Cleanup(func() { w.must(unix.Unmount(disk, unix.MNT_DETACH)) })
	w.must(os.CopyFS(disk, os.DirFS(w.dir)))
	w.dir = disk
	return w
}

// fillUp leaves no room: not on the disk, and not in the last block of these files.
func (w *world) fillUp(files ...string) {
	w.Helper()
	for _, path := range append([]string{w.path("ballast")}, files...) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		w.must(err)
		line := []byte("{}\n")
		if strings.HasSuffix(path, "ballast") {
			line = make([]byte, 4096)
		}
		for err == nil {
			_, err = f.Write(line)
		}
		w.must(f.Close())
		if !strings.Contains(err.Error(), "no space left") {
			w.Fatal(err)
		}
	}
}

// sizes is how long each file is.
func (w *world) sizes() map[string]int64 {
	w.Helper()
	sizes := map[string]int64{}
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") {
			fi, err := d.Info()
			if err == nil {
				sizes[path] = fi.Size()
			}
			return err
		}
		return err
	}))
	return sizes
}

// uncut checks that no stream has become shorter. The ledger is none that others read, and is compacted.
func (w *world) uncut(before map[string]int64) {
	w.Helper()
	after := w.sizes()
	for path, size := range before {
		if after[path] < size && filepath.Base(path) != "ledger.jsonl" {
			w.Errorf("%s had %d bytes, and has %d", path, size, after[path])
		}
	}
}

// Where there is no room time stands still. When there is again, what was not heard meanwhile is heard first.
func TestFaultFullDisk(t *testing.T) {
	t.Parallel()
	w := newDisk(t)
	judge := w.judge()
	w.want(0, as("carol", "propose", "long"))
	kept := w.want(0, as("alice", "propose", "kept"))
	due := w.want(0, []string{"grant", "due", "bob"})
	w.passes(1)
	var files []string
	for _, name := range []string{"grantor/ticks.jsonl", "grantor/facts.jsonl", "holders/carol/facts.jsonl", "holders/carol/ticks.jsonl", "holders/alice/facts.jsonl"} {
		files = append(files, w.path(name))
	}
	w.fillUp(files...)
	began, before := time.Now(), w.sizes()
	const full = "no space left on device"
	w.want(6, as("carol", "renew"), full)
	w.want(6, []string{"grant", "more", "bob"}, full)
	judge.says(full)
	for time.Since(began) < 6*time.Second { // longer than each of the two may be silent
		w.want(6, as("carol", "renew"), full)
		<-time.After(200 * time.Millisecond)
	}
	if got := w.of("lapsed"); len(got) != 0 {
		t.Errorf("lapsed on a full disk: %v", got)
	}
	w.uncut(before)
	if n := strings.Count(judge.said.String(), full); n > 12 {
		t.Errorf("it was said %d times: %s", n, judge.said)
	}

	w.must(os.Remove(w.path("ballast")))
	w.renewal("alice", kept)
	still := w.renewing("alice", kept)
	w.want(0, as("carol", "renew"))
	w.until("what is due lapses", func() bool { return w.lapsed(due) })
	w.want(0, []string{"grant", "more", "bob"})
	w.passes(10)
	if w.lapsed(kept) {
		t.Errorf("it was renewed in time, and lapsed: %v", w.of("lapsed")[kept])
	}
	still()
	w.until("what is not renewed any more lapses", func() bool { return w.lapsed(kept) })
	judge.stop()
	w.uncut(before)
	w.once()
}

// Whoever meets a full disk is told which one it is, and what to do; and whether a renewal counts whose note could not
// be kept.
func TestFaultFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	w := newDisk(t)
	judge := w.judge()
	w.want(0, as("carol", "propose", "long"))
	w.passes(1)
	w.fillUp()
	room := "hint: make room on the file system of " + w.path("holders/carol")
	w.want(6, as("carol", "renew"), "renewed all the same: it is on the stream", `the notes of "carol" cannot be kept`, room)
	if !strings.Contains(w.read("holders/carol/facts.jsonl"), "dao.lease/renewal") {
		t.Error("it is not on the stream")
	}
	w.fillUp(w.path("grantor/ticks.jsonl"), w.path("holders/carol/ticks.jsonl"))
	w.want(6, as("carol", "propose", "other"), "taking a reading: "+w.path("holders/carol/ticks.jsonl")+": the medium is full", "hint: make room on the file system of that file")
	full := "the file system of " + w.path("grantor") + " is full: it has no free block"
	judge.says(full)
	w.until("no judge passes", func() bool { return strings.Contains(w.run("check", "--live").out, "for want of room") })
	w.want(10, []string{"check", "--live"}, full, "make room on it")
	w.must(os.Remove(w.path("ballast"))) // without room for its last lines the judge ends with an error
	w.passes(1)
	judge.stop()
}

// What only reads works on a file system that is read-only, and what writes says why it does not.
func TestFaultReadOnlyDisk(t *testing.T) {
	t.Parallel()
	w := newDisk(t)
	judge := w.judge()
	w.want(0, as("carol", "propose", "long"))
	due := w.want(0, []string{"grant", "due", "bob"})
	w.passes(1)
	judge.stop()
	if err := unix.Mount("", w.dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("it cannot be made read-only: ", err)
	}
	before := w.snapshot()
	const only = "read-only file system"
	w.want(6, as("carol", "renew"), only, "hint: the file system of "+w.path("holders/carol")+" is mounted read-only")
	w.want(1, as("dave", "propose", "long"), `the folder of holder "dave" cannot be made: `+only, "hint: the file system of "+w.path("holders")+" is mounted read-only")
	w.want(6, []string{"grant", "more", "bob"}, only)
	w.want(1, []string{"judge"}, only)
	w.want(0, []string{"inspect"}, "carol")
	w.want(0, []string{"log"}, due)
	if after := w.snapshot(); after != before {
		t.Errorf("it changed from\n%s\nto\n%s", before, after)
	}
	w.must(unix.Mount("", w.dir, "", syscall.MS_REMOUNT, ""))
	judge = w.judge()
	w.want(0, as("carol", "renew"))
	w.until("what is due lapses", func() bool { return w.lapsed(due) })
	w.want(0, []string{"grant", "more", "bob"})
	judge.stop()
	w.once()
}

// A holder whose folder is gone is silent, and can begin anew.
func TestFaultFolderRemoved(t *testing.T) {
	t.Parallel()
	w := newDisk(t)
	judge := w.judge()
	lease := w.want(0, as("alice", "propose", "due"))
	w.passes(2)
	w.must(os.RemoveAll(w.path("holders/alice")))
	w.want(3, as("alice", "renew"))
	judge.says("a gap on alice")
	w.until("it lapses", func() bool { return w.lapsed(lease) })
	if cause := w.of("lapsed")[lease][0].Cause; cause != "silence" {
		t.Errorf("it lapsed by %s", cause)
	}
	w.want(0, as("alice", "propose", "long", "--wait", "30s"))
	w.want(0, as("alice", "renew"))
	judge.stop()
	w.once()
}
