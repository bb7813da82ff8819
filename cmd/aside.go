package cmd

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// aside has what is written to it be written by a goroutine of its own. A terminal that was stopped, or a pipe that
// nobody reads, must keep neither a judge from passing nor a hold from ending its command by the bound. What finds no
// room is left out, and counted.
type aside struct {
	to      io.Writer
	texts   chan []byte
	written chan struct{} // closed: all of it was

	mu   sync.Mutex
	over bool
	left int // out
}

const (
	asideMost   = 1024        // texts wait to be written
	asideWithin = time.Second // is waited for the last of them
)

// sayAside has this run say what it says to people without waiting for anybody.
func (a *App) sayAside() {
	s := &aside{to: a.Err, texts: make(chan []byte, asideMost), written: make(chan struct{})}
	a.Err = s
	go s.run()
}

// fallSilent waits until all is said, as long as somebody listens.
func (a *App) fallSilent() {
	if s, ok := a.Err.(*aside); ok {
		s.close()
	}
}

func (s *aside) run() {
	defer close(s.written)
	for text := range s.texts {
		_, _ = s.to.Write(text)
		if n := s.leftOut(); n > 0 {
			_, _ = fmt.Fprintf(s.to, "daolease: %s left out, which nobody read\n", counted(n, "line"))
		}
	}
}

func (s *aside) leftOut() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, s.left = s.left, 0
	return n
}

// Write never waits.
func (s *aside) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return len(text), nil
	}
	select {
	case s.texts <- bytes.Clone(text):
	default:
		s.left++
	}
	return len(text), nil
}

func (s *aside) close() {
	s.mu.Lock()
	if !s.over {
		s.over = true
		close(s.texts)
	}
	s.mu.Unlock()
	select {
	case <-s.written:
	case <-time.After(asideWithin):
	}
}
