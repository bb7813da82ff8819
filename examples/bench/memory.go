package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// memory is the row about what a judge of many leases has resident.
func (b *bench) memory() error {
	leases := 100_000
	if b.full {
		leases = 1_000_000
	}
	what := fmt.Sprintf("resident memory of a judge, %d live", leases)
	resident, err := b.resident(leases)
	if errors.Is(err, os.ErrNotExist) {
		b.skip(what, err)
		return nil
	}
	if err == nil {
		b.row(what, fmt.Sprintf("%.0f MB: %.0f bytes a lease", float64(resident)/1e6, float64(resident)/float64(leases)), "", "")
	}
	return err
}

// resident is what a judge has resident after it has begun on a ledger of many leases and passed.
func (b *bench) resident(leases int) (int, error) {
	if _, err := residentOf(os.Getpid()); err != nil {
		return 0, err
	}
	c, err := b.compose("memory", strings.Replace(restConfig, "30s", "24h", 1), []string{"a"})
	if err != nil {
		return 0, err
	}
	if err := c.grant(b.ctx, []string{"a"}, leases, lease.Duration{Unit: "h", N: 24}); err != nil {
		return 0, err
	}
	// The first judge seeds the leases; the second one recovers them.
	if err := exec.CommandContext(b.ctx, b.bin("daolease"), "-C", c.dir, "judge", "--once").Run(); err != nil {
		return 0, err
	}
	ticks, err := c.medium("grantor", "ticks.jsonl")
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(ticks.Path())
	if err != nil {
		return 0, err
	}
	if err := c.start(b); err != nil {
		return 0, err
	}
	defer c.kill()
	passes := -bytes.Count(text, []byte(`"dao.lease/tick"`))
	if err := c.await(b, ticks, 5*time.Minute, func(lease.Fact) bool { passes++; return passes == 10 }); err != nil {
		return 0, err
	}
	resident, err := residentOf(c.judge.Process.Pid)
	return resident, errors.Join(err, c.stop())
}

// residentOf is what a process has resident, in bytes, as Linux says.
func residentOf(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib := 0
	_, err = fmt.Sscan(after, &kib)
	return kib << 10, err
}
