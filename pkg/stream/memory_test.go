package stream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func TestMemoryHandWrittenLines(t *testing.T) {
	m := stream.NewMemory("m")
	m.AppendRaw([]byte(`{"n":0}`))
	m.AppendRaw(nil)
	m.AppendRaw([]byte("no JSON at all"))
	m.AppendRaw([]byte("{\"n\":1}\n{\"n\":2}"))
	mustAppend(t, m, object(3))
	r := everything(t, m)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, object(0), nil, []byte("no JSON at all"), object(1), object(2), object(3))
	if len(r.damaged) > 0 {
		t.Fatalf("damaged: %q", r.damaged)
	}
	want := []stream.Position{0, 8, 9, 24, 32, 40}
	for i, p := range r.positions {
		if p != want[i] {
			t.Fatalf("positions %v, want %v", r.positions, want)
		}
	}
}

func TestMemoryDamagedLines(t *testing.T) {
	m := stream.NewMemory("m")
	mustAppend(t, m, object(0))
	m.AppendRaw([]byte(strings.Repeat("x", stream.MaxValue+1)))
	m.AppendRaw([]byte("{\"n\":\x001}"))
	mustAppend(t, m, object(1))
	r := everything(t, m)
	wantTexts(t, r.texts, object(0), object(1))
	if len(r.damaged) != 2 || len(r.positions) != 4 {
		t.Fatalf("damaged %q at %v, want two damaged lines of four", r.damaged, r.positions)
	}
	first := read(t.Context(), m, mustMint(t, m, stream.Oldest), stream.Budget{Values: 2})
	wantState(t, first.Answer, stream.OK)
	if len(first.damaged) != 1 {
		t.Fatalf("a budget of two lines handed out %q and %q", first.texts, first.damaged)
	}
}

func TestMemoryTornTailNeverBecomesAValue(t *testing.T) {
	m := stream.NewMemory("m")
	end := mustAppend(t, m, object(0)).Cursor
	m.Tear([]byte(`{"n":1}`))
	r := everything(t, m)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, object(0))
	if _, err := appendExpecting(t, m, end); err != nil {
		t.Fatalf("an append of nothing finished the tail: %v", err)
	}
	if _, err := appendExpecting(t, m, end, object(2)); err != nil {
		t.Fatalf("an unfinished tail is nothing, and yet: %v", err)
	}
	r = drain(t, m, end)
	wantTexts(t, r.texts, object(2))
	if len(r.damaged) != 1 || len(r.positions) != 2 || r.positions[1]-r.positions[0] != 9 {
		t.Fatalf("damaged %q at %v, want the tail with its NUL and newline", r.damaged, r.positions)
	}
}

func TestMemoryHandWrittenLineFollowsATornTail(t *testing.T) {
	m := stream.NewMemory("m")
	m.Tear([]byte(`{"n":`))
	m.AppendRaw([]byte(`7}`))
	wantTexts(t, everything(t, m).texts, object(7))
}

func TestMemoryClosedByHand(t *testing.T) {
	m := stream.NewMemory("m")
	mustAppend(t, m, object(0))
	m.AppendRaw([]byte(`{ "dao.stream/closed" : true }`))
	m.AppendRaw([]byte(`{"n":1}`))
	r := everything(t, m)
	wantState(t, r.Answer, stream.End)
	wantTexts(t, r.texts, object(0))
	if _, err := m.Append(t.Context(), stream.How{}, object(1)); !errors.Is(err, stream.ErrClosed) {
		t.Fatalf("append: %v", err)
	}
	mustClose(t, m)
}

func TestMemoryClosedWithinOneText(t *testing.T) {
	m := stream.NewMemory("m")
	m.AppendRaw([]byte("{\"n\":0}\n{\"dao.stream/closed\":true}\n{\"n\":1}"))
	r := everything(t, m)
	wantState(t, r.Answer, stream.End)
	wantTexts(t, r.texts, object(0))
}

func TestMemoryRewriteAfterClose(t *testing.T) {
	m := stream.NewMemory("m")
	mustAppend(t, m, object(0))
	mustClose(t, m)
	if _, err := m.Rewrite(t.Context(), "", stream.ValuesOf(object(1))); !errors.Is(err, stream.ErrClosed) {
		t.Fatalf("rewrite after close: %v", err)
	}
	wantTexts(t, everything(t, m).texts, object(0))
}

func TestMemoryClosingMarkIsNoValue(t *testing.T) {
	m := stream.NewMemory("m")
	_, err := m.Append(t.Context(), stream.How{}, []byte(`{"dao.stream/closed":true}`))
	if !errors.Is(err, stream.ErrInvalidValue) {
		t.Fatalf("append of the closing mark: %v", err)
	}
	mustAppend(t, m, []byte(`{"dao.stream/closed":false}`))
	wantState(t, everything(t, m).Answer, stream.Blocked)
}

func TestMemoryLose(t *testing.T) {
	m := stream.NewMemory("m")
	empty := mustMint(t, m, stream.Oldest)
	m.Lose()
	wantState(t, drain(t, m, empty).Answer, stream.Blocked)

	cursor := mustAppend(t, m, objects(0, 3)...).Cursor
	m.Lose()
	for _, c := range []stream.Cursor{cursor, empty} {
		r := drain(t, m, c)
		wantState(t, r.Answer, stream.Gap)
		r = drain(t, m, r.Cursor)
		wantState(t, r.Answer, stream.Blocked)
		wantTexts(t, r.texts)
		mustAppend(t, m, object(7))
		wantTexts(t, drain(t, m, r.Cursor).texts, object(7))
		m.Lose()
	}
	mustClose(t, m)
	m.Lose()
	mustAppend(t, m, object(8))
	wantTexts(t, everything(t, m).texts, object(8))
}

func TestMemoryCapacityEvictsTheOldest(t *testing.T) {
	const capacity = 80 // ten objects of seven bytes and a newline
	m := stream.NewMemory("m", stream.MemoryCapacity(capacity))
	start := mustMint(t, m, stream.Oldest)
	for n := range 10 {
		mustAppend(t, m, []byte(`{"n":`+string(rune('0'+n))+`}`))
	}
	wantTexts(t, drain(t, m, start).texts, objects(0, 10)...)
	r := read(t.Context(), m, start, stream.Budget{Values: 5})
	for n := range 5 {
		mustAppend(t, m, object(n))
	}
	kept := append(objects(5, 10), objects(0, 5)...)
	wantTexts(t, drain(t, m, r.Cursor).texts, kept...)
	gap := drain(t, m, start)
	wantState(t, gap.Answer, stream.Gap)
	wantTexts(t, drain(t, m, gap.Cursor).texts, kept...)
	if size, _ := m.Size(t.Context()); size != capacity {
		t.Fatalf("size %d, want %d", size, capacity)
	}

	long := []byte(`"` + strings.Repeat("x", 2*capacity) + `"`)
	mustAppend(t, m, long)
	wantTexts(t, everything(t, m).texts, long)
	m.AppendRaw([]byte("one\ntwo\n" + strings.Repeat("y", capacity-1)))
	wantTexts(t, everything(t, m).texts, []byte(strings.Repeat("y", capacity-1)))
}

func TestMemoryForgedPositionIsAGap(t *testing.T) {
	m := stream.NewMemory("m")
	mustAppend(t, m, objects(0, 3)...)
	good := string(mustMint(t, m, stream.Oldest))
	for _, forged := range []string{":3:", ":25:", ":9999:"} {
		r := drain(t, m, stream.Cursor(strings.Replace(good, ":0:", forged, 1)))
		wantState(t, r.Answer, stream.Gap)
		wantTexts(t, drain(t, m, r.Cursor).texts, objects(0, 3)...)
	}
}

func TestMemoryCursorTextIsOneText(t *testing.T) {
	m := stream.NewMemory("m")
	mustAppend(t, m, objects(0, 3)...)
	good := string(mustMint(t, m, stream.Newest))
	for _, c := range []string{
		good[:len(good)-1], good + "0", strings.Replace(good, ":24:", ":024:", 1), strings.Replace(good, ":24:", ":+24:", 1),
		strings.Replace(good, ":24:", ":-1:", 1), strings.Replace(good, ":24:", "::", 1), strings.Replace(good, ":24:", ":", 1),
	} {
		wantState(t, drain(t, m, stream.Cursor(c)).Answer, stream.Invalid)
	}
	wantState(t, drain(t, m, stream.Cursor(good)).Answer, stream.Blocked)
}

func TestMemoryCursorsOfAnyName(t *testing.T) {
	long := strings.Repeat("long", 1000)
	names := []string{"", "a:b:c", "new\nline", "\xff", "sha256=x", long + "a", long + "b"}
	for i, name := range names {
		m := stream.NewMemory(name)
		c := mustAppend(t, m, object(i)).Cursor
		wantPlain(t, c)
		wantState(t, drain(t, m, c).Answer, stream.Blocked)
		for j, other := range names {
			want := stream.Mismatch
			if i == j {
				want = stream.Gap // of the same name, and of another identity
			}
			wantState(t, drain(t, stream.NewMemory(other), c).Answer, want)
		}
	}
}

func TestMemoryReleasedHoldAppendsNothing(t *testing.T) {
	m := stream.NewMemory("m")
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	release() // again, which must not free somebody else's lock
	if _, err := under.Append(t.Context(), stream.How{}, object(0)); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("append under a lock that was released: %v", err)
	}
	wantTexts(t, everything(t, m).texts)
}

func TestMemoryHandWrittenLineGoesPastAHold(t *testing.T) {
	m := stream.NewMemory("m")
	expect := mustMint(t, m, stream.Newest)
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	m.AppendRaw(object(0))
	if _, err := appendExpecting(t, under, expect, object(1)); !errors.Is(err, stream.ErrMoved) {
		t.Fatalf("append behind a hand-written line: %v", err)
	}
}

func TestMemoryReaderMayAppend(t *testing.T) {
	m := stream.NewMemory("m")
	mustAppend(t, m, objects(0, 2)...)
	answer := m.Read(t.Context(), mustMint(t, m, stream.Oldest), stream.Budget{}, func(stream.Value) bool {
		mustAppend(t, m, object(9))
		return true
	})
	wantTexts(t, drain(t, m, answer.Cursor).texts, object(9), object(9))
}

func TestMemoryNotifiesOfEverything(t *testing.T) {
	m := stream.NewMemory("m")
	told := 0
	m.Notify(func() { told++ })
	for i, act := range []func(){
		func() { m.AppendRaw([]byte("junk")) },
		func() { m.Tear([]byte("half")) },
		m.Lose,
		func() { mustClose(t, m) },
		m.Lose,
	} {
		if act(); told != i+1 {
			t.Fatalf("act %d: notified %d times", i, told)
		}
	}
	_, err := m.Append(t.Context(), stream.How{})
	if err != nil || told != 5 {
		t.Fatalf("an append of nothing notified: %d, %v", told, err)
	}
}
