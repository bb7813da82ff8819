package stream_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// closingCases are the clauses about Close.
func closingCases() []suiteCase {
	return []suiteCase{
		on("end after close", caseEnd),
		on("append after close", caseAppendAfterClose),
	}
}

// extraCases are the clauses about what only some media can do.
func extraCases() []suiteCase {
	return []suiteCase{
		on("rewrite", caseRewrite),
		on("rewrite expects", caseRewriteExpects),
		on("size", caseSize),
		on("notify", caseNotify),
	}
}

// number is the n of an object.
func number(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(text, `{"n":%d}`, &n); err != nil {
		t.Fatalf("%q is none of the values appended", text)
	}
	return n
}

func mustClose(t *testing.T, m stream.Medium) {
	t.Helper()
	if err := m.Close(t.Context()); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func caseEnd(t *testing.T, m stream.Medium) {
	mustAppend(t, m, objects(0, 3)...)
	followed := everything(t, m).Cursor
	mustClose(t, m)
	r := drain(t, m, followed)
	wantState(t, r.Answer, stream.End)
	wantTexts(t, r.texts)
	r = everything(t, m)
	wantState(t, r.Answer, stream.End)
	wantTexts(t, r.texts, objects(0, 3)...)
	for _, c := range []stream.Cursor{r.Cursor, mustMint(t, m, stream.Newest)} {
		again := drain(t, m, c)
		wantState(t, again.Answer, stream.End)
		wantTexts(t, again.texts)
	}
}

func caseAppendAfterClose(t *testing.T, m stream.Medium) {
	mustAppend(t, m, object(0))
	mustClose(t, m)
	if _, err := m.Append(t.Context(), stream.How{}, object(1)); !errors.Is(err, stream.ErrClosed) {
		t.Fatalf("append after close: %v", err)
	}
	under, release, err := m.Hold(t.Context())
	if err == nil {
		_, err = under.Append(t.Context(), stream.How{}, object(1))
		release()
	}
	if !errors.Is(err, stream.ErrClosed) {
		t.Fatalf("append under hold after close: %v", err)
	}
	wantTexts(t, everything(t, m).texts, object(0))
}

// rewriter is the medium as a Rewriter; without one the case does not apply.
func rewriter(t *testing.T, m stream.Medium) stream.Rewriter {
	t.Helper()
	r, ok := m.(stream.Rewriter)
	if !ok {
		t.Skip("no Rewriter")
	}
	return r
}

func caseRewrite(t *testing.T, m stream.Medium) {
	r := rewriter(t, m)
	end := mustAppend(t, m, objects(0, 5)...).Cursor
	after, err := r.Rewrite(t.Context(), end, stream.ValuesOf(objects(10, 12)...))
	if err != nil {
		t.Fatal(err)
	}
	wantPlain(t, after)
	wantTexts(t, everything(t, m).texts, objects(10, 12)...)
	if _, err := appendExpecting(t, m, after, object(12)); err != nil {
		t.Fatalf("append after a rewrite: %v", err)
	}
	gap := drain(t, m, end)
	wantState(t, gap.Answer, stream.Gap)
	wantTexts(t, gap.texts)
	if gap.Err == nil {
		t.Fatal("a gap says why")
	}
	recovered := drain(t, m, gap.Cursor)
	wantState(t, recovered.Answer, stream.Blocked)
	wantTexts(t, recovered.texts, objects(10, 13)...)
	wantTexts(t, drain(t, m, after).texts, object(12))
}

func caseRewriteExpects(t *testing.T, m stream.Medium) {
	r := rewriter(t, m)
	stale := mustAppend(t, m, object(0)).Cursor
	end := mustAppend(t, m, object(1)).Cursor
	if _, err := r.Rewrite(t.Context(), stale, stream.ValuesOf(object(9))); !errors.Is(err, stream.ErrMoved) {
		t.Fatalf("rewrite behind an append: %v", err)
	}
	if _, err := r.Rewrite(t.Context(), end, stream.ValuesOf(object(2), []byte("junk"))); !errors.Is(err, stream.ErrInvalidValue) {
		t.Fatalf("rewrite with an invalid value: %v", err)
	}
	own := errors.New("the caller's own")
	broken := func(yield func([]byte, error) bool) { _ = yield(object(3), nil) && yield(nil, own) }
	if _, err := r.Rewrite(t.Context(), end, broken); !errors.Is(err, own) {
		t.Fatalf("rewrite with values that end in an error: %v", err)
	}
	wantTexts(t, everything(t, m).texts, object(0), object(1))
	if _, err := r.Rewrite(t.Context(), end, stream.ValuesOf()); err != nil {
		t.Fatalf("rewrite to nothing: %v", err)
	}
	wantTexts(t, everything(t, m).texts)
}

func caseSize(t *testing.T, m stream.Medium) {
	r := rewriter(t, m)
	size := func() int64 {
		n, err := r.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	end := mustAppend(t, m, objects(0, 1000)...).Cursor
	full := size()
	if full < before+8000 {
		t.Fatalf("size went from %d to %d by a thousand values", before, full)
	}
	if _, err := r.Rewrite(t.Context(), end, stream.ValuesOf(object(0))); err != nil {
		t.Fatal(err)
	}
	if got := size(); got >= full {
		t.Fatalf("size went from %d to %d by a rewrite to one value", full, got)
	}
}

func caseNotify(t *testing.T, m stream.Medium) {
	n, ok := m.(stream.Notifier)
	if !ok {
		t.Skip("no Notifier")
	}
	var first, second atomic.Int64
	n.Notify(func() { first.Add(1) })
	n.Notify(func() { second.Add(1) })
	want := int64(0)
	expect := func(what string) {
		t.Helper()
		want++
		if first.Load() < want || second.Load() < want {
			t.Fatalf("%s was notified %d and %d times in all, want %d", what, first.Load(), second.Load(), want)
		}
		want = min(first.Load(), second.Load())
	}
	mustAppend(t, m, object(0))
	expect("an append")
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, under, object(1))
	release()
	expect("an append under hold")
	if r, ok := m.(stream.Rewriter); ok {
		if _, err := r.Rewrite(t.Context(), "", stream.ValuesOf(object(2))); err != nil {
			t.Fatal(err)
		}
		expect("a rewrite")
	}
	mustClose(t, m)
	expect("the close")
}
