package cmd

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// blockedWriter waits until it is let go.
type blockedWriter struct {
	let  chan struct{}
	said bytes.Buffer
}

func (w *blockedWriter) Write(text []byte) (int, error) {
	<-w.let
	return w.said.Write(text)
}

func TestAsideNeverWaits(t *testing.T) {
	w := &blockedWriter{let: make(chan struct{})}
	a := &App{Err: w}
	a.sayAside()
	for range asideMost + 100 {
		_, _ = io.WriteString(a.Err, "x\n")
	}
	a.fallSilent() // nobody listens
	_, _ = io.WriteString(a.Err, "too late\n")
	close(w.let)
	<-a.Err.(*aside).written
	said := w.said.String()
	if n := strings.Count(said, "x\n"); n < asideMost || n > asideMost+1 {
		t.Errorf("%d lines were said", n)
	}
	if !strings.Contains(said, "left out, which nobody read") || strings.Contains(said, "too late") {
		t.Error(said[len(said)-100:])
	}
}

func TestAsideSaysAll(t *testing.T) {
	var said bytes.Buffer
	a := &App{Err: &said}
	a.sayAside()
	for range 100 {
		_, _ = io.WriteString(a.Err, "x\n")
	}
	a.fallSilent()
	if said.Len() != 200 {
		t.Error(said.String())
	}
}
