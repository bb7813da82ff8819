package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// How many leases of how many holders fall due one after the other, and how far apart.
const (
	dueLeases  = 96
	dueHolders = 6
	dueApart   = 83 // ms, in step with no cadence
	dueSlack   = 500
)

const dueConfig = `cadence: 1s
tolerance: 500ms
subjects:
  - match: "*"
    duration: 3s
    longest: 1h
    reclaim: [hooks/began]
`

// reclaims are the rows about how soon after its due moment a silent lease's procedure executes its first
// instruction, beside the bare start of the same program by this one.
func (b *bench) reclaims() error {
	const what = "due to the hook's first instruction"
	var holders []string
	for i := range dueHolders {
		holders = append(holders, fmt.Sprint("h", i))
	}
	c, err := b.compose("due", dueConfig, holders)
	if err != nil {
		return err
	}
	hook := filepath.Join(c.dir, "hooks", "began")
	if err := writeClockHook(hook); err != nil {
		b.skip(what, err)
		return nil
	}
	bare, err := b.spawns(hook)
	if err != nil {
		return err
	}
	late, err := b.dueOneByOne(c, holders)
	if err != nil {
		return err
	}
	median, most := quantile(late, 50), quantile(late, 99)
	spawn := quantile(bare, 50)
	b.row(what+", median", ns(float64(median)), "bare fork and exec: "+ns(float64(spawn)), times(float64(median)/float64(spawn)))
	b.row(what+", 99th percentile", ns(float64(most)), "bare fork and exec: "+ns(float64(quantile(bare, 99))), times(float64(most)/float64(quantile(bare, 99))))
	return nil
}

// quantile is the percentile of some spans.
func quantile(spans []time.Duration, percent int) time.Duration {
	slices.Sort(spans)
	return spans[(len(spans)-1)*percent/100]
}

// beginning is what the hook has noted: when it began, and what it was told.
type beginning struct {
	at    time.Duration // CLOCK_MONOTONIC
	entry struct {
		Observed map[string]int64 `json:"last_observation"`
		Duration map[string]int64 `json:"duration"`
		Cause    string           `json:"cause"`
	}
}

func readBeginnings(path string) ([]beginning, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []beginning
	for len(text) > 0 {
		end := bytes.IndexByte(text[min(16, len(text)):], '\n')
		if end < 0 {
			return nil, fmt.Errorf("%s: cut short", path)
		}
		one := beginning{at: time.Duration(binary.LittleEndian.Uint64(text))*time.Second + time.Duration(binary.LittleEndian.Uint64(text[8:]))}
		if line := text[16 : 16+end]; len(line) > 0 {
			if err := json.Unmarshal(line, &one.entry); err != nil {
				return nil, err
			}
		}
		list, text = append(list, one), text[16+end+1:]
	}
	return list, nil
}

// spawns starts the hook from here, as simply as it goes.
func (b *bench) spawns(hook string) ([]time.Duration, error) {
	dir := filepath.Join(b.dir, "bare")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	var from []time.Duration
	for range dueLeases {
		cmd := exec.Command(hook)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader([]byte("\n"))
		now, err := monotonic()
		if err != nil {
			return nil, err
		}
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("the hook by itself: %w", err)
		}
		from = append(from, now)
		<-time.After(dueApart * time.Millisecond / 2) // as idle in between as a judge is
	}
	list, err := readBeginnings(filepath.Join(dir, clockFile))
	if err == nil && len(list) != len(from) {
		err = fmt.Errorf("%d of %d have begun", len(list), len(from))
	}
	if err != nil {
		return nil, err
	}
	for i := range from {
		from[i] = list[i].at - from[i]
	}
	return from, nil
}

// dueOneByOne has leases fall due one after the other before a real judge, and answers how late their
// procedures began.
func (b *bench) dueOneByOne(c *composed, holders []string) ([]time.Duration, error) {
	if err := c.start(b); err != nil {
		return nil, err
	}
	defer c.kill()
	for i, holder := range holders {
		m, err := c.medium("holders", holder, "facts.jsonl")
		if err != nil {
			return nil, err
		}
		for n := i; n < dueLeases; n += len(holders) {
			ask := lease.Duration{Unit: "ms", N: int64(4000 + n*dueApart)}
			f, err := lease.NewProposal(lease.DefaultUnits(), fmt.Sprint("p", n), lease.StringSubject(fmt.Sprint("subject-", n)), ask, "")
			if err != nil {
				return nil, err
			}
			if _, err := m.Append(b.ctx, stream.How{}, f.Encode()); err != nil {
				return nil, err
			}
		}
	}
	facts, err := c.medium("grantor", "facts.jsonl")
	if err != nil {
		return nil, err
	}
	lapsed := 0
	err = c.await(b, facts, 2*time.Minute, func(f lease.Fact) bool {
		if f.Kind == lease.Lapsed {
			lapsed++
		}
		return lapsed == dueLeases
	})
	if err != nil {
		return nil, err
	}
	ahead, err := c.ahead(b)
	if err != nil {
		return nil, err
	}
	if err := c.stop(); err != nil {
		return nil, err
	}
	return c.lateness(ahead)
}

// ahead is how far the judge's readings are ahead of CLOCK_MONOTONIC: its ticks say where that stood.
func (c *composed) ahead(b *bench) (ahead time.Duration, err error) {
	ticks, err := c.medium("grantor", "ticks.jsonl")
	if err != nil {
		return 0, err
	}
	err = c.await(b, ticks, time.Minute, func(f lease.Fact) bool {
		ahead = time.Duration(f.Reading.N-f.Clock) * time.Millisecond
		return f.Kind == lease.Tick && f.HasClock
	})
	return ahead, err
}

// lateness is how long after its due moment, the first ms past its bound, each procedure began.
func (c *composed) lateness(ahead time.Duration) ([]time.Duration, error) {
	list, err := readBeginnings(filepath.Join(c.dir, clockFile))
	if err != nil {
		return nil, err
	}
	if len(list) != dueLeases {
		return nil, fmt.Errorf("%d procedures for %d leases", len(list), dueLeases)
	}
	var late []time.Duration
	for _, one := range list {
		if one.entry.Cause != "silence" {
			return nil, fmt.Errorf("a lease ended by %q", one.entry.Cause)
		}
		due := time.Duration(one.entry.Observed["ms"]+one.entry.Duration["ms"]+dueSlack+1) * time.Millisecond
		late = append(late, one.at-(due-ahead))
	}
	return late, nil
}
