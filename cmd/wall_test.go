package cmd

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/stream"
)

func TestWallNotes(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	m, err := c.wall()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	noter := newWallNoter(c.Config, m, w.clock)
	note := func(reading int64) {
		t.Helper()
		if err := noter.note(ctx, reading); err != nil {
			t.Fatal(err)
		}
	}
	note(1) // at the start
	for range 59 {
		w.clock.run(1000)
		note(w.clock.Running() - 4999)
	}
	w.clock.run(1000)
	note(60_001) // a minute later
	w.clock.suspend(3_600_000)
	w.clock.run(60_000)
	note(120_001)
	text, err := os.ReadFile(m.Path())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if want := []string{
		`{"daolease/reading":{"ms":1},"daolease/utc":"2030-01-02T03:04:05Z"}`,
		`{"daolease/reading":{"ms":60001},"daolease/utc":"2030-01-02T03:05:05Z"}`,
		`{"daolease/reading":{"ms":120001},"daolease/utc":"2030-01-02T04:06:05Z"}`,
	}; strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("notes\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, junk := range []string{`"junk"`, `{"daolease/reading":{"ms":5}}`, `{"daolease/reading":{"x":5},"daolease/utc":"2030-01-02T03:04:05Z"}`} {
		if _, err := m.Append(ctx, stream.How{}, []byte(junk)); err != nil {
			t.Fatal(err)
		}
	}
	times, err := readWall(ctx, c.Config, m, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	for reading, want := range map[int64]string{
		1: "03:04:05", 30_001: "03:04:35", 60_001: "03:05:05", 61_001: "03:05:06", 120_001: "04:06:05", 121_001: "04:06:06",
	} {
		if got := times.about(reading); got != "≈ 2030-01-02 "+want {
			t.Errorf("%d: %q, want %s", reading, got, want)
		}
	}
	if got := times.about(-999); got != "≈ 2030-01-02 03:04:04" {
		t.Errorf("before the first note: %q", got)
	}
}

// Readings that stood still while the machine was off are no later than the next note.
func TestWallIsBoundedByTheNextNote(t *testing.T) {
	c := parse(t, tinyConfig)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &wallTimes{config: c, zone: time.UTC, notes: []wallMark{{1000, at}, {100_000, at.Add(10 * time.Second)}}}
	if got, _ := w.at(50_000); !got.Equal(at.Add(10 * time.Second)) {
		t.Errorf("%v", got)
	}
	if _, known := (&wallTimes{config: c}).at(5); known {
		t.Error("a time of day from nowhere")
	}
	if got := (&wallTimes{config: c}).about(5); got != "" {
		t.Errorf("%q", got)
	}
}

// A note that could not be written is tried again.
func TestWallNoteAgain(t *testing.T) {
	w := newFakeWorld(t)
	c := parse(t, tinyConfig)
	m := &failingAppender{err: stream.ErrFull}
	noter := newWallNoter(c, m, w.clock)
	if err := noter.note(context.Background(), 1); err == nil {
		t.Fatal("no error")
	}
	m.err = nil
	for range 2 {
		if err := noter.note(context.Background(), 2); err != nil {
			t.Fatal(err)
		}
	}
	if m.appended != 1 {
		t.Errorf("%d notes", m.appended)
	}
}

type failingAppender struct {
	err      error
	appended int
}

func (f *failingAppender) Append(context.Context, stream.How, ...[]byte) (stream.Appended, error) {
	if f.err == nil {
		f.appended++
	}
	return stream.Appended{}, f.err
}
