package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process is a command that is timed as a whole process.
type process struct {
	what string
	argv []string
	took []time.Duration
}

// processes are the rows about commands as whole processes. They are run in turn, so that all see the same machine.
func (b *bench) processes() error {
	comp, err := b.composition()
	if err != nil {
		return err
	}
	renew := &process{what: "daolease renew", argv: []string{b.bin("daolease"), "-C", comp, "--as", "alice", "renew"}}
	libs := &process{what: "a Go program with the four libraries", argv: []string{b.bin("libs")}}
	others := []*process{libs, {what: "a Go hello", argv: []string{b.bin("hello")}}}
	if path, err := exec.LookPath("flock"); err == nil {
		others = append(others, &process{what: "flock FILE true", argv: []string{path, filepath.Join(b.dir, "lock"), "true"}})
	}
	for _, start := range []func() (*process, func(), error){b.redis, b.etcd} {
		p, stop, err := start()
		if err != nil {
			b.skip("daolease renew", err)
			continue
		}
		defer stop()
		others = append(others, p)
	}
	if err := b.time(append(others, renew)); err != nil {
		return err
	}
	for _, p := range others {
		ratio := float64(renew.median()) / float64(p.median())
		b.row("daolease renew, a process", ns(float64(renew.median())), p.what+": "+ns(float64(p.median())), times(ratio))
	}
	if kib, err := peak(renew.argv); err != nil {
		b.skip("its peak memory", err)
	} else {
		b.row("its peak memory", fmt.Sprintf("%.1f MB", float64(kib)/1024), "", "")
	}
	return nil
}

func (p *process) median() time.Duration {
	slices.Sort(p.took)
	return p.took[len(p.took)/2]
}

func (b *bench) time(list []*process) error {
	rounds := 20
	if b.full {
		rounds = 200
	}
	for range rounds {
		for _, p := range list {
			cmd := exec.CommandContext(b.ctx, p.argv[0], p.argv[1:]...)
			began := time.Now()
			if out, err := cmd.Output(); err != nil {
				return fmt.Errorf("%s: %w: %s", p.what, err, out)
			}
			p.took = append(p.took, time.Since(began))
		}
	}
	return nil
}

func (b *bench) bin(name string) string { return filepath.Join(b.dir, name) }

// build builds the programs.
func (b *bench) build() error {
	for name, pkg := range map[string]string{"daolease": ".", "libs": "./examples/bench/libs", "hello": "./examples/bench/hello"} {
		if out, err := exec.CommandContext(b.ctx, "go", "build", "-o", b.bin(name), pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// composition has alice hold a lease, for hours.
func (b *bench) composition() (string, error) {
	comp := filepath.Join(b.dir, "comp")
	for _, args := range [][]string{
		{"init", comp, "--subject", "printer", "--duration", "12h", "--reclaim", "none"},
		{"-C", comp, "--as", "alice", "propose", "printer", "--async"},
		{"-C", comp, "judge", "--once"},
		{"-C", comp, "--as", "alice", "renew"},
	} {
		if out, err := exec.CommandContext(b.ctx, b.bin("daolease"), args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("daolease %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return comp, nil
}

// peak is the most memory that a command had, in KiB. GNU time tells: what a process is said to have had is never
// less than what its parent had, and this program is larger than time.
func peak(argv []string) (int, error) {
	clock, err := exec.LookPath("time")
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(clock, append([]string{"-f", "peak %M"}, argv...)...)
	cmd.Env = os.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, err
	}
	_, kib, _ := strings.Cut(string(out), "peak ")
	return strconv.Atoi(strings.TrimSpace(kib))
}
