package stream_test

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func wantNames(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("names %q, want %q", got, want)
	}
}

func TestSetFindsMediaByName(t *testing.T) {
	s := stream.NewSet(nil)
	one, two := stream.NewMemory("1"), stream.NewMemory("2")
	s.Add("b", one)
	s.Add("a", two)
	wantNames(t, s.Names(), "a", "b")
	if s.Get("b") != one || s.Get("a") != two || s.Get("c") != nil {
		t.Fatal("not the media that were added")
	}
	s.Add("b", two)
	if s.Get("b") != two {
		t.Fatal("not replaced")
	}
	s.Remove("b")
	wantNames(t, s.Names(), "a")
	if s.Get("b") != nil {
		t.Fatal("not removed")
	}
}

func TestSetFreshTakesHints(t *testing.T) {
	s := stream.NewSet(nil)
	m := stream.NewMemory("m")
	s.Add("memory", m)
	s.Add("file", bare{stream.NewMemory("f")})
	wantNames(t, s.Fresh(false), "file", "memory")
	wantNames(t, s.Fresh(false))
	wantNames(t, s.Fresh(true), "file")
	wantNames(t, s.Fresh(true), "file")
	mustAppend(t, m, object(0))
	wantNames(t, s.Fresh(true), "file", "memory")
	s.Touch("file")
	wantNames(t, s.Fresh(false), "file")
	s.Touch("nobody")
	wantNames(t, s.Fresh(false))
	mustAppend(t, m, object(1))
	s.Remove("memory")
	wantNames(t, s.Fresh(false))
	mustAppend(t, m, object(2))
	wantNames(t, s.Fresh(false))
}

// A medium of which somebody tells is named when it was touched, and no more often. Before all are named he is asked.
func TestSetTold(t *testing.T) {
	s := stream.NewSet(nil)
	for _, name := range []string{"a", "b"} {
		s.Add(name, bare{stream.NewMemory(name)})
	}
	s.Add("memory", stream.NewMemory("m"))
	s.Fresh(true)
	s.Told("a", true)
	s.Told("nobody", true)
	s.Told("memory", false)
	wantNames(t, s.Fresh(true), "b")
	wantNames(t, s.Polled(), "b")
	s.Touch("a")
	if wantNames(t, s.Fresh(false), "a"); s.Quiet("a") {
		t.Fatal("told of is quiet: nobody would read it before its silence is concluded")
	}
	asked := 0
	s.AskFirst(func() { asked++; s.Touch("a") })
	wantNames(t, s.Fresh(false))
	wantNames(t, s.Fresh(true), "a", "b")
	if asked != 1 {
		t.Fatalf("asked %d times", asked)
	}
	s.AskFirst(nil)
	s.Told("a", false)
	wantNames(t, s.Fresh(true), "a", "b")
}

func TestSetQuiet(t *testing.T) {
	s := stream.NewSet(nil)
	m := stream.NewMemory("m")
	s.Add("memory", m)
	s.Add("file", bare{stream.NewMemory("f")})
	if s.Quiet("memory") {
		t.Fatal("never read yet, and quiet")
	}
	s.Fresh(true)
	if !s.Quiet("memory") || s.Quiet("file") || s.Quiet("nobody") {
		t.Fatal("quiet is what notifies and has not, and nothing else")
	}
	for i, act := range []func(){
		func() { mustAppend(t, m, object(0)) },
		func() { m.AppendRaw([]byte("x")) },
		m.Lose,
		func() { mustClose(t, m) },
	} {
		if act(); s.Quiet("memory") {
			t.Fatalf("quiet after act %d", i)
		}
		s.Fresh(false)
	}
}

func TestSetWakes(t *testing.T) {
	var wakes atomic.Int64
	s := stream.NewSet(func() { wakes.Add(1) })
	m := stream.NewMemory("m")
	s.Add("memory", m)
	before := wakes.Load()
	mustAppend(t, m, object(0))
	s.Touch("memory")
	if got := wakes.Load() - before; got != 2 {
		t.Fatalf("woken %d times by two hints", got)
	}
	s.Touch("nobody")
	s.Remove("memory")
	mustAppend(t, m, object(1))
	if got := wakes.Load() - before; got != 2 {
		t.Fatalf("woken %d times, by what is not in the set", got)
	}
}

// TestSetLosesNoHint reads only what is fresh, beside writers, and must come to read everything.
func TestSetLosesNoHint(t *testing.T) {
	const media, each = 4, 200
	wake := make(chan struct{}, 1)
	s := stream.NewSet(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	cursors := map[string]stream.Cursor{}
	var writers sync.WaitGroup
	for i := range media {
		name := strconv.Itoa(i)
		m := stream.NewMemory(name)
		cursors[name] = mustMint(t, m, stream.Oldest)
		s.Add(name, m)
		writers.Go(func() {
			for n := range each {
				if _, err := m.Append(t.Context(), stream.How{}, object(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for got := 0; got < media*each; {
			for _, name := range s.Fresh(true) {
				r := read(t.Context(), s.Get(name), cursors[name], stream.Budget{})
				cursors[name] = r.Cursor
				got += len(r.texts)
			}
			if got < media*each {
				select {
				case <-wake:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	writers.Wait()
	within(t, "the reading of what is fresh", done)
}
