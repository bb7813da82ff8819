package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
)

// logJSON has everything that this run says on stderr come as JSON, one record a line, as log/slog writes it.
func (a *App) logJSON() {
	a.log = slog.NewJSONHandler(escapedLines{a.Err}, nil)
}

// record writes one record, at the time of day of the machine.
func (a *App) record(level slog.Level, text string, attrs ...slog.Attr) {
	r := slog.NewRecord(a.Clock.UTC(), level, text, 0)
	r.AddAttrs(attrs...)
	_ = a.log.Handle(context.Background(), r) // a failing stderr is nobody's concern
}

// escapedLines writes JSON in which what a terminal would act on or hide is escaped.
type escapedLines struct{ to io.Writer }

func (w escapedLines) Write(line []byte) (int, error) {
	text := escapeUnicode(slices.Clone(line), wideEscape)
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(line), nil
}

// event says what a judge did, with what it is about as attributes where it is logged as JSON.
func (t *teller) event(name string, attrs []slog.Attr, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.app.log == nil {
		t.app.say("judge: "+format, args...)
		return
	}
	t.app.record(slog.LevelInfo, fmt.Sprintf(format, args...), append([]slog.Attr{slog.String("event", name)}, attrs...)...)
}

// done says what a judge did as it should.
func (t *teller) done(name string, attrs []slog.Attr, format string, args ...any) {
	if !t.quiet {
		t.event(name, attrs, format, args...)
	}
}
