package cmd

import (
	"fmt"
	"sync"
	"time"
)

// progress is one line on stderr that says how far long work has come. It is there on a terminal only, begins after
// a while, and is gone at the end. A nil one says nothing.
type progress struct {
	app   *App
	mu    sync.Mutex
	next  time.Time // when it is drawn again
	drawn bool
}

// How long work goes on before it is worth a word, and how far words are apart.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// startProgress begins one, where there is a terminal for it.
func (a *App) startProgress() *progress {
	kind := a.Env("TERM")
	if !a.ErrIsTerminal || a.Env("NO_COLOR") != "" || kind == "" || kind == "dumb" || a.log != nil {
		return nil
	}
	a.progress = &progress{app: a, next: time.Now().Add(progressAfter)}
	return a.progress
}

// at says how far it has come, if that is due.
func (p *progress) at(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.drawn = now.Add(progressEvery), true
	_, _ = fmt.Fprintf(p.app.Err, "\r\x1b[K%s", cutCells(oneLine(fmt.Sprintf(format, args...)), leastWidth*2-1))
}

// clear takes the line away, because something else is to be said or the work is done.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		p.drawn = false
		_, _ = p.app.Err.Write([]byte("\r\x1b[K"))
	}
}
