package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// serve starts a server and waits until ready succeeds.
func (b *bench) serve(argv []string, ready func() error) (stop func(), err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	for err = ready(); err != nil; err = ready() {
		select {
		case <-ctx.Done():
			stop()
			return nil, fmt.Errorf("%s does not answer: %w", argv[0], err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return stop, nil
}

func lookAll(names ...string) error {
	var missing []error
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, fmt.Errorf("%s is not installed", name))
		}
	}
	return errors.Join(missing...)
}

// redisServer is a server on a socket of its own, and how to ask it.
func (b *bench) redisServer() (ask func(words ...string) (string, error), cli []string, stop func(), err error) {
	if err := lookAll("redis-server", "redis-cli"); err != nil {
		return nil, nil, nil, err
	}
	socket := filepath.Join(b.dir, "redis.sock")
	cli = []string{"redis-cli", "-s", socket}
	ask = func(words ...string) (string, error) {
		out, err := exec.CommandContext(b.ctx, cli[0], append(cli[1:], words...)...).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	stop, err = b.serve([]string{"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", b.dir}, func() error {
		_, err := ask("ping")
		return err
	})
	return ask, cli, stop, err
}

func (b *bench) redis() (*process, func(), error) {
	ask, cli, stop, err := b.redisServer()
	if err != nil {
		return nil, nil, err
	}
	if _, err := ask("set", "key", "value"); err != nil {
		stop()
		return nil, nil, err
	}
	return &process{what: "redis-cli PEXPIRE", argv: append(cli, "pexpire", "key", "86400000")}, stop, nil
}

func (b *bench) etcd() (*process, func(), error) {
	client, stop, err := b.etcdServer()
	if err != nil {
		return nil, nil, err
	}
	out, err := exec.CommandContext(b.ctx, "etcdctl", "--endpoints", client, "lease", "grant", "86400").CombinedOutput()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 2 {
		stop()
		return nil, nil, fmt.Errorf("etcdctl lease grant: %w: %s", err, out)
	}
	argv := []string{"etcdctl", "--endpoints", client, "lease", "keep-alive", "--once", words[1]}
	return &process{what: "etcdctl lease keep-alive --once", argv: argv}, stop, nil
}

// freeURL is one that nobody listens on.
func freeURL() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return "http://" + l.Addr().String(), l.Close()
}

// servers are the rows about many leases at once, beside redis and etcd.
func (b *bench) servers() error {
	found, err := b.gobench("judge", "^Benchmark(MassLapse|Renewals)$", "10x")
	if err != nil {
		return err
	}
	took, single, batched := found["MassLapse"]["ns/op"], found["Renewals/1"]["renewals/s"], found["Renewals/64"]["renewals/s"]
	const lapse, one, many = "10,000 leases lapse at once, each recorded", "renewals, an append each, to ledger", "renewals, 64 an append, to ledger"
	dropped, pexpires, err := b.redisRates()
	if err != nil {
		b.row(lapse, ns(took), "skipped: "+err.Error(), "-")
	} else {
		b.row(lapse, ns(took), "redis dropping 10,000 keys: "+ns(float64(dropped)), times(took/float64(dropped)))
		b.row(one, rate(single), "redis PEXPIRE, 50 clients: "+rate(pexpires), times(single/pexpires))
	}
	etcd, err := b.etcdRates()
	if err != nil {
		b.row(many, rate(batched), "skipped: "+err.Error(), "-")
		return nil
	}
	b.row(one, rate(single), "etcd keep-alives, 2 streams, one by one: "+rate(etcd.singly), times(single/etcd.singly))
	b.row(many, rate(batched), "etcd keep-alives, 2 streams, 64 a write: "+rate(etcd.keepAlives), times(batched/etcd.keepAlives))
	b.row("", "", "etcd grants, 32 at a time: "+rate(etcd.grants), "")
	if etcd.lapse > 0 {
		b.row(lapse, ns(took), "etcd revoking 10,000 leases: "+ns(float64(etcd.lapse)), fmt.Sprintf("%.4f", took/float64(etcd.lapse)))
	}
	return nil
}

func rate(n float64) string { return fmt.Sprintf("%.0f a second", n) }

// redisRates are how long 10,000 keys that expire at once take to be gone, and PEXPIREs a second.
func (b *bench) redisRates() (dropped time.Duration, pexpires float64, err error) {
	ask, cli, stop, err := b.redisServer()
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	if dropped, err = redisDrops(ask); err != nil {
		return 0, 0, err
	}
	pexpires, err = redisRate(b.ctx, cli[2])
	return dropped, pexpires, err
}

// redisDrops is how long the last of 10,000 keys that expire at once stays behind that moment.
func redisDrops(ask func(words ...string) (string, error)) (time.Duration, error) {
	const life = time.Second
	began := time.Now()
	if out, err := ask("eval", "for i=1,10000 do redis.call('set','k'..i,'v','px',ARGV[1]) end", "0", fmt.Sprint(life.Milliseconds())); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	for range 10_000 {
		left, err := ask("dbsize")
		if err != nil {
			return 0, err
		}
		if left == "0" {
			return time.Since(began) - life, nil
		}
	}
	return 0, errors.New("the keys stay")
}

// redisRate is how many PEXPIRE a server answers.
func redisRate(ctx context.Context, socket string) (float64, error) {
	if err := lookAll("redis-benchmark"); err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, "redis-benchmark", "-s", socket, "-n", "50000", "--csv", "pexpire", "key", "86400000").Output()
	if err != nil {
		return 0, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	fields := strings.Split(lines[len(lines)-1], ",")
	rate := 0.0
	if len(fields) > 1 {
		_, err = fmt.Sscanf(strings.Trim(fields[1], `"`), "%f", &rate)
	}
	return rate, err
}
