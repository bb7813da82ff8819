package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// Of all leases on the grantor's stream so many are live.
const pastLive = 100

// past are the rows about what leases cost that are over: commands on a grantor's stream of many facts, beside the
// same on a short one, with as many live leases.
func (b *bench) past() error {
	few, many := 10_000, 1_000_000
	if b.full {
		many = 10_000_000
	}
	short, err := b.withPast(few)
	if err != nil {
		return err
	}
	long, err := b.withPast(many)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"grant", "", "bob"}, {"judge", "--once"}, {"inspect"}} {
		sides := []*process{
			{what: fmt.Sprint("after ", few), argv: append([]string{b.bin("daolease"), "-C", short}, args...)},
			{what: fmt.Sprint("after ", many), argv: append([]string{b.bin("daolease"), "-C", long}, args...)},
		}
		if err := b.timeFresh(sides); err != nil {
			return err
		}
		was, is := sides[0].median(), sides[1].median()
		b.row(fmt.Sprintf("daolease %s, after %d facts", args[0], many), ns(float64(is)), fmt.Sprintf("after %d: %s", few, ns(float64(was))), times(float64(is)/float64(was)))
	}
	return nil
}

// timeFresh times commands in turn. An empty word is a new subject each time.
func (b *bench) timeFresh(list []*process) error {
	for round := range 15 {
		for _, p := range list {
			argv := append([]string(nil), p.argv...)
			for i, word := range argv {
				if word == "" {
					argv[i] = fmt.Sprint("fresh-", round)
				}
			}
			began := time.Now()
			if out, err := exec.CommandContext(b.ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", p.what, err, out)
			}
			p.took = append(p.took, time.Since(began))
		}
	}
	return nil
}

// withPast makes a composition whose grantor's stream has so many facts, nearly all of leases that are over, and whose
// judge has read them. Its ledger keeps little of the past.
func (b *bench) withPast(facts int) (string, error) {
	c, err := b.compose(fmt.Sprint("past-", facts), "retention: {ledger: 64KiB}\n"+restConfig, []string{"a"})
	if err != nil {
		return "", err
	}
	if err := writePast(filepath.Join(c.dir, "grantor", "facts.jsonl"), facts); err != nil {
		return "", err
	}
	for range 2 { // the second one begins on the snapshot that the first has left
		if err := exec.CommandContext(b.ctx, b.bin("daolease"), "-C", c.dir, "judge", "--once").Run(); err != nil {
			return "", fmt.Errorf("judge --once: %w", err)
		}
	}
	return c.dir, nil
}

// writePast writes grants, each followed by its lapsed but for the last ones.
func writePast(path string, facts int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	leases := (facts + pastLive) / 2
	for i := range leases {
		id := fmt.Sprintf("LEASE%011d", i)
		grant, err := lease.NewGrant(lease.DefaultUnits(), lease.GrantTerms{
			Lease: id, Subject: lease.StringSubject(fmt.Sprint("/srv/shared/job-", i%1000)), Holder: "a",
			Duration: lease.Duration{Unit: "h", N: 12}, Token: int64(i + 1),
		})
		if err != nil {
			return errors.Join(err, file.Close())
		}
		lines := append(grant.Encode(), '\n')
		if i < leases-pastLive {
			lapsed, err := lease.NewLapsed(id, lease.ByRelease, "")
			if err != nil {
				return errors.Join(err, file.Close())
			}
			lines = append(append(lines, lapsed.Encode()...), '\n')
		}
		if _, err := out.Write(lines); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(out.Flush(), file.Close())
}
