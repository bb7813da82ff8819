package stream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func TestJunkHarmsNobody(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	long := strings.Repeat("x", stream.MaxValue+1)
	longest := strings.Repeat("y", stream.MaxValue)
	scribble(t, m.Path(), "\n{\"n\":0}\n\x00\n\xff\xfe\n"+long+"\n"+longest+"\nnot json\na\x00b\n{\"n\":1}\r\n"+strings.Repeat(long, 3)+"\n{\"n\":2}\n")
	r := drain(t, m, c)
	want := []string{"", `{"n":0}`, "\xff\xfe", longest, "not json", "{\"n\":1}\r", `{"n":2}`}
	if !slices.Equal(r.texts, want) {
		t.Fatalf("read %.60q", r.texts)
	}
	if len(r.damaged) != 4 {
		t.Fatalf("damaged: %q", r.damaged)
	}
	if len(r.positions) != len(want)+4 || !slices.IsSorted(r.positions) {
		t.Fatalf("positions %v", r.positions)
	}
}

func TestAnOverlongLineIsSkippedOverSeveralReads(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	scribble(t, m.Path(), `{"n":0}`+"\n"+strings.Repeat("x", 3*stream.MaxValue))
	var all reading
	next := func() stream.State {
		// Each time as another process would.
		other := openPath(t, m.Path(), stream.FileOptions{})
		r := read(t.Context(), other, c, stream.Budget{Bytes: 300 << 10})
		all.texts = append(all.texts, r.texts...)
		all.damaged = append(all.damaged, r.damaged...)
		all.positions = append(all.positions, r.positions...)
		c = r.Cursor
		wantPlain(t, c)
		return r.State
	}
	rounds := 0
	for ; next() != stream.Blocked; rounds++ {
		if rounds > 100 {
			t.Fatal("it never comes to the end")
		}
	}
	if rounds < 4 {
		t.Fatalf("3 MiB were read in %d rounds of 300 KiB", rounds)
	}
	wantTexts(t, all.texts, object(0))
	if len(all.damaged) > 0 {
		t.Fatal("counted before its end")
	}
	scribble(t, m.Path(), strings.Repeat("x", stream.MaxValue)+"\n"+`{"n":1}`+"\n")
	for next() != stream.Blocked {
	}
	wantTexts(t, all.texts, object(0), object(1))
	wantPositions := []stream.Position{0, 8, 8 + 4*stream.MaxValue + 1}
	if len(all.damaged) != 1 || !slices.Equal(all.positions, wantPositions) {
		t.Fatalf("damaged %q at %v, want one at %v", all.damaged, all.positions, wantPositions)
	}
}

func TestDamageCanBeLeftUnread(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	c := mustMint(t, m, stream.Oldest)
	scribble(t, m.Path(), strings.Repeat("x", 2*stream.MaxValue)+"\n"+`{"n":1}`+"\n")
	for range 3 {
		a := m.Read(t.Context(), c, stream.Budget{}, func(v stream.Value) bool { return false })
		wantState(t, a, stream.OK)
		c = a.Cursor
	}
	r := once(t, m, c)
	if len(r.damaged) != 1 || r.positions[0] != 0 {
		t.Fatalf("damaged %q at %v", r.damaged, r.positions)
	}
	wantTexts(t, r.texts, object(1))
}

func TestAnUnfinishedLineSpoilsOnlyItself(t *testing.T) {
	m := openFile(t, stream.FileOptions{})
	end := mustAppend(t, m, object(0)).Cursor
	scribble(t, m.Path(), `{"n":"torn`)
	r := once(t, m, end)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts)
	done, err := m.Append(t.Context(), stream.How{Expect: end, Cursor: true}, object(1))
	if err != nil {
		t.Fatal("what is unfinished counts as something:", err)
	}
	r = once(t, m, end)
	wantTexts(t, r.texts, object(1))
	if len(r.damaged) != 1 || r.positions[1] != done.Position {
		t.Fatalf("damaged %q at %v, appended at %v", r.damaged, r.positions, done.Position)
	}
	if !strings.Contains(content(t, m.Path()), "torn\x00\n{\"n\":1}\n") {
		t.Fatalf("the file is %q", content(t, m.Path()))
	}
	wantState(t, once(t, m, done.Cursor).Answer, stream.Blocked)
}

func TestNewestIsBehindTheLastWholeLine(t *testing.T) {
	for _, torn := range []int{0, 10, 70 << 10, stream.MaxValue, stream.MaxValue + 2, 3 * stream.MaxValue} {
		t.Run(fmt.Sprint(torn), func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			mustAppend(t, m, object(0))
			scribble(t, m.Path(), strings.Repeat("x", torn))
			c := mustMint(t, m, stream.Newest)
			r := once(t, m, c)
			wantState(t, r.Answer, stream.Blocked)
			scribble(t, m.Path(), "\n"+`{"n":1}`+"\n")
			r = drain(t, m, c)
			wantState(t, r.Answer, stream.Blocked)
			if n := len(r.texts); n == 0 || r.texts[n-1] != `{"n":1}` || (torn > stream.MaxValue) != (len(r.damaged) == 1) {
				t.Fatalf("read %d values, damaged %q", n, r.damaged)
			}
		})
	}
}
