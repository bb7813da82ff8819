package stream_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func TestUnfinished(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "{}\n": 0, "{}\n{": 1, "half": 4, "{}\n\n": 0, "{}\n" + strings.Repeat("x", 200_000): 200_000,
	} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := stream.OpenFile(path, stream.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Unfinished(t.Context()); got != want || err != nil {
			t.Errorf("%.12q: got %d, %v, want %d", text, got, err, want)
		}
	}
}
