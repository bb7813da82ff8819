package stream_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
	"golang.org/x/sys/unix"
)

func TestFullByTheDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("no file system can be mounted:", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	ballast := filepath.Join(disk, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, 16<<10), 0o644))
	m := openPath(t, filepath.Join(disk, "facts.jsonl"), stream.FileOptions{})
	fillUp(t, m)
	end := mustMint(t, m, stream.Newest)
	big := make([][]byte, 0, 4000)
	for n := range 4000 {
		big = append(big, wide(n))
	}
	if _, err := m.Rewrite(t.Context(), end, stream.ValuesOf(big...)); err == nil {
		t.Fatal("there was room for a rewriting")
	}
	wantState(t, once(t, m, end).Answer, stream.Blocked)
	must(t, os.Remove(ballast))
	entries, err := os.ReadDir(disk)
	if err != nil || len(entries) != 2 {
		t.Fatalf("left over: %v, %v", entries, err)
	}
	if _, err := m.Rewrite(t.Context(), end, stream.ValuesOf(object(0))); err != nil {
		t.Fatal("a rewriting to less:", err)
	}
	mustAppend(t, m, object(1))
	wantTexts(t, everything(t, m).texts, objects(0, 2)...)
}

func TestAFullDiskBeforeTheFirstValue(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no file system can be mounted:", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	must(t, os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 64<<10), 0o644))
	m := openPath(t, filepath.Join(disk, "facts.jsonl"), stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	if _, err := m.Append(t.Context(), stream.How{}, object(0)); err == nil {
		t.Fatal("there was room")
	}
	wantState(t, once(t, m, c).Answer, stream.Blocked)
	must(t, os.Remove(filepath.Join(disk, "ballast")))
	mustAppend(t, m, object(1))
	wantTexts(t, once(t, m, c).texts, object(1))
}
