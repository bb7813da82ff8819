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
	if err := lookAll("etcd", "etcdctl"); err != nil {
		return nil, nil, err
	}
	client, err := freeURL()
	if err != nil {
		return nil, nil, err
	}
	peer, err := freeURL()
	if err != nil {
		return nil, nil, err
	}
	lease := ""
	stop, err := b.serve([]string{"etcd", "--data-dir", filepath.Join(b.dir, "etcd"), "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default=" + peer, "--log-level", "error"}, func() error {
		out, err := exec.CommandContext(b.ctx, "etcdctl", "--endpoints", client, "lease", "grant", "86400").Output()
		if words := strings.Fields(string(out)); err == nil && len(words) > 1 {
			lease = words[1]
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	argv := []string{"etcdctl", "--endpoints", client, "lease", "keep-alive", "--once", lease}
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

// lapses are the rows about many leases at once, beside redis.
func (b *bench) lapses(took, renewals float64) {
	const many = "10,000 leases lapse at once, each recorded"
	ask, cli, stop, err := b.redisServer()
	if err != nil {
		b.row(many, ns(took), "skipped: "+err.Error(), "-")
		b.row("renewals, from append to ledger", fmt.Sprintf("%.0f a second", renewals), "", "")
		return
	}
	defer stop()
	if dropped, err := redisDrops(ask); err != nil {
		b.row(many, ns(took), "skipped: "+err.Error(), "-")
	} else {
		b.row(many, ns(took), "redis dropping 10,000 keys: "+ns(float64(dropped)), times(took/float64(dropped)))
	}
	rate, err := redisRate(b.ctx, cli[2])
	if err != nil {
		b.row("renewals, from append to ledger", fmt.Sprintf("%.0f a second", renewals), "skipped: "+err.Error(), "-")
		return
	}
	b.row("renewals, from append to ledger", fmt.Sprintf("%.0f a second", renewals),
		fmt.Sprintf("redis PEXPIRE, 50 clients: %.0f a second", rate), times(renewals/rate))
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
