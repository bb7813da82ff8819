package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// side is one holder's side of a composition: its media, and the grantor's stream that it looks at.
type side struct {
	comp *Composition
	app  *App
	name string

	facts   *stream.File
	grantor *stream.File
	adapter *adapter
	vigil   *vigil
	said    map[string]bool // what is said once a command
}

// openSide opens the side of the holder that one is (SPEC 8). With makes, its folder is made where the caller
// may; otherwise a holder without one holds nothing (exit 3), and one with notes needs no sound configuration.
func openSide(app *App, makes bool) (*side, error) {
	who := sync.OnceValues(app.holderName) // it can take another program to tell
	open := func(app *App) (*Composition, error) { return findHeld(app, who) }
	if makes {
		open = find
	}
	c, err := open(app)
	if err != nil {
		return nil, err
	}
	name, err := who()
	if err != nil {
		return nil, err
	}
	if err := c.holderName(name); err != nil {
		return nil, usagef("choose another name with --as NAME", "%q cannot be a holder's name: %w", name, err)
	}
	_, err = os.Lstat(c.holderDir(name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !makes:
		return nil, fail(exitNothingHeld, "daolease propose SUBJECT asks for a lease; --as NAME says which holder one is", "holder %q holds nothing here", name)
	case errors.Is(err, fs.ErrNotExist):
		if err := c.makeOwnHolder(name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fail(exitComposition, "", "%w", err)
	}
	if err := c.callerIsHolder(name); err != nil {
		return nil, err
	}
	return newSide(c, name)
}

func newSide(c *Composition, name string) (*side, error) {
	s := &side{comp: c, app: c.app, name: name, vigil: newVigil(c), said: map[string]bool{}}
	var err error
	if s.facts, err = c.holderStream(name); err != nil {
		return nil, err
	}
	if s.grantor, err = c.grantorStream(); err != nil {
		return nil, err
	}
	s.adapter, err = c.holderAdapter(name)
	return s, err
}

// sayOnce says a thing to people once a command.
func (s *side) sayOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !s.said[text] {
		s.said[text] = true
		s.app.say("%s", text)
	}
}

// lockWait is how long a command waits for the holder's lock.
const lockWait = 5 * time.Second

// lock keeps every other command of this holder out.
func (s *side) lock(ctx context.Context) (unlock func(), err error) {
	f, err := stream.LockFile(ctx, s.comp.holderLock(s.name), lockWait, s.app.adopt)
	if errors.Is(err, stream.ErrLocked) {
		return nil, fail(exitFailure, "try again", "another command of holder %q is at work since more than %v", s.name, lockWait)
	}
	if unwritable(err) {
		return nil, fail(exitNotAppended, "", "the lock of holder %q: %w", s.name, err)
	}
	if err != nil {
		return nil, fail(exitFailure, "", "the lock of holder %q: %w", s.name, err)
	}
	return func() { stream.UnlockFile(f) }, nil
}

// turn is the look, the reading, the append and the note of one command, under the holder's lock (SPEC 7).
type turn struct {
	*side
	h       *lease.Holder
	reading int64 // taken before the look; 0 when it is unusable
	clock   int64 // where the raw clock stood at it, ms
	news    []lease.Observation
	notes   notes
}

// turn takes the holder's lock, looks, calls fn and notes what came of it, also where fn fails.
func (s *side) turn(ctx context.Context, fn func(*turn) error) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	t.settle(ctx)
	return errors.Join(fn(t), t.save())
}

// begin takes the state out of its keeping, takes a reading and looks.
func (s *side) begin(ctx context.Context) (*turn, error) {
	t := &turn{side: s}
	from, err := t.recall(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.read(ctx); err != nil {
		return nil, err
	}
	t.h = lease.NewHolder(s.name, s.comp.Config.Grantor, s.comp.Config.Units, t.notes.State)
	t.h.See(t.reading)
	return t, t.look(ctx, from)
}

// recall reads the notes, and tells where a look begins that has no cursor. Void notes, and missing ones beside
// a medium that holds facts, begin at the newest position: what was granted before is not known to be unspent.
func (t *turn) recall(ctx context.Context) (stream.Edge, error) {
	n, err := readNotes(t.comp.notes(t.name))
	switch {
	case errors.Is(err, errNoNotes):
		return t.without(ctx, err)
	case err != nil:
		return stream.Newest, err
	}
	t.notes = n
	if err := t.elsewhere(ctx); err != nil {
		return stream.Newest, err
	}
	boot := t.app.Clock.BootID()
	if boot == "" {
		t.sayOnce("this boot of the machine has no name that can be told, so that no notes count and nothing can be held")
	}
	if t.notes.voidIn(boot, t.comp.Config.Units.Base()) {
		t.notes.State = t.notes.State.Void()
	}
	return stream.Newest, nil
}

// without is a recall without notes.
func (t *turn) without(ctx context.Context, why error) (stream.Edge, error) {
	if why != errNoNotes { // the bare sentinel means that there is no file
		t.sayOnce("%v; nothing that it names is held", why)
		return stream.Newest, nil
	}
	any := false
	cursor, err := t.facts.Mint(ctx, stream.Oldest)
	if err != nil {
		return stream.Newest, err
	}
	answer := t.facts.Read(ctx, cursor, stream.Budget{Values: 1}, func(stream.Value) bool {
		any = true
		return true
	})
	switch {
	case answer.State == stream.Transport:
		return stream.Newest, fail(exitFailure, "", "%w", answer.Err)
	case any || answer.State != stream.Blocked:
		return stream.Newest, nil
	}
	return stream.Oldest, nil
}

// elsewhere refuses a name that is live on another machine (SPEC 8). What has ended since the notes were
// written is read first.
func (t *turn) elsewhere(ctx context.Context) error {
	host, err := t.app.Hostname()
	if err != nil || t.notes.Host == "" || t.notes.Host == host || t.notes.Boot == t.app.Clock.BootID() {
		return nil
	}
	t.h = lease.NewHolder(t.name, t.comp.Config.Grantor, t.comp.Config.Units, t.notes.State)
	if err := t.look(ctx, stream.Newest); err != nil {
		return err
	}
	t.notes.State, t.h, t.news = t.h.State, nil, nil
	live := t.notes.live()
	if len(live) == 0 {
		return nil
	}
	slices.Sort(live)
	user, _, _ := strings.Cut(t.name, "@")
	other := plainName(user + "@" + host)
	if other == t.name {
		other = plainName(t.name + "-2")
	}
	return usagef("use another name on this machine: --as "+other,
		"holder %q is in use on %s, where it has lease %s", t.name, t.notes.Host, live[0])
}

// read takes a reading. Where there is none yet it is unusable, and no error: one may still propose and release.
func (t *turn) read(ctx context.Context) error {
	t.adapter.remember(t.notes.Tick, t.notes.Boot, t.notes.Clock)
	if t.adapter.cursor == "" && t.notes.Tick > 0 && !t.notes.voidIn(t.app.Clock.BootID(), t.comp.Config.Units.Base()) && !t.adapter.external {
		t.adapter.cursor = t.notes.Ticks // a short command need not read all ticks that are retained
	}
	reading, err := t.adapter.tick(ctx, t.notes.State.Now)
	if errors.Is(err, errNoReading) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("taking a reading: %w", err)
	}
	t.reading = reading
	newest := t.adapter.marked
	t.adapter.remember(newest.reading, newest.boot, newest.clock)
	t.clock = newest.clock
	return nil
}

// now is a reading of this moment, without a tick. Where the clock stood is noted with it: what passes afterwards
// must not be counted from an earlier tick again.
func (t *turn) now(ctx context.Context) (int64, error) {
	clock, boot := t.app.Clock.Boot(), t.app.Clock.BootID()
	reading, err := t.adapter.peek(ctx, t.h.State.Now)
	if errors.Is(err, errNoReading) {
		return 0, nil
	}
	if err == nil && !t.adapter.external {
		t.adapter.remember(reading, boot, clock)
	}
	return reading, err
}

// save notes how things stand.
func (t *turn) save() error {
	host, err := t.app.Hostname()
	if err != nil {
		host = ""
	}
	n := notes{Host: host, Boot: t.app.Clock.BootID(), Unit: t.comp.Config.Units.Base(), State: t.h.State, Config: t.comp.Config.held()}
	if from := t.adapter.noted; from.boot == n.Boot {
		n.Tick, n.Clock, n.Ticks = from.reading, from.clock, t.adapter.cursor
	}
	return t.comp.writeNotes(t.name, &n)
}
