package stream

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestWatcherForcedToPoll(t *testing.T) {
	opened := false
	w, o := watching(t, WatcherPolling(), from(func() (eventSource, error) {
		opened = true
		return newFakeSource(), nil
	}))
	dir, other := plainDir(t), plainDir(t)
	w.Add(dir)
	w.Add(other)
	w.Check()
	if !w.Polling(dir) || !w.Polling(other) || opened {
		t.Fatal("watched although polling was asked for")
	}
	o.wantReason(t, "asked")
}

func TestWatcherCannotBeHad(t *testing.T) {
	for _, why := range []error{syscall.EMFILE, syscall.ENOSYS} {
		fails := why
		source := newFakeSource()
		w, o := watching(t, from(func() (eventSource, error) {
			if fails != nil {
				return nil, fmt.Errorf("couldn't initialize: %w", fails)
			}
			return source, nil
		}))
		a, b := plainDir(t), plainDir(t)
		w.Add(a)
		w.Add(b)
		w.Check()
		if !w.Polling(a) || !w.Polling(b) {
			t.Fatal("watched by nothing")
		}
		o.wantReason(t, why.Error())
		fails = nil
		w.Check()
		if w.Polling(a) || w.Polling(b) {
			t.Fatal("polled after there was a watcher to be had again")
		}
		o.await(t, a)
		o.await(t, b)
		o.wantLost(t, 1)
	}
}

func TestWatcherHintsOnce(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	parent := plainDir(t)
	a, z := mustMkdir(t, filepath.Join(parent, "a")), mustMkdir(t, filepath.Join(parent, "z"))
	w.Add(a)
	w.Add(z)
	for _, dir := range []string{a, z} {
		source.evs <- fsnotify.Event{Name: filepath.Join(dir, "facts.jsonl"), Op: fsnotify.Write}
		o.await(t, dir)
	}
	if n := o.count(a); n != 1 {
		t.Fatalf("hinted %d times of one event", n)
	}
}

func TestWatcherTableFull(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	a, b, c := plainDir(t), plainDir(t), plainDir(t)
	source.order(b, syscall.ENOSPC)
	source.order(c, syscall.ENOSPC)
	for _, dir := range []string{a, b, c} {
		w.Add(dir)
	}
	before := source.refused
	w.Check()
	if w.Polling(a) || !w.Polling(b) || !w.Polling(c) {
		t.Fatal("one is watched and two are not")
	}
	if n := source.refused - before; n != 1 {
		t.Fatalf("a check tried %d times for room that there is not", n)
	}
	o.wantReason(t, b, syscall.ENOSPC.Error())
	source.evs <- fsnotify.Event{Name: filepath.Join(a, "facts.jsonl"), Op: fsnotify.Write}
	o.await(t, a)
	source.order(b, nil)
	source.order(c, nil)
	w.Check()
	if w.Polling(b) || w.Polling(c) {
		t.Fatal("polled after there was room again")
	}
	o.await(t, b)
	o.await(t, c)
	o.wantLost(t, 1)
}

func TestWatcherTableFullAfterAllWasLost(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	dirs := []string{plainDir(t), plainDir(t), plainDir(t)}
	for _, dir := range dirs {
		w.Add(dir)
	}
	for _, dir := range dirs {
		source.forget(dir)
		source.order(dir, syscall.ENOSPC)
	}
	w.Check()
	for _, dir := range dirs {
		if !w.Polling(dir) {
			t.Fatalf("%q is watched by nothing and need not be polled", dir)
		}
		o.await(t, dir)
	}
	o.wantLost(t, 1)
}

func TestWatcherOneFolderRefused(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	parent := plainDir(t)
	a, b := mustMkdir(t, filepath.Join(parent, "a")), mustMkdir(t, filepath.Join(parent, "b"))
	source.order(a, syscall.EACCES)
	w.Add(a)
	w.Add(b)
	source.forget(b)
	w.Check()
	if !w.Polling(a) || w.Polling(b) || !slices.Contains(source.WatchList(), b) {
		t.Fatal("one folder that is refused keeps no other from being watched")
	}
	o.wantReason(t, a, "cannot be watched")
}

func TestWatcherNetworkFileSystem(t *testing.T) {
	source := newFakeSource()
	a, b := plainDir(t), plainDir(t)
	w, o := watching(t, fromFake(source), func(w *Watcher) {
		w.network = func(dir string) bool { return dir == b }
	})
	w.Add(a)
	w.Add(b)
	w.Check()
	if w.Polling(a) || !w.Polling(b) {
		t.Fatal("what is on the network is polled, and nothing else")
	}
	o.wantReason(t, b, "network")
	source.evs <- fsnotify.Event{Name: filepath.Join(b, "facts.jsonl"), Op: fsnotify.Write}
	o.await(t, b) // what this machine changes is hinted all the same
	if onNetwork(a) {
		t.Log("the test's own folder is on a network file system")
	}
}

func TestWatcherOverflowHintsOfEverything(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	dirs := []string{plainDir(t), plainDir(t), plainDir(t)}
	for _, dir := range dirs {
		w.Add(dir)
	}
	for _, err := range []error{fsnotify.ErrEventOverflow, errors.New("any other")} {
		o.forget()
		source.errs <- err
		for _, dir := range dirs {
			o.await(t, dir)
		}
	}
	o.wantLost(t, 0)
}

func TestWatcherUnmountedWithoutAWord(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	dir := plainDir(t)
	w.Add(dir)
	w.Check()
	if o.count(dir) != 0 {
		t.Fatal("hinted of a folder that is as it was")
	}
	source.forget(dir)
	w.Check()
	if !slices.Contains(source.WatchList(), dir) || w.Polling(dir) {
		t.Fatal("not watched again")
	}
	o.await(t, dir)
}

// A folder made again may bear the inode of the one that was removed, so that only the event tells.
func TestWatcherFolderMadeAgainUnderTheSameInode(t *testing.T) {
	for _, op := range []fsnotify.Op{fsnotify.Remove, fsnotify.Rename} {
		source := newFakeSource()
		w, o := watching(t, fromFake(source))
		dir := plainDir(t)
		w.Add(dir)
		source.evs <- fsnotify.Event{Name: dir, Op: op}
		o.await(t, dir)
		if !w.Polling(dir) {
			t.Fatalf("%s of the folder, and it need not be polled", op)
		}
		o.forget()
		w.Check()
		if w.Polling(dir) {
			t.Fatalf("%s of the folder, and it is not watched again", op)
		}
		o.await(t, dir)
	}
}

func TestWatcherDrainsWhileAHintTakesItsTime(t *testing.T) {
	source := newFakeSource()
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	o := newObserver()
	w := NewWatcher(func(dir string) {
		once.Do(func() { close(entered); <-leave })
		o.hint(dir)
	}, o.lost, fromFake(source))
	a, b := plainDir(t), plainDir(t)
	w.Add(a)
	w.Add(b)
	source.evs <- fsnotify.Event{Name: filepath.Join(a, "facts.jsonl"), Op: fsnotify.Write}
	<-entered
	limit := time.After(patience)
	for n := range 10_000 {
		select {
		case source.evs <- fsnotify.Event{Name: filepath.Join(b, "facts.jsonl"), Op: fsnotify.Write}:
		case <-limit:
			t.Fatalf("event %d was not taken", n)
		}
		if n%100 == 0 {
			source.errs <- fsnotify.ErrEventOverflow
		}
	}
	close(leave)
	o.await(t, b)
	must(t, w.Close())
	if n := o.count(b); n > 2 {
		t.Fatalf("%d hints of what is one", n)
	}
}

// TestWatcherRests has an event wait for as long as the rest is, and neither keep Close waiting.
func TestWatcherRests(t *testing.T) {
	source := newFakeSource()
	w, o := watching(t, fromFake(source))
	a := plainDir(t)
	w.Add(a)
	w.Rest(time.Hour)
	// What follows at once may belong to the same batch, so each event comes later after the last one.
	for gap := time.Duration(0); gap < patience; gap = 2*gap + time.Millisecond {
		time.Sleep(gap)
		select {
		case source.evs <- fsnotify.Event{Name: filepath.Join(a, "facts.jsonl"), Op: fsnotify.Write}:
			o.await(t, a)
		case <-time.After(3 * watcherRest):
			if gap == 0 {
				t.Fatal("it takes nothing")
			}
			must(t, w.Close())
			return
		}
	}
	t.Fatal("it does not rest")
}

func TestWatcherClose(t *testing.T) {
	o := newObserver()
	w := NewWatcher(o.hint, o.lost)
	dir := t.TempDir()
	w.Add(dir)
	mustWrite(t, filepath.Join(dir, "facts.jsonl"))
	o.await(t, dir)
	must(t, w.Close())
	must(t, w.Close())
	if !w.Polling(dir) {
		t.Fatal("a watcher that was closed watches nothing")
	}
	o.forget()
	mustWrite(t, filepath.Join(dir, "facts.jsonl"))
	w.Add(dir)
	w.Check()
	w.Remove(dir)
	if !w.Polling(dir) || o.count(dir) != 0 {
		t.Fatal("watches after it was closed")
	}
	must(t, NewWatcher(o.hint, o.lost).Close())
	o.wantLost(t, 0)
}

func TestWatcherFromManyGoroutines(t *testing.T) {
	w, o := watching(t)
	parent := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		dir := mustMkdir(t, filepath.Join(parent, fmt.Sprint(i)))
		all.Go(func() {
			for range 20 {
				w.Add(dir)
				mustWrite(t, filepath.Join(dir, "facts.jsonl"))
				w.Polling(dir)
				w.Check()
				w.Remove(dir)
			}
			w.Add(dir)
		})
	}
	all.Wait()
	o.forget()
	for i := range 8 {
		dir := filepath.Join(parent, fmt.Sprint(i))
		mustWrite(t, filepath.Join(dir, "facts.jsonl"))
		o.await(t, dir)
	}
	o.wantLost(t, 0)
}
