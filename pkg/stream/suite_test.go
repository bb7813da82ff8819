package stream_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// testMedium holds a medium to the contract of SPEC 3. Each call of open makes another, empty medium.
func testMedium(t *testing.T, open func(t *testing.T) stream.Medium) {
	for _, c := range slices.Concat(readingCases(), appendingCases(), closingCases(), extraCases()) {
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
	}
}

// suiteCase is one clause of the contract.
type suiteCase struct {
	name string
	run  func(t *testing.T, open func(t *testing.T) stream.Medium)
}

// on is a case that needs one medium.
func on(name string, run func(t *testing.T, m stream.Medium)) suiteCase {
	return suiteCase{name, func(t *testing.T, open func(t *testing.T) stream.Medium) { run(t, open(t)) }}
}

func TestMemoryKeepsTheContract(t *testing.T) {
	testMedium(t, func(t *testing.T) stream.Medium { return stream.NewMemory(freshName(t)) })
}

func TestMemoryWithCapacityKeepsTheContract(t *testing.T) {
	testMedium(t, func(t *testing.T) stream.Medium {
		return stream.NewMemory(freshName(t), stream.MemoryCapacity(16<<20))
	})
}

func TestFaultyMemoryWithoutFaultsKeepsTheContract(t *testing.T) {
	testMedium(t, func(t *testing.T) stream.Medium {
		return stream.NewFaulty(stream.NewMemory(freshName(t)), new(stream.Script))
	})
}

// freshName is a name that no other medium of the test has.
func freshName(t *testing.T) string { return t.TempDir() }

// object is a value that says n.
func object(n int) []byte { return fmt.Appendf(nil, `{"n":%d}`, n) }

// objects are the values from one number up to another.
func objects(from, to int) [][]byte {
	var values [][]byte
	for n := from; n < to; n++ {
		values = append(values, object(n))
	}
	return values
}

// texts are values as strings.
func texts(values [][]byte) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func mustAppend(t *testing.T, to stream.Appender, values ...[]byte) stream.Appended {
	t.Helper()
	done, err := to.Append(t.Context(), stream.How{Cursor: true}, values...)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return done
}

func mustMint(t *testing.T, m stream.Medium, at stream.Edge) stream.Cursor {
	t.Helper()
	c, err := m.Mint(t.Context(), at)
	if err != nil {
		t.Fatalf("mint: %v", err)
	}
	return c
}

// reading is what one read came to.
type reading struct {
	stream.Answer
	texts     []string
	positions []stream.Position
	damaged   []string
}

// read reads once.
func read(ctx context.Context, m stream.Medium, from stream.Cursor, most stream.Budget) reading {
	var r reading
	r.Answer = m.Read(ctx, from, most, func(v stream.Value) bool {
		r.positions = append(r.positions, v.Position)
		if v.Damage != "" {
			r.damaged = append(r.damaged, v.Damage)
			return true
		}
		r.texts = append(r.texts, string(v.Bytes))
		return true
	})
	return r
}

// drain reads on until there is no more, as a reader without a budget may have to.
func drain(t *testing.T, m stream.Medium, from stream.Cursor) reading {
	t.Helper()
	var all reading
	for {
		r := read(t.Context(), m, from, stream.Budget{})
		all.texts = append(all.texts, r.texts...)
		all.positions = append(all.positions, r.positions...)
		all.damaged = append(all.damaged, r.damaged...)
		all.Answer = r.Answer
		if r.State != stream.OK {
			return all
		}
		from = r.Cursor
	}
}

// everything is what the medium retains.
func everything(t *testing.T, m stream.Medium) reading {
	t.Helper()
	return drain(t, m, mustMint(t, m, stream.Oldest))
}

func wantTexts(t *testing.T, got []string, want ...[]byte) {
	t.Helper()
	if !slices.Equal(got, texts(want)) {
		t.Fatalf("read %d values %.300q, want %d: %.300q", len(got), got, len(want), texts(want))
	}
}

func wantState(t *testing.T, got stream.Answer, want stream.State) {
	t.Helper()
	if got.State != want {
		t.Fatalf("state %q (%v), want %q", got.State, got.Err, want)
	}
}

// wantPlain checks what SPEC 3 says of every cursor's text.
func wantPlain(t *testing.T, c stream.Cursor) {
	t.Helper()
	if len(c) == 0 || len(c) > stream.MaxCursor || strings.ContainsAny(string(c), "\n\x00") {
		t.Fatalf("cursor of %d bytes: %q", len(c), c)
	}
}

// within runs what must not wait for ever.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not within %s", what, patience)
	}
}
