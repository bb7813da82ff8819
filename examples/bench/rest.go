package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

const restConfig = `subjects:
  - match: "*"
    duration: 30s
    reclaim: none
    limit: 0
`

// How often each lease is renewed, and over how long the judge's CPU time is counted.
const (
	restEvery = 10 * time.Second
	restOver  = 60 * time.Second
)

// rest are the rows about what a judge takes while holders renew and nothing else happens.
func (b *bench) rest() error {
	for _, size := range []struct{ media, each int }{{1, 1000}, {1000, 10}} {
		what := fmt.Sprintf("CPU of a judge: %d leases on %d media, each renewed every 10 s", size.media*size.each, size.media)
		if !b.full {
			b.skip(what, "it takes a minute: full")
			continue
		}
		share, err := b.cpuAtRest(size.media, size.each)
		if errors.Is(err, os.ErrNotExist) {
			b.skip(what, err)
			continue
		}
		if err != nil {
			return err
		}
		b.row(what, fmt.Sprintf("%.2f %%", 100*share), "one core", fmt.Sprintf("%.4f", share))
	}
	return nil
}

// cpuAtRest is which part of a core a judge takes.
func (b *bench) cpuAtRest(media, each int) (share float64, err error) {
	if _, err := cpuTime(os.Getpid()); err != nil {
		return 0, err
	}
	holders := make([]string, media)
	for i := range holders {
		holders[i] = fmt.Sprint("h", i)
	}
	c, err := b.compose(fmt.Sprint("rest-", media), restConfig, holders)
	if err != nil {
		return 0, err
	}
	if err := c.grant(b.ctx, holders, each, lease.Duration{Unit: "s", N: 30}); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	renewing, err := c.renew(ctx, holders, each)
	if err != nil {
		return 0, err
	}
	defer func() {
		stop()
		err = errors.Join(err, <-renewing)
	}()
	if err := c.start(b); err != nil {
		return 0, err
	}
	defer c.kill()
	if share, err = c.cpuShare(b.ctx); err != nil {
		return 0, err
	}
	return share, c.noneLapsed()
}

// cpuShare waits until the judge has settled, and counts then.
func (c *composed) cpuShare(ctx context.Context) (float64, error) {
	wait := func(span time.Duration) (time.Duration, time.Time, error) {
		select {
		case <-ctx.Done():
			return 0, time.Time{}, context.Cause(ctx)
		case <-time.After(span):
		}
		used, err := cpuTime(c.judge.Process.Pid)
		return used, time.Now(), err
	}
	before, began, err := wait(restEvery)
	if err != nil {
		return 0, err
	}
	after, ended, err := wait(restOver)
	return float64(after-before) / float64(ended.Sub(began)), err
}

// cpuTime is the time that a process has taken of the CPUs, in its own code and the kernel's, as Linux says.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	words := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(words) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, text)
	}
	sum := 0
	for _, word := range words[11:13] {
		ticks, err := strconv.Atoi(string(word))
		if err != nil {
			return 0, err
		}
		sum += ticks
	}
	return time.Duration(sum) * 10 * time.Millisecond, nil
}

// grant writes the grants of so many leases of each holder, for the first judge to seed.
func (c *composed) grant(ctx context.Context, holders []string, each int, span lease.Duration) error {
	m, err := c.medium("grantor", "facts.jsonl")
	if err != nil {
		return err
	}
	var lines [][]byte
	for _, holder := range holders {
		for n := range each {
			f, err := lease.NewGrant(lease.DefaultUnits(), lease.GrantTerms{
				Lease: leaseName(holder, n), Subject: lease.StringSubject(leaseName(holder, n)), Holder: holder,
				Duration: span, Token: int64(len(lines) + 1),
			})
			if err != nil {
				return err
			}
			lines = append(lines, f.Encode())
		}
	}
	_, err = m.Append(ctx, stream.How{}, lines...)
	return err
}

func leaseName(holder string, n int) string { return fmt.Sprint(holder, "-", n) }

// renew has the holders renew what they have, spread over each interval, until ctx ends: each writes all of its
// renewals at once, as renew --all does.
func (c *composed) renew(ctx context.Context, holders []string, each int) (ended <-chan error, err error) {
	media, lines := make([]*stream.File, len(holders)), make([][][]byte, len(holders))
	for i, holder := range holders {
		if media[i], err = c.medium("holders", holder, "facts.jsonl"); err != nil {
			return nil, err
		}
		for n := range each {
			f, err := lease.NewRenewal(leaseName(holder, n))
			if err != nil {
				return nil, err
			}
			lines[i] = append(lines[i], f.Encode())
		}
	}
	done := make(chan error, 1)
	go func() {
		turn := time.NewTicker(restEvery / time.Duration(len(holders)))
		defer turn.Stop()
		for i := 0; ; i = (i + 1) % len(holders) {
			if _, err := media[i].Append(ctx, stream.How{}, lines[i]...); err != nil {
				if ctx.Err() != nil {
					err = nil
				}
				done <- err
				return
			}
			select {
			case <-turn.C:
			case <-ctx.Done():
				done <- nil
				return
			}
		}
	}()
	return done, nil
}

// noneLapsed checks that what was measured is what was meant: every lease is still live.
func (c *composed) noneLapsed() error {
	text, err := os.ReadFile(filepath.Join(c.dir, "grantor", "facts.jsonl"))
	if err == nil && bytes.Contains(text, []byte(lease.Lapsed.String())) {
		err = errors.New("leases have lapsed meanwhile")
	}
	return err
}
