package lease

import (
	"encoding/json"
	"strings"
	"testing"
)

// The lines of a benchmark are decoded in turn, so that no branch predictor learns one by heart.
func benchmarkDecode(b *testing.B, lines ...string) {
	u, i := DefaultUnits(), 0
	all := make([][]byte, len(lines))
	for n, line := range lines {
		all[n] = []byte(line)
	}
	b.ReportAllocs()
	for b.Loop() {
		if f, err := Decode(all[i], u); err == nil && f.Kind == 0 {
			b.Fatal("no kind")
		}
		if i++; i == len(all) {
			i = 0
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	plain := plainLines()
	b.Run("renewal", func(b *testing.B) { benchmarkDecode(b, plain[0]) })
	b.Run("tick", func(b *testing.B) { benchmarkDecode(b, plain[1]) })
	b.Run("grant", func(b *testing.B) { benchmarkDecode(b, plain[3]) })
	b.Run("mixed", func(b *testing.B) { benchmarkDecode(b, plain...) })
	b.Run("handwritten", func(b *testing.B) { benchmarkDecode(b, strings.ReplaceAll(plain[0], ",", ", ")) })
	b.Run("hostile", func(b *testing.B) {
		benchmarkDecode(b, hostileLine())
	})
}

// BenchmarkDecodeJSON has encoding/json make a map of the same lines, which tells no duplicate key and no defect.
func BenchmarkDecodeJSON(b *testing.B) {
	run := func(name string, lines ...string) {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				var m map[string]any
				if err := json.Unmarshal([]byte(lines[i]), &m); err != nil {
					b.Fatal(err)
				}
				if i++; i == len(lines) {
					i = 0
				}
			}
		})
	}
	run("mixed", plainLines()...)
	run("hostile", hostileLine())
}

// hostileLine is as nested as a line may be.
func hostileLine() string {
	return `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `}`
}

// BenchmarkRenewal sets recognizing a renewal beside looking once at each byte of its line for the newline.
func BenchmarkRenewal(b *testing.B) {
	line := []byte(plainLines()[0] + "\n")
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			newlines := 0
			for _, c := range line {
				if c == '\n' {
					newlines++
				}
			}
			if newlines != 1 {
				b.Fatal(newlines)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := PlainRenewal(line[:len(line)-1]); !ok {
				b.Fatal("not plain")
			}
		}
	})
}
