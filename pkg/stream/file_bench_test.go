package stream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func benchmarkFile(b *testing.B, o stream.FileOptions) *stream.File {
	b.Helper()
	m, err := stream.OpenFile(filepath.Join(b.TempDir(), "facts.jsonl"), o)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func benchmarkAppend(b *testing.B, o stream.FileOptions, how stream.How) {
	m, value := benchmarkFile(b, o), wide(1)
	for b.Loop() {
		if _, err := m.Append(b.Context(), how, value); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) { benchmarkAppend(b, stream.FileOptions{}, stream.How{}) }

func BenchmarkAppendSync(b *testing.B) {
	benchmarkAppend(b, stream.FileOptions{}, stream.How{Sync: true})
}

// BenchmarkWrite is what an append costs at least: one write to a file that is open, without a lock, and with a sync.
func BenchmarkWrite(b *testing.B) {
	for name, sync := range map[string]bool{"plain": false, "sync": true} {
		b.Run(name, func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "facts.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			line := append(wide(1), '\n')
			for b.Loop() {
				if _, err := f.Write(line); err != nil {
					b.Fatal(err)
				}
				if sync {
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkAppendEvicting(b *testing.B) {
	o := stream.FileOptions{Retention: stream.Retention{Capacity: 1 << 20}, SelfEvict: true}
	benchmarkAppend(b, o, stream.How{})
}

func BenchmarkReadIdle(b *testing.B) {
	m := benchmarkFile(b, stream.FileOptions{})
	if _, err := m.Append(b.Context(), stream.How{}, object(0)); err != nil {
		b.Fatal(err)
	}
	c, err := m.Mint(b.Context(), stream.Newest)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if a := m.Read(b.Context(), c, stream.Budget{}, nil); a.State != stream.Blocked {
			b.Fatal(a)
		}
	}
}

func BenchmarkReadOneLine(b *testing.B) {
	m := benchmarkFile(b, stream.FileOptions{})
	c, err := m.Mint(b.Context(), stream.Oldest)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if _, err := m.Append(b.Context(), stream.How{}, wide(1)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		a := m.Read(b.Context(), c, stream.Budget{}, func(stream.Value) bool { return true })
		if a.State != stream.Blocked {
			b.Fatal(a)
		}
		c = a.Cursor
	}
}

func BenchmarkRead100000(b *testing.B) {
	m := benchmarkFile(b, stream.FileOptions{})
	var content []byte
	for n := range 100_000 {
		content = fmt.Appendf(content, "%s\n", wide(n))
	}
	if err := os.WriteFile(m.Path(), content, 0o644); err != nil {
		b.Fatal(err)
	}
	c, err := m.Mint(b.Context(), stream.Oldest)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		a := m.Read(b.Context(), c, stream.Budget{}, func(stream.Value) bool { n++; return true })
		if a.State != stream.Blocked || n != 100_000 {
			b.Fatal(a, n)
		}
	}
}
