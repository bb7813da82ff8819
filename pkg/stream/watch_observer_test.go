package stream

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// observer is whoever a watcher speaks to.
type observer struct {
	mu      sync.Mutex
	hints   map[string]int
	reasons []string
	changed chan struct{}
}

func newObserver() *observer {
	return &observer{hints: map[string]int{}, changed: make(chan struct{}, 1)}
}

func (o *observer) hint(dir string) {
	o.mu.Lock()
	o.hints[dir]++
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *observer) lost(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reasons = append(o.reasons, reason)
}

func (o *observer) count(dir string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hints[dir]
}

// forget is done when what comes must be new.
func (o *observer) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.hints)
}

// await waits until a folder was hinted.
func (o *observer) await(t *testing.T, dir string) {
	t.Helper()
	limit := time.After(patience)
	for o.count(dir) == 0 {
		select {
		case <-o.changed:
		case <-limit:
			t.Fatalf("%q was not hinted within %s", dir, patience)
		}
	}
}

func (o *observer) wantLost(t *testing.T, times int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.reasons) != times {
		t.Fatalf("told %d times that folders are polled, want %d: %q", len(o.reasons), times, o.reasons)
	}
}

// watching makes a watcher that the end of the test closes.
func watching(t *testing.T, opts ...WatcherOption) (*Watcher, *observer) {
	t.Helper()
	o := newObserver()
	w := NewWatcher(o.hint, o.lost, opts...)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w, o
}

func mustMkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustWrite(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString("{}\n")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// awaitWatched calls Check, as at a cadence, until a folder is watched.
func awaitWatched(t *testing.T, w *Watcher, dir string) {
	t.Helper()
	checkUntil(t, w, fmt.Sprintf("%q is watched", dir), func() bool { return !w.Polling(dir) })
}

// awaitNoticed calls Check, as at a cadence, until a folder has been hinted.
func awaitNoticed(t *testing.T, w *Watcher, o *observer, dir string) {
	t.Helper()
	checkUntil(t, w, fmt.Sprintf("%q was hinted", dir), func() bool { return o.count(dir) > 0 })
}

func checkUntil(t *testing.T, w *Watcher, what string, is func() bool) {
	t.Helper()
	limit, cadence := time.After(patience), time.NewTicker(5*time.Millisecond)
	defer cadence.Stop()
	for !is() {
		select {
		case <-cadence.C:
			w.Check()
		case <-limit:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func (o *observer) wantReason(t *testing.T, parts ...string) {
	t.Helper()
	o.wantLost(t, 1)
	for _, part := range parts {
		if !strings.Contains(o.reasons[0], part) {
			t.Fatalf("%q does not say %q", o.reasons[0], part)
		}
	}
}
