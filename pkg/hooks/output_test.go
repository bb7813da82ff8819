package hooks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// printed is what an output makes of a text that comes in pieces of one size.
func printed(text string, most, piece int) *output {
	o := newOutput(most)
	for rest := []byte(text); len(rest) > 0; {
		n := min(piece, len(rest))
		_, _ = o.Write(rest[:n])
		rest = rest[n:]
	}
	return o
}

func TestOutputKeepsHeadAndTail(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%02d,", i)
	}
	text := b.String()
	for _, most := range []int{1, 2, 7, 30, 119, 120, 121} {
		want := text
		if head := most - most/2; most < len(text) {
			want = fmt.Sprintf("%s\n[%d bytes cut]\n%s", text[:head], len(text)-most, text[len(text)-most/2:])
		}
		for piece := 1; piece <= len(text); piece++ {
			if got := printed(text, most, piece).String(); got != want {
				t.Fatalf("most %d, pieces of %d:\n%q, want\n%q", most, piece, got, want)
			}
		}
	}
}

func TestOutputIsBounded(t *testing.T) {
	o := printed(strings.Repeat("0123456789", 100_000), 1000, 4096)
	if kept := cap(o.head) + cap(o.tail); kept > 4000 {
		t.Errorf("keeps %d bytes for 1000", kept)
	}
}

func TestOutputIsValidText(t *testing.T) {
	for most := 2; most < 40; most++ {
		got := printed(strings.Repeat("ä€😀", 20), most, 5).String()
		if !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("most %d: a rune was cut: %q", most, got)
		}
	}
	if got := printed("a\xff\x1b[0mb", 100, 3).String(); got != "a\uFFFD\x1b[0mb" {
		t.Errorf("got %q: invalid bytes are to be replaced and control characters kept", got)
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("some text \xf0\x9f\x98\x80 and \xff"), 8, 3)
	f.Fuzz(func(t *testing.T, text []byte, most, piece int) {
		most, piece = max(1, most&0xff), max(1, piece&0x3f)
		got := printed(string(text), most, piece).String()
		if !utf8.ValidString(got) {
			t.Fatalf("not valid: %q", got)
		}
		if len(text) <= most && got != string(bytes.ToValidUTF8(text, []byte("\uFFFD"))) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
