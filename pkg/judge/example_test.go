package judge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// server owns its connections: a connection lives as long as its lease, and taking it back is closing it.
// What dies with the process needs no ledger, no files and no daemon.
type server struct {
	judge  *judge.Judge
	units  lease.Units
	ticks  *stream.Memory
	facts  *stream.Memory
	conns  map[string]net.Conn
	leases map[string]string // by connection
}

func newServer(ctx context.Context) (*server, error) {
	s := &server{
		units: lease.DefaultUnits(), ticks: stream.NewMemory("ticks"), facts: stream.NewMemory("facts"),
		conns: map[string]net.Conn{}, leases: map[string]string{},
	}
	next := 0
	var err error
	s.judge, err = judge.New(ctx, judge.Config{
		Grantor: "server", Cadence: lease.Duration{Unit: "s", N: 1},
		Ticks: s.ticks, Facts: s.facts, Resolver: perConnection{}, Reclaimer: s,
		NewID: func() string { next++; return fmt.Sprint("lease-", next) },
	})
	return s, err
}

// perConnection: what is on a connection's medium was written by that connection, whatever it says.
type perConnection struct{}

func (perConnection) Sole(medium string) (string, bool) { return medium, true }

func (perConnection) Author(_ context.Context, medium string, _ stream.Value) (string, error) {
	if medium == "grantor" { // the judge's name for the stream on which it writes itself
		return "server", nil
	}
	return medium, nil
}

// accept grants a connection a lease of three seconds, and has what it says appended to a medium of its own.
func (s *server) accept(ctx context.Context, name string, conn net.Conn) error {
	medium := stream.NewMemory(name)
	s.judge.Attach(name, medium)
	f, err := s.judge.Grant(ctx, judge.Terms{
		Subject: lease.StringSubject(name), Holder: name, Duration: lease.Duration{Unit: "s", N: 3},
	})
	if err != nil {
		return err
	}
	s.conns[name], s.leases[f.Lease] = conn, name
	go serve(ctx, conn, medium, f.Lease)
	return nil
}

// serve takes every line for a sign of life. Appends may come from any goroutine.
func serve(ctx context.Context, conn net.Conn, medium *stream.Memory, id string) {
	renewal, err := lease.NewRenewal(id)
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if _, err := medium.Append(ctx, stream.How{}, renewal.Encode()); err != nil {
			return
		}
		fmt.Fprintln(conn, "pong")
	}
}

// Reclaim implements judge.Reclaimer.
func (s *server) Reclaim(_ context.Context, t judge.Task) (judge.Progress, error) {
	err := s.conns[t.Holder].Close()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return judge.Failed, err
	}
	return judge.Done, nil
}

// step is the server's own loop, once a second: here a second passes when it says so.
func (s *server) step(ctx context.Context, second int64) error {
	tick, err := lease.NewTick(s.units, lease.Duration{Unit: "s", N: second}, "", 0, false)
	if err != nil {
		return err
	}
	if _, err := s.ticks.Append(ctx, stream.How{}, tick.Encode()); err != nil {
		return err
	}
	report := s.judge.Pass(ctx)
	for _, e := range report.Lapsed {
		name := s.leases[e.Lease]
		fmt.Printf("%d s: %s is closed (%s)\n", second, name, e.Cause)
		s.judge.Detach(name)
		delete(s.conns, name)
	}
	return nil
}

// Example is a TCP server that owns its connections and drives the judge from its own loop.
func Example() {
	ctx := context.Background()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer listener.Close()
	s, err := newServer(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	clients := map[string]net.Conn{}
	for _, name := range []string{"lively", "silent"} {
		client, _ := net.Dial("tcp", listener.Addr().String())
		conn, _ := listener.Accept()
		if err := s.accept(ctx, name, conn); err != nil {
			fmt.Println(err)
		}
		clients[name] = client
	}
	for second := int64(1); second <= 6; second++ {
		fmt.Fprintln(clients["lively"], "ping")
		bufio.NewReader(clients["lively"]).ReadString('\n')
		if err := s.step(ctx, second); err != nil {
			fmt.Println(err)
		}
	}
	_, err = clients["silent"].Read(make([]byte, 1))
	fmt.Println("silent reads to its end:", err == io.EOF)
	fmt.Println("live:", len(s.judge.Rows()))
	// Output:
	// 5 s: silent is closed (silence)
	// silent reads to its end: true
	// live: 1
}
