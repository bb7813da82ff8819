package stream_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// readingCases are the clauses about cursors and Read.
func readingCases() []suiteCase {
	return []suiteCase{
		on("order", caseOrder),
		on("positions", casePositions),
		on("edges", caseEdges),
		on("cursor text", caseCursorText),
		on("reading consumes nothing", caseConsumesNothing),
		on("blocked", caseBlocked),
		on("yield false", caseYieldFalse),
		on("budget of values", caseBudgetValues),
		on("budget of bytes", caseBudgetBytes),
		{"mismatch", caseMismatch},
		on("invalid cursor", caseInvalidCursor),
		on("context cancelled before", caseCancelledBefore),
		on("context cancelled within a read", caseCancelledWithin),
	}
}

func caseOrder(t *testing.T, m stream.Medium) {
	mustAppend(t, m, object(0))
	mustAppend(t, m, object(1), object(2))
	mustAppend(t, m, []byte(`{"spaced": [1, 2.50, "é"]}`))
	got := everything(t, m)
	wantState(t, got.Answer, stream.Blocked)
	wantTexts(t, got.texts, object(0), object(1), object(2), []byte(`{"spaced": [1, 2.50, "é"]}`))
}

func casePositions(t *testing.T, m stream.Medium) {
	one := mustAppend(t, m, object(0))
	two := mustAppend(t, m, object(1), object(2))
	three := mustAppend(t, m, object(3))
	first, second := everything(t, m).positions, everything(t, m).positions
	if !slices.Equal(first, second) {
		t.Fatalf("positions changed from %v to %v", first, second)
	}
	if len(first) != 4 || first[0] != one.Position || first[1] != two.Position || first[3] != three.Position {
		t.Fatalf("read at %v, appended at %v %v %v", first, one.Position, two.Position, three.Position)
	}
	for i := 1; i < len(first); i++ {
		if first[i] <= first[i-1] {
			t.Fatalf("positions do not rise: %v", first)
		}
	}
}

func caseEdges(t *testing.T, m stream.Medium) {
	oldest, newest := mustMint(t, m, stream.Oldest), mustMint(t, m, stream.Newest)
	mustAppend(t, m, object(0))
	for _, c := range []stream.Cursor{oldest, newest} {
		wantTexts(t, drain(t, m, c).texts, object(0))
	}
	newest = mustMint(t, m, stream.Newest)
	mustAppend(t, m, object(1))
	wantTexts(t, drain(t, m, newest).texts, object(1))
	wantTexts(t, drain(t, m, mustMint(t, m, stream.Oldest)).texts, object(0), object(1))
}

func caseCursorText(t *testing.T, m stream.Medium) {
	minted := mustMint(t, m, stream.Oldest)
	appended := mustAppend(t, m, objects(0, 3)...).Cursor
	r := read(t.Context(), m, minted, stream.Budget{Values: 2})
	for _, c := range []stream.Cursor{minted, appended, r.Cursor, mustMint(t, m, stream.Newest)} {
		wantPlain(t, c)
	}
	another := stream.Cursor(strings.Clone(string(r.Cursor)))
	wantTexts(t, drain(t, m, another).texts, object(2))
	mustAppend(t, m, object(3))
	wantTexts(t, drain(t, m, appended).texts, object(3))
}

func caseConsumesNothing(t *testing.T, m stream.Medium) {
	start := mustMint(t, m, stream.Oldest)
	mustAppend(t, m, objects(0, 5)...)
	for range 3 {
		wantTexts(t, drain(t, m, start).texts, objects(0, 5)...)
	}
}

func caseBlocked(t *testing.T, m stream.Medium) {
	r := everything(t, m)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts)
	for n := range 3 {
		mustAppend(t, m, object(n))
		r = drain(t, m, r.Cursor)
		wantState(t, r.Answer, stream.Blocked)
		wantTexts(t, r.texts, object(n))
	}
	r = drain(t, m, r.Cursor)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts)
}

func caseYieldFalse(t *testing.T, m stream.Medium) {
	mustAppend(t, m, objects(0, 4)...)
	var seen []string
	answer := m.Read(t.Context(), mustMint(t, m, stream.Oldest), stream.Budget{}, func(v stream.Value) bool {
		seen = append(seen, string(v.Bytes))
		return len(seen) < 3
	})
	wantState(t, answer, stream.OK)
	wantTexts(t, seen, objects(0, 3)...)
	wantTexts(t, drain(t, m, answer.Cursor).texts, objects(2, 4)...)
}

func caseBudgetValues(t *testing.T, m stream.Medium) {
	mustAppend(t, m, objects(0, 5)...)
	r := read(t.Context(), m, mustMint(t, m, stream.Oldest), stream.Budget{Values: 2})
	wantState(t, r.Answer, stream.OK)
	wantTexts(t, r.texts, objects(0, 2)...)
	r = read(t.Context(), m, r.Cursor, stream.Budget{Values: 2})
	wantState(t, r.Answer, stream.OK)
	wantTexts(t, r.texts, objects(2, 4)...)
	r = read(t.Context(), m, r.Cursor, stream.Budget{Values: 2})
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts, object(4))
}

func caseBudgetBytes(t *testing.T, m stream.Medium) {
	var values [][]byte
	for _, letter := range []string{"a", "b", "c", "d"} {
		values = append(values, []byte(`"`+strings.Repeat(letter, 200<<10)+`"`))
	}
	mustAppend(t, m, values...)
	r := read(t.Context(), m, mustMint(t, m, stream.Oldest), stream.Budget{Bytes: 250 << 10})
	wantState(t, r.Answer, stream.OK)
	if n := len(r.texts); n < 1 || n > 2 {
		t.Fatalf("a budget of 250 KiB handed out %d values of 200 KiB", n)
	}
	got := r.texts
	for rounds := 0; r.State == stream.OK; rounds++ {
		if rounds > 10*len(values) {
			t.Fatal("a small budget never comes to the end")
		}
		r = read(t.Context(), m, r.Cursor, stream.Budget{Bytes: 1})
		got = append(got, r.texts...)
	}
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, got, values...)
}

func caseMismatch(t *testing.T, open func(t *testing.T) stream.Medium) {
	one, other := open(t), open(t)
	mustAppend(t, one, object(0))
	mustAppend(t, other, object(1))
	for _, c := range []stream.Cursor{mustMint(t, one, stream.Oldest), everything(t, one).Cursor} {
		r := read(t.Context(), other, c, stream.Budget{})
		wantState(t, r.Answer, stream.Mismatch)
		if r.Err == nil || len(r.texts) > 0 {
			t.Fatalf("a mismatch says %v and hands out %q", r.Err, r.texts)
		}
	}
}

func caseInvalidCursor(t *testing.T, m stream.Medium) {
	mustAppend(t, m, object(0))
	good := string(mustMint(t, m, stream.Oldest))
	for _, c := range []string{"", "junk", "{", good[:len(good)/3], strings.Repeat("x", stream.MaxCursor+1)} {
		r := read(t.Context(), m, stream.Cursor(c), stream.Budget{})
		wantState(t, r.Answer, stream.Invalid)
		if r.Err == nil || len(r.texts) > 0 {
			t.Fatalf("%q: says %v and hands out %q", c, r.Err, r.texts)
		}
	}
}

func caseCancelledBefore(t *testing.T, m stream.Medium) {
	mustAppend(t, m, object(0))
	start, end := mustMint(t, m, stream.Oldest), everything(t, m).Cursor
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCancelled := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, stream.ErrTransport) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s under a cancelled context: %v", what, err)
		}
	}
	_, err = under.Append(ctx, stream.How{}, object(1))
	wantCancelled("append under hold", err)
	release()
	_, err = m.Append(ctx, stream.How{}, object(1))
	wantCancelled("append", err)
	_, _, err = m.Hold(ctx)
	wantCancelled("hold", err)
	_, err = m.Mint(ctx, stream.Newest)
	wantCancelled("mint", err)
	wantCancelled("close", m.Close(ctx))
	r := read(ctx, m, start, stream.Budget{})
	wantState(t, r.Answer, stream.Transport)
	wantCancelled("read", r.Err)
	wantState(t, read(ctx, m, end, stream.Budget{}).Answer, stream.Transport)
	got := drain(t, m, r.Cursor)
	wantState(t, got.Answer, stream.Blocked)
	wantTexts(t, got.texts, object(0))
}

func caseCancelledWithin(t *testing.T, m stream.Medium) {
	mustAppend(t, m, objects(0, 2000)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	answer := m.Read(ctx, mustMint(t, m, stream.Oldest), stream.Budget{}, func(v stream.Value) bool {
		seen = append(seen, string(v.Bytes))
		cancel()
		return true
	})
	wantState(t, answer, stream.Transport)
	rest := drain(t, m, answer.Cursor)
	wantTexts(t, append(seen, rest.texts...), objects(0, 2000)...)
}
