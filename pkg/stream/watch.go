package stream

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher hints in which folders something has changed (SPEC 3, Watching). A hint may come late, for nothing, or
// never; whoever is hinted reads, and reads at its own cadence anyway. All methods may be called from any goroutine.
type Watcher struct {
	hint    func(dir string)
	lost    func(reason string)
	forced  bool // to poll, whatever could be watched
	minds   func(dir, name string) bool
	rest    atomic.Int64 // a time.Duration
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

// WatcherMinding makes a watcher that hints of nothing but the files of a folder that are minded, and of the
// folder itself. minds is called with the name under which the folder was added, from any goroutine.
func WatcherMinding(minds func(dir, name string) bool) WatcherOption {
	return func(w *Watcher) { w.minds = minds }
}

// NewWatcher makes a watcher of no folder yet; it starts nothing before one is added. hint is called from a
// goroutine of the watcher's own, one call at a time, and must not call Close. lost is called at most once, with
// a sentence that says why some folder must be polled.
func NewWatcher(hint func(dir string), lost func(reason string), opts ...WatcherOption) *Watcher {
	w := &Watcher{
		hint: hint, lost: lost, open: openSource, network: onNetwork, minds: mindsMedia,
		folders: map[string]*folder{}, byPath: map[string][]*folder{}, dirty: map[string]struct{}{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	w.Rest(watcherRest)
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

// drain takes every event and error, whatever whoever is hinted does, since a source that is not drained stalls.
// What comes after a silence is taken at once. What comes soon after that waits, while the system gathers what
// follows and merges what repeats itself: to be woken for each event would cost more than all that is read.
func (w *Watcher) drain(s eventSource) {
	rested := time.NewTimer(0)
	defer rested.Stop()
	for {
		ev, lost, open := await(s)
		if !open {
			return
		}
		select {
		case <-rested.C: // nothing is woken by it before something has come
		case <-w.stop:
		}
		minded := w.took(ev, lost)
		open = w.takeRest(s, &minded)
		if !open {
			return
		}
		rested.Reset(w.restAfter(minded))
	}
}

// await waits for an event, or for an error: an overflow, with which any event may have been lost.
func await(s eventSource) (ev fsnotify.Event, lost, open bool) {
	select {
	case ev, open = <-s.events():
		return ev, false, open
	case _, open = <-s.errors():
		return ev, true, open
	}
}

// took marks what one event, or error, is about, and says whether any of that is minded.
func (w *Watcher) took(ev fsnotify.Event, lost bool) (minded bool) {
	if lost {
		return w.sawAll()
	}
	return w.saw(ev)
}

// takeRest takes what the source has to hand over besides, and says whether it is still open.
func (w *Watcher) takeRest(s eventSource, minded *bool) (open bool) {
	for idle := 0; idle < 4; {
		select {
		case ev, ok := <-s.events():
			if !ok {
				return false
			}
			*minded, idle = w.saw(ev) || *minded, 0
		case _, ok := <-s.errors():
			if !ok {
				return false
			}
			*minded, idle = w.sawAll() || *minded, 0
		default:
			idle++
			runtime.Gosched() // the source is at work on the next one
		}
	}
	return true
}

// watcherRest is how long a watcher rests after a batch of events, if it is not told otherwise.
const watcherRest = 40 * time.Millisecond

// Rest sets how long after a batch of events the next one is taken at the earliest. What comes after a longer silence
// is hinted at once.
func (w *Watcher) Rest(d time.Duration) { w.rest.Store(int64(d)) }

// restAfter is that time: a short one where nothing was minded, since what is may follow at once.
func (w *Watcher) restAfter(minded bool) time.Duration {
	rest := time.Duration(w.rest.Load())
	if !minded {
		rest /= 8
	}
	return rest
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

// saw marks the folder in which, and the one to which, something happened, and says whether there is one. A chmod
// counts: it may begin or end that a medium cannot be read.
func (w *Watcher) saw(ev fsnotify.Event) (minded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.byPath[ev.Name] {
		if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
			f.watched = false // nothing more will come from there
		}
		w.markLocked(f)
		minded = true
	}
	dir, name := filepath.Split(ev.Name)
	for _, f := range w.byPath[filepath.Clean(dir)] {
		if w.minds(f.name, name) {
			w.markLocked(f)
			minded = true
		}
	}
	return minded
}

// mindsMedia minds all that can be a medium. Lock files and temporary files are nobody's.
func mindsMedia(_, name string) bool {
	return !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".tmp")
}

// sawAll marks every folder.
func (w *Watcher) sawAll() (minded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.folders {
		w.markLocked(f)
	}
	return true
}

// markLocked has a folder hinted. The caller holds mu.
func (w *Watcher) markLocked(f *folder) {
	w.dirty[f.name] = struct{}{}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
