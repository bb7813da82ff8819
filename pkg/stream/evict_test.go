package stream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

const smallest = 4096

func evicting() stream.FileOptions {
	return stream.FileOptions{Retention: stream.Retention{Capacity: smallest}, SelfEvict: true}
}

// wide is a value of about a hundred bytes that says n.
func wide(n int) []byte { return fmt.Appendf(nil, `{"n":%d,"pad":"%s"}`, n, strings.Repeat("x", 80)) }

func wides(from, to int) (values [][]byte) {
	for n := from; n < to; n++ {
		values = append(values, wide(n))
	}
	return values
}

// fill appends one by one, as many as go into about one capacity.
func fill(t *testing.T, m stream.Medium, from int) (next int) {
	t.Helper()
	for n := range 41 {
		mustAppend(t, m, wide(from+n))
	}
	return from + 41
}

func TestAReaderGoesOnAcrossEvictions(t *testing.T) {
	m := openFile(t, evicting())
	start := mustMint(t, m, stream.Oldest)
	for _, every := range []int{1, 7, 40} {
		t.Run(fmt.Sprintf("every %d", every), func(t *testing.T) {
			c, read := mustMint(t, m, stream.Newest), 0
			for n := range 500 {
				mustAppend(t, m, wide(n))
				if (n+1)%every != 0 {
					continue
				}
				r := once(t, m, c)
				wantState(t, r.Answer, stream.Blocked)
				wantTexts(t, r.texts, wides(read, n+1)...)
				read, c = n+1, r.Cursor
			}
		})
	}
	retained, err := m.Size(t.Context())
	if err != nil || retained > 3*smallest {
		t.Fatalf("%d bytes are retained, %v", retained, err)
	}
	if r := once(t, m, start); r.State != stream.Gap {
		t.Fatalf("a cursor at what was evicted long ago is answered %v", r.State)
	}
}

func TestPositionsGoOnAcrossEvictions(t *testing.T) {
	m := openFile(t, evicting())
	last := stream.Position(-1)
	for n := range 200 {
		at := mustAppend(t, m, wide(n)).Position
		if at <= last || last >= 0 && n < 100 && n > 10 && at != last+stream.Position(len(wide(n))+1) {
			t.Fatalf("value %d is at %v after %v", n, at, last)
		}
		last = at
	}
}

func TestWhatIsOlderThanRetainedIsAGap(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: 4 * smallest}})
	first := mustAppend(t, m, wide(0)).Cursor
	next := 1
	var second stream.Cursor
	for range 2 {
		for n := range 160 {
			second = mustAppend(t, m, wide(next+n)).Cursor
		}
		next += 160
		mustAppend(t, m, wides(next, next+10)...)
		next += 10
		evicted, err := m.Evict(t.Context(), mustMint(t, m, stream.Newest))
		if !evicted || err != nil {
			t.Fatal("not evicted:", err)
		}
	}
	wantOneGap(t, m, first, wides(171, 341)...)
	r := once(t, m, second)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, wides(331, 341)...)
	// What reaches the older file later is dropped.
	scribble(t, m.Path()+".1", `{"n":"late"}`+"\n")
	wantTexts(t, once(t, m, second).texts, wides(331, 341)...)
	// An older file that was cut short is no older file.
	must(t, os.Truncate(m.Path()+".1", 1000))
	wantOneGap(t, m, second)
	must(t, os.Remove(m.Path()+".1"))
	wantOneGap(t, m, second)
	wantState(t, once(t, m, r.Cursor).Answer, stream.Blocked)
}

func TestTheFingerprintReachesIntoTheOlderFile(t *testing.T) {
	m := openFile(t, evicting())
	next := fill(t, m, 0)
	end := mustMint(t, m, stream.Newest)
	mustAppend(t, m, wide(next))
	if _, err := os.Stat(m.Path() + ".1"); err != nil {
		t.Fatal("nothing was evicted:", err)
	}
	wantTexts(t, once(t, m, end).texts, wide(next))
	older := content(t, m.Path()+".1")
	put(t, m.Path()+".1", strings.Replace(older, `{"n":40`, `{"n":41`, 1))
	wantState(t, once(t, openPath(t, m.Path(), stream.FileOptions{}), end).Answer, stream.Gap)
}

func TestAnUnfinishedEndOfTheOlderFileIsDamage(t *testing.T) {
	for _, torn := range []int{20, stream.MaxValue + 20} {
		m := openFile(t, evicting())
		next := fill(t, m, 0)
		c := mustMint(t, m, stream.Newest)
		scribble(t, m.Path(), strings.Repeat("x", torn))
		if torn > 20 {
			// Well beyond twice the capacity: asked as a reader without one.
			m2 := openPath(t, m.Path(), stream.FileOptions{})
			c = once(t, m2, c).Cursor
		}
		mustAppend(t, m, wide(next))
		m2 := openPath(t, m.Path(), stream.FileOptions{})
		r := once(t, m2, c)
		wantState(t, r.Answer, stream.Blocked)
		wantTexts(t, r.texts, wide(next))
		if len(r.damaged) != 1 {
			t.Fatalf("damaged: %q", r.damaged)
		}
	}
}

func TestAFileWithoutHeaderIsAdopted(t *testing.T) {
	m := openFile(t, evicting())
	var lines strings.Builder
	for n := range 50 {
		fmt.Fprintf(&lines, "%s\n", wide(n))
	}
	scribble(t, m.Path(), lines.String())
	middle := read(t.Context(), m, mustMint(t, m, stream.Oldest), stream.Budget{Values: 20})
	wantTexts(t, middle.texts, wides(0, 20)...)
	end := once(t, m, middle.Cursor)
	mustAppend(t, m, wide(50))
	if _, err := os.Stat(m.Path() + ".1"); err != nil {
		t.Fatal("nothing was evicted:", err)
	}
	wantTexts(t, once(t, m, middle.Cursor).texts, wides(20, 51)...)
	r := once(t, m, end.Cursor)
	wantTexts(t, r.texts, wide(50))
	next := fill(t, m, 51)
	wantTexts(t, once(t, m, r.Cursor).texts, wides(51, next)...)
	wantState(t, once(t, m, middle.Cursor).Answer, stream.Gap)
}

func TestAMissingFileIsBegunAnewAtTheEndOfTheOlder(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			m := openFile(t, evicting())
			fill(t, m, 0)
			boundary := mustMint(t, m, stream.Newest)
			mustAppend(t, m, wide(41))
			must(t, lose(m.Path()))
			oldest := mustMint(t, m, stream.Oldest)
			newest := mustMint(t, m, stream.Newest)
			mustAppend(t, m, wide(99))
			wantTexts(t, once(t, m, boundary).texts, wide(99))
			wantTexts(t, once(t, m, newest).texts, wide(99))
			wantTexts(t, once(t, m, oldest).texts, append(wides(0, 41), wide(99))...)
		})
	}
}

func TestAnEmptiedFileStillHasTheOlder(t *testing.T) {
	m := openFile(t, evicting())
	fill(t, m, 0)
	end := mustAppend(t, m, wide(41)).Cursor
	must(t, os.Truncate(m.Path(), 0))
	c := wantOneGap(t, m, end, wides(0, 41)...)
	wantState(t, once(t, m, c).Answer, stream.Blocked)
	mustAppend(t, m, wide(42))
	wantTexts(t, once(t, m, c).texts, wide(42))
}

func TestMoreUnreadThanTwiceTheCapacityIsAGap(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: smallest}})
	c := mustAppend(t, m, wide(0)).Cursor
	size := len(wide(10)) + 1
	enough := 2 * smallest / size
	mustAppend(t, m, wides(10, 10+enough)...)
	wantTexts(t, once(t, m, c).texts, wides(10, 10+enough)...)
	mustAppend(t, m, wides(10, 10+enough)...)
	r := once(t, m, c)
	wantState(t, r.Answer, stream.Gap)
	r = once(t, m, r.Cursor)
	wantState(t, r.Answer, stream.Blocked)
	most := smallest / size
	wantTexts(t, r.texts, wides(10+enough-most, 10+enough)...)
	if len(r.damaged) > 0 {
		t.Fatalf("what was skipped counts as damage: %q", r.damaged)
	}
	plain := openPath(t, m.Path(), stream.FileOptions{})
	if n := len(once(t, plain, c).texts); n != 2*enough {
		t.Fatalf("a reader without a capacity read %d values of %d", n, 2*enough)
	}
}

func TestTheRecoveryMayLieInTheOlderFile(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: smallest}})
	c := mustAppend(t, m, wide(10)).Cursor
	mustAppend(t, m, wides(10, 99)...)
	newest := mustMint(t, m, stream.Newest)
	if evicted, err := m.Evict(t.Context(), newest); !evicted || err != nil {
		t.Fatal("not evicted:", err)
	}
	mustAppend(t, m, wides(10, 30)...)
	r := once(t, m, c)
	wantState(t, r.Answer, stream.Gap)
	r = once(t, m, r.Cursor)
	wantState(t, r.Answer, stream.Blocked)
	most := smallest / (len(wide(10)) + 1)
	wantTexts(t, r.texts, append(wides(99-(most-20), 99), wides(10, 30)...)...)
}

func TestEvictSparesWhatWasNotRead(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: smallest}})
	evict := func(upto stream.Cursor, want bool) {
		t.Helper()
		got, err := m.Evict(t.Context(), upto)
		if err != nil || got != want {
			t.Fatalf("evicted: %v, %v; want %v", got, err, want)
		}
	}
	unborn := mustMint(t, m, stream.Oldest)
	first := mustAppend(t, m, wide(0)).Cursor
	evict(first, false)
	next := fill(t, m, 1)
	evict(unborn, false)
	evict(first, true)
	next = fill(t, m, next)
	evict(first, false)
	wantTexts(t, once(t, m, first).texts, wides(1, next)...)
	evict(mustMint(t, m, stream.Newest), true)
	if _, err := m.Evict(t.Context(), "junk"); err == nil {
		t.Fatal("junk is a cursor")
	}
	other := openPath(t, m.Path(), stream.FileOptions{Name: "other"})
	if _, err := m.Evict(t.Context(), mustMint(t, other, stream.Newest)); err == nil {
		t.Fatal("a cursor of another medium is one of this")
	}
	fill(t, m, next)
	mustClose(t, m)
	evict(mustMint(t, m, stream.Newest), false)
}

func TestNothingIsEvictedUnasked(t *testing.T) {
	for _, o := range []stream.FileOptions{{}, {Retention: stream.Retention{Capacity: smallest}}} {
		m := openFile(t, o)
		c := mustMint(t, m, stream.Oldest)
		fill(t, m, fill(t, m, 0))
		entries, err := os.ReadDir(filepath.Dir(m.Path()))
		if err != nil || len(entries) != 2 {
			t.Fatalf("%v beside the lock, %v", entries, err)
		}
		if n := len(once(t, openPath(t, m.Path(), stream.FileOptions{}), c).texts); n != 82 {
			t.Fatalf("%d values are left of 82", n)
		}
	}
}

func TestAnEvictionThatFailsCostsNoValue(t *testing.T) {
	m := openFile(t, evicting())
	next := fill(t, m, 0)
	must(t, os.MkdirAll(filepath.Join(m.Path()+".tmp", "in the way"), 0o755))
	c := mustMint(t, m, stream.Oldest)
	for range 5 {
		mustAppend(t, m, wide(next))
		next++
	}
	wantTexts(t, once(t, m, c).texts, wides(0, next)...)
	must(t, os.RemoveAll(m.Path()+".tmp"))
	mustAppend(t, m, wide(next))
	if _, err := os.Stat(m.Path() + ".1"); err != nil {
		t.Fatal("not evicted afterwards:", err)
	}
	wantTexts(t, once(t, m, c).texts, wides(0, next+1)...)
}

// TestReadersBesideEviction reads as fast as it can while another writes: whatever the interleaving, values come once
// and in order, or there is a gap.
func TestReadersBesideEviction(t *testing.T) {
	m := openFile(t, evicting())
	c := mustMint(t, m, stream.Oldest)
	const last = 1500
	reader := openPath(t, m.Path(), stream.FileOptions{Name: m.Path()})
	var progress sync.Cond
	progress.L = new(sync.Mutex)
	seen, gaps := -1, 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range last {
			if _, err := m.Append(t.Context(), stream.How{}, wide(n)); err != nil {
				t.Error(err)
			}
			progress.L.Lock()
			for n-seen > 40 && !t.Failed() { // so that the reader is never further behind than what is retained
				progress.Wait()
			}
			progress.L.Unlock()
		}
	})
	for seen < last-1 && !t.Failed() {
		r := read(t.Context(), reader, c, stream.Budget{Values: 25})
		if r.State != stream.OK && r.State != stream.Blocked || len(r.damaged) > 0 {
			t.Errorf("%v (%v), damaged %q after value %d", r.State, r.Err, r.damaged, seen)
			gaps++
		}
		if !slices.Equal(r.texts, texts(wides(seen+1, seen+1+len(r.texts)))) {
			t.Errorf("after value %d came %.200q", seen, r.texts)
		}
		progress.L.Lock()
		seen += len(r.texts)
		progress.Broadcast()
		progress.L.Unlock()
		c = r.Cursor
	}
	progress.Broadcast()
	wg.Wait()
}

func TestExpectationsAcrossEviction(t *testing.T) {
	m := openFile(t, evicting())
	ctx := context.Background()
	fill(t, m, 0)
	end := mustMint(t, m, stream.Newest)
	done, err := m.Append(ctx, stream.How{Expect: end, Cursor: true}, wide(41))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(m.Path() + ".1"); err != nil {
		t.Fatal("nothing was evicted:", err)
	}
	if _, err := m.Append(ctx, stream.How{Expect: end}, wide(42)); !errors.Is(err, stream.ErrMoved) {
		t.Fatalf("moved is answered %v", err)
	}
	if _, err := m.Append(ctx, stream.How{Expect: done.Cursor}, wide(42)); err != nil {
		t.Fatal(err)
	}
}

func TestAMarkInTheOlderFileMeansNothing(t *testing.T) {
	m := openFile(t, evicting())
	lines := `{"n":0}` + "\n" + `{"dao.stream/closed":true}` + "\n" + `{"n":1}` + "\n"
	put(t, m.Path()+".1", header("x", 0)+lines)
	put(t, m.Path(), header("x", int64(len(lines)))+`{"n":2}`+"\n")
	r := everything(t, m)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, objects(0, 3)...)
}
