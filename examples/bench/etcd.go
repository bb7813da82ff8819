package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// etcdServer is one node, with its data on disk.
func (b *bench) etcdServer() (client string, stop func(), err error) {
	if err := lookAll("etcd", "etcdctl"); err != nil {
		return "", nil, err
	}
	client, err = freeURL()
	if err != nil {
		return "", nil, err
	}
	peer, err := freeURL()
	if err != nil {
		return "", nil, err
	}
	b.served++
	stop, err = b.serve([]string{"etcd", "--data-dir", filepath.Join(b.dir, fmt.Sprint("etcd-", b.served)), "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default=" + peer, "--log-level", "error"}, func() error {
		return exec.CommandContext(b.ctx, "etcdctl", "--endpoints", client, "endpoint", "health").Run()
	})
	return client, stop, err
}

// The streams over which etcd is asked, each on a connection of its own, and how many requests are written
// at once. Of 1 to 32 streams and 8 to 512 requests these are among the fastest on two cores, the client included.
const (
	etcdStreams  = 2
	etcdPipeline = 64
)

// etcdRates are what one node does: keep-alives a second, written many at once and each after the answer to the one
// before, grants a second, and how long the last of 10,000 leases that expire at once stays behind that moment (0:
// not measured, it takes half a minute).
type etcdRates struct {
	keepAlives, singly, grants float64
	lapse                      time.Duration
}

func (b *bench) etcdRates() (rates etcdRates, err error) {
	url, stop, err := b.etcdServer()
	if err != nil {
		return rates, err
	}
	defer stop()
	const leases, life = 10_000, 30 // seconds
	began := time.Now()
	if err := etcdEach(leases, func(r *rpc, from, to int) error { return r.grantAll(b.ctx, from, to, life) }, url); err != nil {
		return rates, err
	}
	rates.grants = leases / time.Since(began).Seconds()
	for _, side := range []struct {
		rate         *float64
		n, pipelined int
	}{{&rates.singly, 10_000, 1}, {&rates.keepAlives, 100_000, etcdPipeline}} {
		began = time.Now()
		err := etcdEach(side.n, func(r *rpc, from, to int) error { return r.keepAlive(b.ctx, from, to, leases, side.pipelined) }, url)
		if err != nil {
			return rates, err
		}
		*side.rate = float64(side.n) / time.Since(began).Seconds()
	}
	if b.full {
		rates.lapse, err = etcdLapse(b.ctx, url, leases, life)
	}
	return rates, err
}

// etcdEach shares numbers among the streams.
func etcdEach(n int, do func(r *rpc, from, to int) error, url string) error {
	errs := make([]error, etcdStreams)
	var group sync.WaitGroup
	for i := range etcdStreams {
		group.Go(func() {
			r := dial(url)
			defer r.close()
			errs[i] = do(r, n*i/etcdStreams, n*(i+1)/etcdStreams)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// grantAll grants leases, sixteen at a time: the raft log is synced for those of all clients together.
func (r *rpc) grantAll(ctx context.Context, from, to, life int) error {
	const atOnce = 16
	errs := make([]error, atOnce)
	var group sync.WaitGroup
	for part := range atOnce {
		group.Go(func() {
			for i := from + part; i < to && errs[part] == nil; i += atOnce {
				_, errs[part] = r.unary(ctx, "LeaseGrant", number(number(nil, 1, int64(life)), 2, int64(i+1)))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// keepAlive renews so many of the leases in turn over one stream, and ends when all have been answered. Up to
// pipelined are written at once: 1 waits for each answer before the next is sent, more wait for none.
func (r *rpc) keepAlive(ctx context.Context, from, to, leases, pipelined int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, requests := io.Pipe()
	defer requests.Close()
	answered := make(chan struct{}, 1)
	answered <- struct{}{}
	go func() {
		var buf []byte
		for i := from; i < to; i += pipelined {
			for n := i; n < min(i+pipelined, to); n++ {
				buf = framed(buf, number(nil, 1, int64(n%leases+1)))
			}
			if pipelined == 1 {
				select {
				case <-answered:
				case <-ctx.Done():
					return
				}
			}
			if _, err := requests.Write(buf); err != nil {
				return // whoever reads the answers says why
			}
			buf = buf[:0]
		}
	}()
	resp, err := r.send(ctx, "LeaseKeepAlive", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answers, buf := bufio.NewReaderSize(resp.Body, 64<<10), []byte(nil)
	for range to - from {
		if buf, err = readFrame(answers, buf); err != nil {
			return errors.Join(err, statusOf("LeaseKeepAlive", resp))
		}
		select {
		case answered <- struct{}{}:
		default:
		}
	}
	last, _, err := fields(buf)
	if err == nil && last[3] <= 0 {
		err = fmt.Errorf("lease %d is not kept alive", last[2])
	}
	return err
}

// etcdLapse renews all leases once more and waits until the last has gone. The moment is that at which the
// last one renewed expires: those before it have a little less to wait, to etcd's advantage.
func etcdLapse(ctx context.Context, url string, leases, life int) (time.Duration, error) {
	r := dial(url)
	defer r.close()
	if err := r.keepAlive(ctx, 0, leases, leases, etcdPipeline); err != nil {
		return 0, err
	}
	due := time.Now().Add(time.Duration(life) * time.Second)
	for {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(max(20*time.Millisecond, time.Until(due))):
		}
		answer, err := r.unary(ctx, "LeaseLeases", nil)
		if err != nil {
			return 0, err
		}
		_, counts, err := fields(answer)
		if err != nil {
			return 0, err
		}
		if counts[2] == 0 {
			return time.Since(due), nil
		}
		if time.Since(due) > 2*time.Minute {
			return 0, fmt.Errorf("%d leases stay", counts[2])
		}
	}
}
