//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// listed is what lies in a folder, with the types.
func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name()+" "+e.Type().String())
	}
	return names
}

// A picture goes where a shell's redirect would put it: through a link, into a FIFO, into a device. None of them is
// replaced, and nothing is left beside them.
func TestAPictureReplacesNothingButFiles(t *testing.T) {
	w := storied(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	picture, _ := w.must(t, 0, "timeline --svg -")

	writeFile(t, at("old"), "before", 0o640)
	for link, to := range map[string]string{"link": "old", "loose": "new"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := append(listed(t, dir), "new "+os.FileMode(0).String())
	slices.Sort(before)

	w.must(t, 0, "timeline --svg "+at("link"))
	w.must(t, 0, "timeline --svg "+at("loose"))
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(at("fifo")) // what is missing of it is seen
		read <- string(text)
	}()
	w.must(t, 0, "timeline --svg "+at("fifo"))
	if !slices.Equal(listed(t, dir), before) {
		t.Fatalf("there is %q, and was %q", listed(t, dir), before)
	}
	written := map[string]string{"fifo": <-read}
	for _, name := range []string{"old", "new"} {
		text, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		written[name] = string(text)
	}
	for name, got := range written {
		if strings.TrimSpace(got) != strings.TrimSpace(picture) {
			t.Errorf("%s has not the picture, but %.80q", name, got)
		}
	}
	if fi, err := os.Stat(at("old")); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("the mode of what was there: %v %v", fi, err)
	}
	_, errs := w.must(t, exitFailure, "timeline --svg "+at("folder"))
	says(t, errs, "the picture could not be written to "+at("folder"), "is a directory")
	if after := listed(t, dir); !slices.Equal(after, before) {
		t.Errorf("there is %q, and was %q", after, before)
	}
}

// A device is written into and says itself what becomes of it. The node is one that this test made.
func TestAPictureIsWrittenIntoADevice(t *testing.T) {
	w := storied(t)
	full := filepath.Join(t.TempDir(), "full")
	if err := unix.Mknod(full, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 7))); err != nil {
		t.Skip("no node can be made: ", err)
	}
	if f, err := os.OpenFile(full, os.O_WRONLY, 0); err != nil {
		t.Skip("no node can be used: ", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, errs := w.must(t, exitFailure, "timeline --svg "+full)
	says(t, errs, "the picture could not be written to "+full, "no space left")
	w.must(t, exitUsage, "judge --once --metrics-file "+full)
	w.must(t, exitFailure, "fence 7 --state "+full)
	if left := listed(t, filepath.Dir(full)); len(left) != 1 || !strings.HasPrefix(left[0], "full Dc") {
		t.Errorf("there is %q", left)
	}
}

// Metrics are replaced at each pass, so they want a regular file; a link is followed to one.
func TestMetricsReplaceNothingButAFile(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	dir := t.TempDir()
	fifo, link, loose, prom := filepath.Join(dir, "fifo"), filepath.Join(dir, "link"), filepath.Join(dir, "loose"), filepath.Join(dir, "prom")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, prom, "", 0o600)
	for from, to := range map[string]string{link: prom, loose: filepath.Join(dir, "none")} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	before := listed(t, dir)
	_, errs := w.must(t, exitUsage, "judge --once --metrics-file "+fifo)
	says(t, errs, "--metrics-file "+fifo+": it is no regular file", "hint: ")
	_, errs = w.must(t, exitUsage, "judge --once --metrics-file "+loose)
	says(t, errs, "it is a link to what is not there")
	w.must(t, 0, "judge --once --metrics-file "+link)
	contains(t, measured(t, prom), "daolease_passes_total")
	if after := listed(t, dir); !slices.Equal(after, before) {
		t.Errorf("there is %q, and was %q", after, before)
	}
}
