package cmd

import (
	"strings"
	"testing"
	"time"
)

// Progress is drawn on a terminal only, after a while, and makes room for what else is said.
func TestProgress(t *testing.T) {
	w := newFakeWorld(t)
	for _, env := range []map[string]string{{}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}} {
		w.env, w.ErrIsTerminal = env, true
		if p := w.startProgress(); p != nil {
			t.Errorf("it is drawn with %v", env)
		}
	}
	w.env, w.ErrIsTerminal = map[string]string{"TERM": "xterm"}, false
	none := w.startProgress()
	none.at("nobody sees %d", 1)
	none.clear()
	w.ErrIsTerminal = true
	p := w.startProgress()
	p.at("too early")
	if w.errs.Len() > 0 {
		t.Fatalf("%q", w.errs.String())
	}
	p.next = time.Now()
	p.at("read %d lines of %s", 5, "\x1b[2Jevil")
	p.at("too soon after")
	w.say("something else")
	p.clear()
	if got, want := w.errs.String(), "\r\x1b[Kread 5 lines of \\x1b[2Jevil\r\x1b[Kdaolease: something else\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.next = time.Now()
	p.at("%s", strings.Repeat("x", 500))
	if lines := strings.Split(w.errs.String(), "\r\x1b[K"); cellWidth(lines[len(lines)-1]) > 80 {
		t.Errorf("it does not fit a line: %q", lines[len(lines)-1])
	}
}
