package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// eventSource is fsnotify as a Watcher uses it.
type eventSource interface {
	Add(path string) error
	Remove(path string) error
	WatchList() []string
	Close() error
	events() <-chan fsnotify.Event
	errors() <-chan error
}

// fsnotifySource is the real one.
type fsnotifySource struct{ *fsnotify.Watcher }

func (s fsnotifySource) events() <-chan fsnotify.Event { return s.Events }
func (s fsnotifySource) errors() <-chan error          { return s.Errors }

// openSource opens the one fsnotify watcher of a Watcher.
func openSource() (eventSource, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return fsnotifySource{w}, nil
}

// add makes a folder known and watches it; ops is held. It returns why the folder must be polled.
func (w *Watcher) add(dir string) (reason string) {
	w.mu.Lock()
	known := w.folders[dir] != nil
	f := &folder{name: dir}
	if !known && !w.closed {
		w.folders[dir] = f
	}
	w.mu.Unlock()
	if known || w.closed {
		return ""
	}
	reason, _ = w.watch(f)
	return reason
}

// check watches again what is not as it was; ops is held.
func (w *Watcher) check() (reason string) {
	if w.forced || w.closed {
		return ""
	}
	there := map[string]bool{}
	if w.source != nil {
		for _, path := range w.source.WatchList() {
			there[path] = true
		}
	}
	exhausted := false
	for _, f := range w.astray(there) {
		was, why := w.drop(f), ""
		if !exhausted { // else this one would fare no better
			why, exhausted = w.watch(f)
		}
		w.mu.Lock()
		if was || f.watched {
			w.markLocked(f)
		}
		w.mu.Unlock()
		if reason == "" {
			reason = why
		}
	}
	return reason
}

// astray are the folders that are not watched, or not where the path leads now. The same inode is not enough: it
// may be that of another folder by now. Nor is the source's list: it has what was renamed with its parent.
func (w *Watcher) astray(there map[string]bool) []*folder {
	w.mu.Lock()
	all := make([]folder, 0, len(w.folders))
	for _, f := range w.folders {
		all = append(all, *f)
	}
	w.mu.Unlock()
	all = slices.DeleteFunc(all, func(f folder) bool {
		info, err := os.Stat(f.name) // not under mu: a file system may take its time
		return f.watched && err == nil && there[f.path] && os.SameFile(info, f.info)
	})
	slices.SortFunc(all, func(a, b folder) int { return strings.Compare(a.name, b.name) })
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*folder
	for _, f := range all {
		if known := w.folders[f.name]; known != nil {
			out = append(out, known)
		}
	}
	return out
}

// watch begins to watch a folder, if it is there; ops is held. It returns why the folder must be polled, and
// whether that would be so for any other.
func (w *Watcher) watch(f *folder) (reason string, exhausted bool) {
	if w.forced {
		return "folders are polled, as was asked", true
	}
	info, err := os.Stat(f.name)
	if err != nil || !info.IsDir() {
		return unwatchable(f.name, err), false
	}
	path, err := filepath.EvalSymlinks(f.name)
	if err != nil {
		return unwatchable(f.name, err), false
	}
	if w.source == nil {
		s, err := w.open()
		if err != nil {
			return fmt.Sprintf("folders are polled: %v", err), true
		}
		w.start(s)
	}
	network := w.network(path)
	w.mu.Lock()
	f.path, f.info, f.network, f.watched = path, info, network, true
	w.byPath[path] = append(w.byPath[path], f)
	w.mu.Unlock()
	if err := w.source.Add(path); err != nil {
		w.drop(f)
		return unwatchable(f.name, err), isExhausted(err)
	}
	if network {
		return fmt.Sprintf("%q is polled: it is on a network file system, which does not tell of changes made elsewhere", f.name), false
	}
	return "", false
}

// drop ends the watching of a folder, unless it is watched under another name too; ops is held. It says whether
// the folder was watched until then, as far as was known.
func (w *Watcher) drop(f *folder) (was bool) {
	w.mu.Lock()
	was = f.watched
	path := f.path
	others := slices.DeleteFunc(w.byPath[path], func(other *folder) bool { return other == f })
	if len(others) == 0 {
		delete(w.byPath, path)
	} else {
		w.byPath[path] = others
	}
	f.path, f.info, f.watched = "", nil, false
	w.mu.Unlock()
	if path != "" && len(others) == 0 && w.source != nil {
		_ = w.source.Remove(path) // what is gone already is gone
	}
	return was
}

// unwatchable says why a folder must be polled. Nothing is said of one that is not there, or is no folder:
// that is for whoever reads it to say.
func unwatchable(name string, err error) string {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return ""
	}
	if isExhausted(err) {
		return fmt.Sprintf("%q is polled: the system watches no more folders: %v", name, err)
	}
	return fmt.Sprintf("%q is polled: it cannot be watched: %v", name, err)
}

// isExhausted says that the system, not the folder, is the reason.
func isExhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ENOSYS)
}
