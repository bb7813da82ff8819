package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// composed is a composition on which a real judge runs.
type composed struct {
	dir   string
	judge *exec.Cmd
	said  string // the file that has what it says
}

// compose makes a composition of a configuration and of holders.
func (b *bench) compose(name, config string, holders []string) (*composed, error) {
	c := &composed{dir: filepath.Join(b.dir, name)}
	c.said = filepath.Join(b.dir, name+".said")
	for _, dir := range []string{"grantor", "hooks", "holders"} {
		if err := os.MkdirAll(filepath.Join(c.dir, dir), 0o755); err != nil {
			return nil, err
		}
	}
	for _, holder := range holders {
		if err := os.Mkdir(filepath.Join(c.dir, "holders", holder), 0o755); err != nil {
			return nil, err
		}
	}
	return c, os.WriteFile(filepath.Join(c.dir, "daolease.yaml"), []byte(config), 0o644)
}

// start starts the judge.
func (c *composed) start(b *bench) error {
	said, err := os.OpenFile(c.said, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer said.Close()
	c.judge = exec.Command(b.bin("daolease"), "-C", c.dir, "judge")
	c.judge.Stderr = said
	return c.judge.Start()
}

// stop ends the judge as a service manager does.
func (c *composed) stop() error {
	if c.judge == nil {
		return nil
	}
	_ = c.judge.Process.Signal(syscall.SIGTERM)
	err := c.judge.Wait()
	c.judge = nil
	if err != nil {
		said, _ := os.ReadFile(c.said)
		err = fmt.Errorf("judge: %w: %s", err, said)
	}
	return err
}

// kill ends a judge that still runs.
func (c *composed) kill() {
	if c.judge != nil {
		_ = c.judge.Process.Kill()
		_ = c.judge.Wait()
	}
}

// medium is a medium of a holder or of the grantor.
func (c *composed) medium(words ...string) (*stream.File, error) {
	return stream.OpenFile(filepath.Join(append([]string{c.dir}, words...)...), stream.FileOptions{})
}

// await reads a medium until done is true of its facts.
func (c *composed) await(b *bench, m stream.Medium, most time.Duration, done func(lease.Fact) bool) error {
	ctx, cancel := context.WithTimeout(b.ctx, most)
	defer cancel()
	cursor, err := m.Mint(ctx, stream.Oldest)
	for over := false; err == nil; {
		answer := m.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
			f, err := lease.Decode(v.Bytes, lease.DefaultUnits())
			over = err == nil && done(f)
			return !over
		})
		cursor, err = answer.Cursor, answer.Err
		if over {
			return nil
		}
		if answer.State != stream.Blocked {
			continue
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(c.said)
			return fmt.Errorf("it took more than %v: %s", most, said)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return err
}
