package stream

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestWatcherHintsTheFolder(t *testing.T) {
	w, o := watching(t)
	a, b := t.TempDir(), t.TempDir()
	w.Add(a)
	w.Add(b)
	if w.Polling(a) || w.Polling(b) || !w.Polling("elsewhere") {
		t.Fatal("what was added is watched, and nothing else is")
	}
	mustWrite(t, filepath.Join(b, "facts.jsonl"))
	o.await(t, b)
	if o.count(a) != 0 {
		t.Fatal("hinted of a folder in which nothing happened")
	}
	for range 3 {
		o.forget()
		mustWrite(t, filepath.Join(a, "facts.jsonl"))
		o.await(t, a)
	}
	o.forget()
	must(t, os.Rename(filepath.Join(a, "facts.jsonl"), filepath.Join(a, "facts.jsonl.1")))
	o.await(t, a)
	o.forget()
	must(t, os.Remove(filepath.Join(a, "facts.jsonl.1")))
	o.await(t, a)
	o.wantLost(t, 0)
}

func TestWatcherHintsOfChmod(t *testing.T) {
	w, o := watching(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "facts.jsonl")
	mustWrite(t, path)
	w.Add(dir)
	must(t, os.Chmod(path, 0o600))
	o.await(t, dir)
	o.forget()
	must(t, os.Chmod(dir, 0o700))
	o.await(t, dir)
	if w.Polling(dir) {
		t.Fatal("a chmod ended the watching")
	}
}

func TestWatcherIgnoresLocksAndTemporaryFiles(t *testing.T) {
	w, o := watching(t)
	parent := t.TempDir()
	a, z := mustMkdir(t, filepath.Join(parent, "a")), mustMkdir(t, filepath.Join(parent, "z"))
	w.Add(a)
	w.Add(z)
	for _, name := range []string{"facts.jsonl.lock", "judge.lock", "notes.json.tmp"} {
		mustWrite(t, filepath.Join(a, name))
		must(t, os.Chmod(filepath.Join(a, name), 0o600))
	}
	must(t, os.Remove(filepath.Join(a, "notes.json.tmp")))
	// Events come in order and names are hinted in order: once z is, a would have been.
	mustWrite(t, filepath.Join(z, "facts.jsonl"))
	o.await(t, z)
	if n := o.count(a); n != 0 {
		t.Fatalf("hinted %d times of locks and temporary files", n)
	}
}

func TestWatcherMinding(t *testing.T) {
	parent := t.TempDir()
	a, z := mustMkdir(t, filepath.Join(parent, "a")), mustMkdir(t, filepath.Join(parent, "z"))
	w, o := watching(t, WatcherMinding(func(dir, name string) bool { return dir == z || name == "minded" }))
	w.Add(a)
	w.Add(z)
	mustWrite(t, filepath.Join(a, "facts.jsonl"))
	mustWrite(t, filepath.Join(z, "facts.jsonl"))
	o.await(t, z)
	if n := o.count(a); n != 0 {
		t.Fatalf("hinted %d times of what is not minded", n)
	}
	mustWrite(t, filepath.Join(a, "minded"))
	o.await(t, a)
}

func TestWatcherFolderNamedLikeALock(t *testing.T) {
	w, o := watching(t)
	parent := t.TempDir()
	dir := mustMkdir(t, filepath.Join(parent, "sub.lock"))
	w.Add(dir)
	mustWrite(t, filepath.Join(dir, "facts.jsonl"))
	o.await(t, dir)
}

func TestWatcherRemove(t *testing.T) {
	w, o := watching(t)
	parent := t.TempDir()
	a, z := mustMkdir(t, filepath.Join(parent, "a")), mustMkdir(t, filepath.Join(parent, "z"))
	w.Add(a)
	w.Add(z)
	w.Remove(a)
	w.Remove("never added")
	w.Check()
	if !w.Polling(a) {
		t.Fatal("watched after it was removed")
	}
	mustWrite(t, filepath.Join(a, "facts.jsonl"))
	mustWrite(t, filepath.Join(z, "facts.jsonl"))
	o.await(t, z)
	if o.count(a) != 0 {
		t.Fatal("hinted of a folder that is watched no more")
	}
}

func TestWatcherFolderMadeAgain(t *testing.T) {
	for name, gone := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"renamed": func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+".old")) },
		"parent renamed": func(t *testing.T, dir string) {
			parent := filepath.Dir(dir)
			must(t, os.Rename(parent, parent+".old"))
		},
	} {
		for _, withParent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, parent watched %t", name, withParent), func(t *testing.T) {
				w, o := watching(t)
				dir := mustMkdir(t, filepath.Join(t.TempDir(), "holders", "alice"))
				if withParent {
					w.Add(filepath.Dir(dir))
				}
				w.Add(dir)
				gone(t, dir)
				awaitNoticed(t, w, o, dir)
				w.Check()
				if !w.Polling(dir) {
					t.Fatal("a folder that is not there need not be polled")
				}
				mustMkdir(t, dir)
				o.forget()
				awaitWatched(t, w, dir)
				o.await(t, dir)
				// Once more: events about the old folder may still have been on their way.
				for range 2 {
					o.forget()
					mustWrite(t, filepath.Join(dir, "facts.jsonl"))
					o.await(t, dir)
				}
				o.wantLost(t, 0)
			})
		}
	}
}

func TestWatcherFolderReplacedBetweenChecks(t *testing.T) {
	w, o := watching(t)
	dir := mustMkdir(t, filepath.Join(t.TempDir(), "alice"))
	w.Add(dir)
	must(t, os.Rename(dir, dir+".old"))
	mustMkdir(t, dir)
	w.Check() // whether or not the events have come
	o.await(t, dir)
	awaitWatched(t, w, dir)
	o.forget()
	mustWrite(t, filepath.Join(dir, "facts.jsonl"))
	awaitNoticed(t, w, o, dir)
}

func TestWatcherFolderMadeLater(t *testing.T) {
	w, o := watching(t)
	dir := filepath.Join(t.TempDir(), "holders", "alice")
	w.Add(dir)
	w.Check()
	if !w.Polling(dir) || o.count(dir) != 0 {
		t.Fatal("there is nothing to watch or to hint yet")
	}
	mustMkdir(t, dir)
	w.Check()
	if w.Polling(dir) {
		t.Fatal("not watched by the first check that finds it")
	}
	o.await(t, dir)
	o.wantLost(t, 0)
}

func TestWatcherFolderUnderTwoNames(t *testing.T) {
	w, o := watching(t)
	parent := t.TempDir()
	dir, link := mustMkdir(t, filepath.Join(parent, "dir")), filepath.Join(parent, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	w.Add(link)
	w.Add(dir)
	mustWrite(t, filepath.Join(dir, "facts.jsonl"))
	o.await(t, dir)
	o.await(t, link)
	w.Remove(dir)
	o.forget()
	mustWrite(t, filepath.Join(dir, "facts.jsonl"))
	o.await(t, link)

	other := mustMkdir(t, filepath.Join(parent, "other"))
	must(t, os.Remove(link))
	must(t, os.Symlink(other, link))
	w.Check()
	o.forget()
	mustWrite(t, filepath.Join(other, "facts.jsonl"))
	awaitNoticed(t, w, o, link)
	if w.Polling(link) {
		t.Fatal("where the link leads now is not watched")
	}
}
