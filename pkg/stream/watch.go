package stream

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher hints in which folders something has changed (SPEC 3, Watching). A hint may come late, for nothing, or
// never; whoever is hinted reads, and reads at its own cadence anyway. All methods may be called from any goroutine.
type Watcher struct {
	hint    func(dir string)
	lost    func(reason string)
	forced  bool // to poll, whatever could be watched
	open    func() (eventSource, error)
	network func(dir string) bool

	// ops is held around calls of the source and taken before mu. What drains the source takes mu alone: the
	// source may wait for its events to be taken while it keeps its callers waiting.
	ops    sync.Mutex
	source eventSource // nil until something is to be watched
	closed bool

	mu      sync.Mutex
	folders map[string]*folder   // by the name under which each was added
	byPath  map[string][]*folder // by the path that events name
	dirty   map[string]struct{}  // the names to hint next
	said    bool                 // that polling is needed
	wake    chan struct{}
	stop    chan struct{}
	running sync.WaitGroup
}

// folder is what a Watcher knows of one folder. Its fields are guarded by the watcher's mu.
type folder struct {
	name    string
	path    string      // without symlinks; empty while it is not known
	info    os.FileInfo // of the folder that is watched
	watched bool
	network bool // it is watched, and yet not everything can be seen
}

// WatcherOption is how a Watcher differs from one that watches what it can.
type WatcherOption func(*Watcher)

// WatcherPolling makes a watcher that watches nothing, so that every folder must be polled.
func WatcherPolling() WatcherOption {
	return func(w *Watcher) { w.forced = true }
}

// NewWatcher makes a watcher of no folder yet; it starts nothing before one is added. hint is called from a
// goroutine of the watcher's own, one call at a time, and must not call Close. lost is called at most once, with
// a sentence that says why some folder must be polled.
func NewWatcher(hint func(dir string), lost func(reason string), opts ...WatcherOption) *Watcher {
	w := &Watcher{
		hint: hint, lost: lost, open: openSource, network: onNetwork,
		folders: map[string]*folder{}, byPath: map[string][]*folder{}, dirty: map[string]struct{}{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	for _, opt := range opts {
		opt(w)
	}
	return w
}

// Add watches a folder. What changed before it returned is not hinted: add first, then read. A folder that
// does not exist is watched by the first Check that finds it.
func (w *Watcher) Add(dir string) {
	w.ops.Lock()
	reason := w.add(dir)
	w.ops.Unlock()
	w.say(reason)
}

// Remove watches a folder no more.
func (w *Watcher) Remove(dir string) {
	w.ops.Lock()
	defer w.ops.Unlock()
	w.mu.Lock()
	f := w.folders[dir]
	delete(w.folders, dir)
	delete(w.dirty, dir)
	w.mu.Unlock()
	if f != nil {
		w.drop(f)
	}
}

// Polling says that hints of a folder are not to be counted on: it must be polled.
func (w *Watcher) Polling(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.folders[dir]
	return f == nil || !f.watched || f.network
}

// Check watches again what was removed and made again, moved, mounted over, or could not be watched before. It is
// called at the caller's cadence. A folder of which that is so is hinted, since changes there went unseen.
func (w *Watcher) Check() {
	w.ops.Lock()
	reason := w.check()
	w.ops.Unlock()
	w.say(reason)
}

// Close ends all watching. After it has returned hint is not called any more.
func (w *Watcher) Close() error {
	w.ops.Lock()
	if w.closed {
		w.ops.Unlock()
		return nil
	}
	w.closed = true
	close(w.stop)
	var err error
	if w.source != nil {
		err = w.source.Close()
	}
	w.mu.Lock()
	clear(w.folders)
	clear(w.byPath)
	w.mu.Unlock()
	w.ops.Unlock()
	w.running.Wait()
	return err
}

// say tells of polling, the first time that there is a reason.
func (w *Watcher) say(reason string) {
	w.mu.Lock()
	first := reason != "" && !w.said
	w.said = w.said || first
	w.mu.Unlock()
	if first {
		w.lost(reason)
	}
}

// start begins to drain the source and to hint.
func (w *Watcher) start(s eventSource) {
	w.source = s
	w.running.Go(func() { w.drain(s) })
	w.running.Go(w.tell)
}

// drain takes every event and error at once, whatever whoever is hinted does, since a source that is not
// drained stalls.
func (w *Watcher) drain(s eventSource) {
	for {
		select {
		case ev, ok := <-s.events():
			if !ok {
				return
			}
			w.saw(ev)
		case _, ok := <-s.errors():
			if !ok {
				return
			}
			w.sawAll() // an overflow: any event may have been lost
		}
	}
}

// tell hints what has become dirty.
func (w *Watcher) tell() {
	for {
		select {
		case <-w.stop:
			return
		case <-w.wake:
		}
		w.mu.Lock()
		names := slices.Sorted(maps.Keys(w.dirty))
		clear(w.dirty)
		w.mu.Unlock()
		for _, name := range names {
			select {
			case <-w.stop:
				return
			default:
				w.hint(name)
			}
		}
	}
}

// saw marks the folder in which, and the one to which, something happened. A chmod counts: it may begin or end
// that a medium cannot be read. Lock files and temporary files are nobody's medium.
func (w *Watcher) saw(ev fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.byPath[ev.Name] {
		if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
			f.watched = false // nothing more will come from there
		}
		w.markLocked(f)
	}
	if strings.HasSuffix(ev.Name, ".lock") || strings.HasSuffix(ev.Name, ".tmp") {
		return
	}
	for _, f := range w.byPath[filepath.Dir(ev.Name)] {
		w.markLocked(f)
	}
}

// sawAll marks every folder.
func (w *Watcher) sawAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.folders {
		w.markLocked(f)
	}
}

// markLocked has a folder hinted. The caller holds mu.
func (w *Watcher) markLocked(f *folder) {
	w.dirty[f.name] = struct{}{}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
