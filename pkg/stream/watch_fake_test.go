package stream

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// fakeSource is a source of events whose failures the test orders.
type fakeSource struct {
	mu      sync.Mutex
	paths   map[string]bool
	refuse  map[string]error
	refused int // how often that was
	evs     chan fsnotify.Event
	errs    chan error
	closing sync.Once
}

func newFakeSource() *fakeSource {
	return &fakeSource{
		paths: map[string]bool{}, refuse: map[string]error{},
		evs: make(chan fsnotify.Event), errs: make(chan error),
	}
}

func (s *fakeSource) Add(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse[path]; err != nil {
		s.refused++
		return err
	}
	s.paths[path] = true
	return nil
}

func (s *fakeSource) Remove(path string) error {
	s.forget(path)
	return nil
}

// forget drops a path, as an unmount does: without a word.
func (s *fakeSource) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.paths, path)
}

// order has the adding of a path fail, or succeed again.
func (s *fakeSource) order(path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[path] = err
}

func (s *fakeSource) WatchList() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for path := range s.paths {
		list = append(list, path)
	}
	return list
}

func (s *fakeSource) Close() error {
	s.closing.Do(func() {
		close(s.errs)
		close(s.evs)
	})
	return nil
}

func (s *fakeSource) events() <-chan fsnotify.Event { return s.evs }
func (s *fakeSource) errors() <-chan error          { return s.errs }

// from makes a watcher use a source.
func from(open func() (eventSource, error)) WatcherOption {
	return func(w *Watcher) { w.open = open }
}

// fromFake makes a watcher use a fake source.
func fromFake(s *fakeSource) WatcherOption {
	return from(func() (eventSource, error) { return s, nil })
}

// plainDir is a folder whose path has no symlinks.
func plainDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}
