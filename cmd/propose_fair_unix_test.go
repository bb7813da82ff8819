//go:build unix

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// crowd is many holders who all want one subject, again and again.
type crowd struct {
	*world
	mu      sync.Mutex
	over    bool
	waiting map[*exec.Cmd]bool
	turns   map[string]int // by holder
}

const (
	crowdSize = 20
	crowdEach = 1  // turns that everybody is to have
	crowdMost = 60 // turns in all, until everybody has had them
)

// contend has one holder propose, hold and release until everybody has had enough.
func (c *crowd) contend(name string) {
	for {
		propose := c.cmd(as(name, "propose", "s", "--wait", "inf")...)
		var said strings.Builder
		propose.Stdout, propose.Stderr = &said, os.Stderr
		if !c.starts(propose) {
			return
		}
		_ = propose.Wait() // the code is looked at
		switch code := propose.ProcessState.ExitCode(); {
		case c.ends(propose) && (code == 130 || code == -1): // -1: it had not come to hear signals yet
			return
		case code != 0:
			c.Errorf("%s: propose: %v", name, propose.ProcessState)
			return
		}
		c.has(name)
		if r := c.finish(c.cmd(as(name, "release", strings.TrimSpace(said.String()))...)); r.code != 0 {
			c.Errorf("%s: %v", name, r)
			return
		}
	}
}

// starts starts a process that waits, unless it is over.
func (c *crowd) starts(p *exec.Cmd) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	if err := p.Start(); err != nil {
		c.Error(err)
		return false
	}
	c.waiting[p] = true
	return true
}

// ends notes that a process has ended, and answers whether all is over.
func (c *crowd) ends(p *exec.Cmd) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, p)
	return c.over
}

// has notes a turn. Once everybody has had enough, or there were too many, whoever waits is interrupted.
func (c *crowd) has(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns[name]++
	all, enough := 0, len(c.turns) == crowdSize
	for _, n := range c.turns {
		all += n
		enough = enough && n >= crowdEach
	}
	if c.over || !enough && all < crowdMost {
		return
	}
	c.over = true
	c.Logf("%d turns: %v", all, c.turns)
	if !enough {
		c.Errorf("after %d turns somebody has not had %d", all, crowdEach)
	}
	for p := range c.waiting {
		_ = p.Process.Signal(syscall.SIGINT)
	}
}

// Nobody is passed over for ever, however many want the same and come back for more. Whoever is interrupted leaves
// nothing behind.
func TestProposeIsFairToACrowd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"subjects: [{match: s, duration: 10min, reclaim: [hooks/free]}]\n", map[string]string{"free": "exit 0"})
	judge := w.judge()
	c := &crowd{world: w, waiting: map[*exec.Cmd]bool{}, turns: map[string]int{}}
	var contenders sync.WaitGroup
	for i := range crowdSize {
		contenders.Go(func() { c.contend(fmt.Sprintf("h%02d", i)) })
	}
	contenders.Wait()
	granted := w.of("accepted")
	w.until("all that was granted has lapsed", func() bool { return len(w.of("lapsed")) == len(w.of("accepted")) })
	judge.stop()
	w.want(0, []string{"judge", "--once"})
	if again := w.of("accepted"); len(again) != len(granted) {
		t.Errorf("%d leases were granted afterwards, to nobody", len(again)-len(granted))
	}
	if said := w.want(0, []string{"inspect", "--proposals", "-o", "json"}); !strings.Contains(said, `"proposals": []`) {
		t.Errorf("proposals still wait: %s", said)
	}
}
