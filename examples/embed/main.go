// Embed is a TCP server that owns its connections: each lives as long as its lease, and taking it back is closing it. The
// judge's step runs in the server's own loop. What dies with the process needs no file, no hook and no daemon.
//
//	embed serve              listens on a free port, which it prints, until its stdin ends
//	embed client ADDR N      says N pings, then nothing more, and prints when the server closes the connection
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

const (
	step     = 250 * time.Millisecond // between two passes
	pingEach = 500 * time.Millisecond
	unproven = 2 // seconds that a connection lives without a word
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve(context.Background())
	case len(args) == 3 && args[0] == "client":
		pings, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return client(args[1], pings)
	}
	return errors.New("usage: embed serve | embed client ADDR N")
}

// server possesses the connections, so its conclusion has effect, and nobody else's.
type server struct {
	judge        *judge.Judge
	units        lease.Units
	ticks, facts *stream.Memory
	began        time.Time
	conns        map[string]net.Conn // by name, which is the holder's and the medium's too
	holders      map[string]string   // by lease
	made         int
}

func serve(ctx context.Context) error {
	s := &server{
		units: lease.DefaultUnits(), ticks: stream.NewMemory("ticks"), facts: stream.NewMemory("facts"),
		began: time.Now(), conns: map[string]net.Conn{}, holders: map[string]string{},
	}
	ids := 0
	var err error
	s.judge, err = judge.New(ctx, judge.Config{
		Grantor: "server", Cadence: lease.Duration{Unit: "s", N: 1},
		Ticks: s.ticks, Facts: s.facts, Resolver: byConnection{}, Reclaimer: s,
		NewID: func() string { ids++; return fmt.Sprint("lease-", ids) },
	})
	if err != nil {
		return err
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer door.Close()
	fmt.Println("listening", door.Addr())
	return s.loop(ctx, arrivals(door), ended(os.Stdin))
}

// loop is the one goroutine that calls the judge. Everything else only appends.
func (s *server) loop(ctx context.Context, arrivals <-chan net.Conn, over <-chan struct{}) error {
	next := time.NewTicker(step)
	defer next.Stop()
	for {
		var err error
		select {
		case conn := <-arrivals:
			err = s.accept(ctx, conn)
		case <-next.C:
			err = s.step(ctx)
		case <-over:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// accept grants a connection its lease. What it says is evidence, on a medium that is its own.
func (s *server) accept(ctx context.Context, conn net.Conn) error {
	s.made++
	name := fmt.Sprint("connection-", s.made)
	medium := stream.NewMemory(name)
	s.judge.Attach(name, medium)
	grant, err := s.judge.Grant(ctx, judge.Terms{
		Subject: lease.StringSubject(name), Holder: name, Duration: lease.Duration{Unit: "s", N: unproven},
	})
	if err != nil {
		return err
	}
	renewal, err := lease.NewRenewal(grant.Lease)
	if err != nil {
		return err
	}
	s.conns[name], s.holders[grant.Lease] = conn, name
	fmt.Println(name, "is open")
	go listen(ctx, conn, medium, renewal.Encode())
	return nil
}

// listen takes every line for a sign of life.
func listen(ctx context.Context, conn net.Conn, medium *stream.Memory, renewal []byte) {
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if _, err := medium.Append(ctx, stream.How{}, renewal); err != nil {
			return
		}
		fmt.Fprintln(conn, "pong")
	}
}

// step tells the judge what time it is, and has it make one pass.
func (s *server) step(ctx context.Context) error {
	now := lease.Duration{Unit: "ms", N: max(1, time.Since(s.began).Milliseconds())}
	tick, err := lease.NewTick(s.units, now, "", 0, false)
	if err != nil {
		return err
	}
	if _, err := s.ticks.Append(ctx, stream.How{}, tick.Encode()); err != nil {
		return err
	}
	report := s.judge.Pass(ctx)
	for _, e := range report.Lapsed {
		name := s.holders[e.Lease]
		fmt.Printf("%s is closed (%s); %d live\n", name, e.Cause, len(s.judge.Rows()))
		s.judge.Detach(name)
		delete(s.conns, name)
		delete(s.holders, e.Lease)
	}
	return report.Err
}

// Reclaim closes the connection. It may be called twice for one.
func (s *server) Reclaim(_ context.Context, t judge.Task) (judge.Progress, error) {
	if err := s.conns[t.Holder].Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return judge.Failed, err
	}
	return judge.Done, nil
}

// byConnection attributes: what stands on a connection's medium was said there, whatever it says.
type byConnection struct{}

// Sole says that a medium has one possible author.
func (byConnection) Sole(medium string) (string, bool) { return medium, true }

// Author is who wrote a value; "grantor" is the judge's name for the stream on which it writes itself.
func (byConnection) Author(_ context.Context, medium string, _ stream.Value) (string, error) {
	if medium == "grantor" {
		return "server", nil
	}
	return medium, nil
}

func arrivals(door net.Listener) <-chan net.Conn {
	conns := make(chan net.Conn)
	go func() {
		for {
			conn, err := door.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	return conns
}

func ended(in io.Reader) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(over)
	}()
	return over
}

func client(addr string, pings int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewScanner(conn)
	for range pings {
		if _, err := fmt.Fprintln(conn, "ping"); err != nil {
			return err
		}
		if !answers.Scan() {
			return errors.New("closed while it was alive")
		}
		time.Sleep(pingEach)
	}
	fmt.Println("falls silent")
	for answers.Scan() {
	}
	fmt.Println("closed by the server")
	return nil
}
