package stream_test

import (
	"path/filepath"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func TestFileKeepsTheContract(t *testing.T) {
	testMedium(t, func(t *testing.T) stream.Medium { return openFile(t, stream.FileOptions{}) })
}

func TestFileWithCapacityKeepsTheContract(t *testing.T) {
	testMedium(t, func(t *testing.T) stream.Medium {
		return openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: 16 << 20}, SelfEvict: true})
	})
}

// openFile makes a file medium in a folder of its own.
func openFile(t *testing.T, o stream.FileOptions) *stream.File {
	t.Helper()
	return openPath(t, filepath.Join(t.TempDir(), "facts.jsonl"), o)
}

func openPath(t *testing.T, path string, o stream.FileOptions) *stream.File {
	t.Helper()
	f, err := stream.OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
