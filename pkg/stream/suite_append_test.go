package stream_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// appendingCases are the clauses about Append and Hold.
func appendingCases() []suiteCase {
	return []suiteCase{
		on("cursor only when asked for", caseAppendCursor),
		on("invalid values", caseInvalidValues),
		on("the longest value", caseLongest),
		on("the caller's bytes stay the caller's", caseBytesCopied),
		on("synced", caseSynced),
		{"expect", caseExpect},
		on("expect with nothing appended", caseExpectOnly),
		on("hold keeps others out", caseHoldExcludes),
		on("hold lets the next one in", caseHoldReleases),
		on("expect under hold", caseHoldExpect),
		on("concurrent appenders lose nothing", caseConcurrent),
	}
}

func caseAppendCursor(t *testing.T, m stream.Medium) {
	done, err := m.Append(t.Context(), stream.How{}, object(0))
	if err != nil || done.Cursor != "" {
		t.Fatalf("cursor %q, %v", done.Cursor, err)
	}
	after := mustAppend(t, m, objects(1, 3)...).Cursor
	r := drain(t, m, after)
	wantState(t, r.Answer, stream.Blocked)
	wantTexts(t, r.texts)
	mustAppend(t, m, object(3))
	wantTexts(t, drain(t, m, after).texts, object(3))
}

func caseInvalidValues(t *testing.T, m stream.Medium) {
	invalid := map[string][]byte{
		"empty": {}, "blank": []byte("  "), "no JSON": []byte("lease"), "half": []byte(`{"a":`), "two": []byte("{} {}"),
		"newline": []byte("{\"a\":\n1}"), "ends in a newline": []byte("{}\n"), "NUL": []byte("{}\x00"),
		"too long": []byte(`"` + strings.Repeat("x", stream.MaxValue-1) + `"`),
	}
	for name, v := range invalid {
		for _, values := range [][][]byte{{v}, {object(0), v}, {v, object(0)}} {
			if _, err := m.Append(t.Context(), stream.How{}, values...); !errors.Is(err, stream.ErrInvalidValue) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	wantTexts(t, everything(t, m).texts)
	mustAppend(t, m, object(1))
	wantTexts(t, everything(t, m).texts, object(1))
}

func caseLongest(t *testing.T, m stream.Medium) {
	longest := []byte(`"` + strings.Repeat("x", stream.MaxValue-2) + `"`)
	mustAppend(t, m, longest)
	mustAppend(t, m, object(1))
	wantTexts(t, everything(t, m).texts, longest, object(1))
}

func caseBytesCopied(t *testing.T, m stream.Medium) {
	v := object(1)
	mustAppend(t, m, v)
	copy(v, `{"n":9}`)
	wantTexts(t, everything(t, m).texts, object(1))
}

func caseSynced(t *testing.T, m stream.Medium) {
	if _, err := m.Append(t.Context(), stream.How{Sync: true}, object(0)); err != nil {
		t.Fatal(err)
	}
	wantTexts(t, everything(t, m).texts, object(0))
}

// appendExpecting appends if nothing follows a cursor.
func appendExpecting(t *testing.T, to stream.Appender, expect stream.Cursor, values ...[]byte) (stream.Cursor, error) {
	t.Helper()
	done, err := to.Append(t.Context(), stream.How{Expect: expect, Cursor: true}, values...)
	return done.Cursor, err
}

func caseExpect(t *testing.T, open func(t *testing.T) stream.Medium) {
	m := open(t)
	start := mustMint(t, m, stream.Newest)
	end := start
	for n := range 3 {
		next, err := appendExpecting(t, m, end, object(n))
		if err != nil {
			t.Fatalf("append %d at the end: %v", n, err)
		}
		end = next
	}
	if _, err := appendExpecting(t, m, everything(t, m).Cursor, object(3)); err != nil {
		t.Fatalf("append at the end of a read: %v", err)
	}
	other := open(t)
	mustAppend(t, other, object(9))
	for _, stale := range []stream.Cursor{start, end, mustMint(t, other, stream.Newest)} {
		if _, err := appendExpecting(t, m, stale, object(4)); !errors.Is(err, stream.ErrMoved) {
			t.Fatalf("append expecting %q: %v", stale, err)
		}
	}
	wantTexts(t, everything(t, m).texts, objects(0, 4)...)
}

func caseExpectOnly(t *testing.T, m stream.Medium) {
	before := mustMint(t, m, stream.Newest)
	if _, err := appendExpecting(t, m, before); err != nil {
		t.Fatalf("nothing has followed yet: %v", err)
	}
	end := mustAppend(t, m, object(0)).Cursor
	if _, err := appendExpecting(t, m, before); !errors.Is(err, stream.ErrMoved) {
		t.Fatalf("something follows: %v", err)
	}
	if _, err := appendExpecting(t, m, end); err != nil {
		t.Fatalf("nothing follows: %v", err)
	}
	wantTexts(t, everything(t, m).texts, object(0))
}

func caseHoldExcludes(t *testing.T, m stream.Medium) {
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Append(ctx, stream.How{}, object(9)); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("append beside a hold: %v", err)
	}
	if _, _, err := m.Hold(ctx); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("hold beside a hold: %v", err)
	}
	if err := m.Close(ctx); !errors.Is(err, stream.ErrTransport) {
		t.Fatalf("close beside a hold: %v", err)
	}
	mustAppend(t, under, object(0), object(1))
	wantTexts(t, everything(t, m).texts, object(0), object(1))
}

func caseHoldReleases(t *testing.T, m stream.Medium) {
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		if _, err := m.Append(t.Context(), stream.How{}, object(2)); err != nil {
			t.Errorf("append that waited: %v", err)
		}
	}()
	for n := range 2 {
		mustAppend(t, under, object(n))
	}
	release()
	within(t, "an append after the release", waited)
	wantTexts(t, everything(t, m).texts, objects(0, 3)...)
}

func caseHoldExpect(t *testing.T, m stream.Medium) {
	before := mustMint(t, m, stream.Newest)
	under, release, err := m.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	end, err := appendExpecting(t, under, before, object(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appendExpecting(t, under, before, object(9)); !errors.Is(err, stream.ErrMoved) {
		t.Fatalf("expecting what was: %v", err)
	}
	if _, err := under.Append(t.Context(), stream.How{}, []byte("junk")); !errors.Is(err, stream.ErrInvalidValue) {
		t.Fatalf("an invalid value: %v", err)
	}
	if _, err := appendExpecting(t, under, end, object(1)); err != nil {
		t.Fatal(err)
	}
	wantTexts(t, everything(t, m).texts, object(0), object(1))
}

func caseConcurrent(t *testing.T, m stream.Medium) {
	const writers, each = 8, 100
	start := mustMint(t, m, stream.Oldest)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				at := 2 * (w*each + n)
				if _, err := m.Append(t.Context(), stream.How{}, object(at), object(at+1)); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	var got []string
	for from := start; len(got) < 2*writers*each && t.Context().Err() == nil && !t.Failed(); {
		r := read(t.Context(), m, from, stream.Budget{Values: 64})
		got, from = append(got, r.texts...), r.Cursor
	}
	all.Wait()
	for i := 0; i+1 < len(got); i += 2 {
		var a, b int
		a, b = number(t, got[i]), number(t, got[i+1])
		if b != a+1 {
			t.Fatalf("values of one append were parted: %d, %d", a, b)
		}
	}
	slices.Sort(got)
	want := texts(objects(0, 2*writers*each))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("read %d values, want %d, each once", len(got), len(want))
	}
}
