package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// wallNote is a reading and the time of day at it: a line of wall.jsonl (SPEC 5). No conclusion reads one.
type wallNote struct {
	Reading lease.Duration `json:"daolease/reading"`
	UTC     time.Time      `json:"daolease/utc"`
}

// wallNoter writes such notes, one at its start and then one a minute of running time.
type wallNoter struct {
	medium stream.Appender
	units  lease.Units
	clock  Clock
	next   int64 // the running time at which another is due, in ms
	begun  bool
}

// wallEvery is how far notes are apart, in ms of running time.
const wallEvery = 60_000

func newWallNoter(c *Config, medium stream.Appender, clock Clock) *wallNoter {
	return &wallNoter{medium: medium, units: c.Units, clock: clock}
}

// note notes the time of day at a reading, if that is due. A note that could not be written is tried again by
// the next call; nothing but what people see depends on it.
func (w *wallNoter) note(ctx context.Context, reading int64) error {
	now := w.clock.Running()
	if w.begun && now < w.next {
		return nil
	}
	line, err := json.Marshal(wallNote{wallReading(w.units, reading), w.clock.UTC().Truncate(time.Millisecond)})
	if err != nil {
		return err
	}
	if _, err := w.medium.Append(ctx, stream.How{}, line); err != nil {
		return err
	}
	w.begun, w.next = true, now+wallEvery
	return nil
}

// wallReading is a reading in ms where the table has them and it is whole.
func wallReading(u lease.Units, reading int64) lease.Duration {
	if one, has := u.Magnitude("ms"); has && reading%one == 0 {
		return lease.Duration{Unit: "ms", N: reading / one}
	}
	return u.Of(reading)
}

// wallTimes turns readings into times of day, for people.
type wallTimes struct {
	config *Config
	zone   *time.Location
	notes  []wallMark // by reading
}

type wallMark struct {
	reading int64
	utc     time.Time
}

// readWall reads the notes that are there. Without any, no reading has a time of day.
func readWall(ctx context.Context, c *Config, medium stream.Medium, zone *time.Location) (*wallTimes, error) {
	w := &wallTimes{config: c, zone: zone}
	cursor, err := medium.Mint(ctx, stream.Oldest)
	if err != nil {
		return w, err
	}
	for {
		answer := medium.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
			w.add(v)
			return true
		})
		switch answer.State {
		case stream.Blocked, stream.End:
			slices.SortStableFunc(w.notes, func(a, b wallMark) int { return int(min(max(a.reading-b.reading, -1), 1)) })
			return w, nil
		case stream.OK, stream.Gap:
			if err := ctx.Err(); err != nil {
				return w, err
			}
			cursor = answer.Cursor
		default:
			return w, answer.Err
		}
	}
}

// add takes a note; a line that is none is passed over.
func (w *wallTimes) add(v stream.Value) {
	var n wallNote
	if v.Damage != "" || json.Unmarshal(v.Bytes, &n) != nil || n.UTC.IsZero() {
		return
	}
	if reading, err := w.config.Units.Count(n.Reading); err == nil {
		w.notes = append(w.notes, wallMark{reading, n.UTC})
	}
}

// at is about what time it was at a reading: counted on from the note before it, but not past the next one,
// because readings stand still while a machine is off. Before the first note it is counted back.
func (w *wallTimes) at(reading int64) (time.Time, bool) {
	if len(w.notes) == 0 {
		return time.Time{}, false
	}
	i, _ := slices.BinarySearchFunc(w.notes, reading, func(m wallMark, r int64) int {
		if m.reading <= r {
			return -1
		}
		return 1
	})
	if i == 0 {
		first := w.notes[0]
		return first.utc.Add(-w.config.span(first.reading - reading)), true
	}
	before := w.notes[i-1]
	t := before.utc.Add(w.config.span(reading - before.reading))
	if i < len(w.notes) && t.After(w.notes[i].utc) {
		t = w.notes[i].utc
	}
	return t, true
}

// about is the time of day at a reading, marked as what it is; empty when nobody noted any.
func (w *wallTimes) about(reading int64) string {
	t, known := w.at(reading)
	if !known {
		return ""
	}
	return fmt.Sprintf("≈ %s", t.In(w.zone).Format("2006-01-02 15:04:05"))
}
