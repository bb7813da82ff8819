package stream_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// gathering is a gatherer under test.
type gathering struct {
	*testing.T
	*stream.Gatherer
}

func newGathering(t *testing.T, dirs ...string) gathering {
	t.Helper()
	g, err := stream.NewGatherer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	for _, dir := range dirs {
		if err := g.Add(dir); err != nil {
			t.Fatal(err)
		}
	}
	return gathering{t, g}
}

// gathers wants these changes, each once or more often, and these losses, as base names.
func (g gathering) gathers(changed, lost []string) {
	g.Helper()
	var was, gone []string
	err := g.Gather(func(dir, name string) { was = append(was, filepath.Base(dir)+"/"+name) },
		func(dir string) { gone = append(gone, filepath.Base(dir)) })
	if err != nil {
		g.Fatal(err)
	}
	slices.Sort(was)
	if was = slices.Compact(was); !slices.Equal(was, changed) || !slices.Equal(gone, lost) {
		g.Fatalf("gathered %q, lost %q; want %q and %q", was, gone, changed, lost)
	}
}

func folders(t *testing.T, names ...string) (dirs []string) {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		dirs = append(dirs, filepath.Join(root, name))
		if err := os.Mkdir(dirs[len(dirs)-1], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

func TestGathererGathersUntilItIsAsked(t *testing.T) {
	dirs := folders(t, "a", "b", "c")
	g := newGathering(t, dirs...)
	g.gathers(nil, nil)
	file := filepath.Join(dirs[0], "x")
	must(t, os.WriteFile(file, []byte("1"), 0o644))
	must(t, os.Rename(file, filepath.Join(dirs[1], "y")))
	g.gathers([]string{"a/x", "b/y"}, nil)
	if _, err := os.ReadFile(filepath.Join(dirs[1], "y")); err != nil {
		t.Fatal(err)
	}
	g.gathers(nil, nil) // reading changes nothing
	must(t, os.Chmod(dirs[2], 0o700))
	must(t, os.Remove(filepath.Join(dirs[1], "y")))
	g.gathers([]string{"b/y", "c/"}, nil)
	g.Remove(dirs[1])
	must(t, os.WriteFile(filepath.Join(dirs[1], "z"), nil, 0o644))
	g.gathers(nil, nil)
}

func TestGathererTellsWhatItLoses(t *testing.T) {
	dirs := folders(t, "a", "b")
	g := newGathering(t, dirs...)
	must(t, os.Rename(dirs[0], dirs[0]+"2"))
	must(t, os.Remove(dirs[1]))
	g.gathers(nil, []string{"a", "b"})
	must(t, os.WriteFile(filepath.Join(dirs[0]+"2", "x"), nil, 0o644))
	g.gathers(nil, nil)
	must(t, os.Mkdir(dirs[0], 0o755))
	must(t, g.Add(dirs[0])) // another folder is there now
	must(t, os.WriteFile(filepath.Join(dirs[0], "x"), nil, 0o644))
	g.gathers([]string{"a/x"}, nil)
}

func TestGathererRefusesWhatItCannotTell(t *testing.T) {
	dirs := folders(t, "a")
	g := newGathering(t, dirs...)
	must(t, g.Add(dirs[0]))
	link := dirs[0] + "-link"
	must(t, os.Symlink(dirs[0], link))
	for _, dir := range []string{dirs[0] + "/", link, dirs[0] + "/missing"} {
		if g.Add(dir) == nil {
			t.Errorf("%s is gathered", dir)
		}
	}
}

// More happens than the system keeps: then it may be anything.
func TestGathererOverflow(t *testing.T) {
	dirs := folders(t, "a", "b")
	g := newGathering(t, dirs...)
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil || len(text) > 6 {
		t.Skipf("the system keeps %s events: %v", text, err)
	}
	x, err := os.Create(filepath.Join(dirs[0], "x"))
	must(t, err)
	y, err := os.Create(filepath.Join(dirs[0], "y"))
	must(t, err)
	for range 60_000 { // in turn, since the system merges what repeats itself
		_, err = x.WriteString("1")
		must(t, err)
		_, err = y.WriteString("1")
		must(t, err)
	}
	g.gathers([]string{"a/", "a/x", "a/y", "b/"}, nil)
}
