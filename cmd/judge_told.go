package cmd

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// told is of which media the system tells, when it is asked, whether anything has happened in their folders. Where
// there are many, a pass that reads all asks that first, and then only the files of folders in which something has
// happened, and some of the others in turn (SPEC 3, Watching): to ask each file is most of what a judge at rest costs.
// The system is trusted no further than that. Before a lease is concluded silent its media are read, and a medium that
// is found changed without a word is asked by each of those passes from then on.
type told struct {
	set  *stream.Set
	dir  func(name string) string // the folder of a medium
	file string                   // the medium's file in it

	gatherer *stream.Gatherer    // nil: there were never many media, or the system does not gather
	of       map[string]struct{} // the media of which the system tells
	deaf     map[string]int      // those of which it does not, until the round in which that is tried again
	round    int
	turn     []string            // the media to ask next, whatever is told of them
	suspects map[string]struct{} // found changed without a word, which may have come since
}

const (
	// toldFrom is how many media are so few that each is asked.
	toldFrom = 64
	// toldRounds is within how many passes that read all media each medium is asked.
	toldRounds = 32
	// deafRounds is for how many of those passes it is not tried again whether the system tells of a medium.
	deafRounds = 8 * toldRounds
)

func newTold(set *stream.Set, dir func(name string) string, file string) *told {
	return &told{
		set: set, dir: dir, file: file,
		of: map[string]struct{}{}, deaf: map[string]int{}, suspects: map[string]struct{}{},
	}
}

// gather is called before a pass reads all media. It touches those in whose folders something has happened, and
// those whose turn it is and which are not as they were read.
func (t *told) gather(j *judge.Judge) {
	if t.gatherer == nil && !t.begin() {
		return
	}
	err := t.gatherer.Gather(func(dir, file string) {
		if file == "" || file == t.file {
			name := filepath.Base(dir)
			t.set.Touch(name)
			delete(t.suspects, name)
		}
	}, func(dir string) { t.forget(filepath.Base(dir)) })
	if err != nil {
		t.end()
		return
	}
	t.round++
	t.convict()
	t.askInTurn(j)
	t.listen()
}

// convict has those asked by every pass that were found changed, and of which no word has come since.
func (t *told) convict() {
	for name := range t.suspects {
		t.forget(name)
		t.deaf[name] = t.round + deafRounds
	}
	clear(t.suspects)
}

// begin opens the gatherer once there are many media; false: nothing is gathered.
func (t *told) begin() bool {
	if len(t.set.Polled()) <= toldFrom {
		return false
	}
	g, err := stream.NewGatherer()
	if err != nil {
		return false
	}
	t.gatherer = g
	return true
}

// listen has the system tell of every medium of which it does not yet. What came before is read in this pass.
func (t *told) listen() {
	for _, name := range t.set.Polled() {
		switch {
		case t.deaf[name] > t.round:
		case t.gatherer.Add(t.dir(name)) != nil:
			t.deaf[name] = t.round + deafRounds
		default:
			delete(t.deaf, name)
			t.of[name] = struct{}{}
			t.set.Told(name, true)
			t.set.Touch(name)
		}
	}
}

// askInTurn has those read of which it is not known how they were left, and asks some of the others whether they are
// as they were.
func (t *told) askInTurn(j *judge.Judge) {
	for name := range t.of {
		if m := t.medium(name); m == nil || !m.Settled(j.CursorOf(name)) {
			t.set.Touch(name)
		}
	}
	for range (len(t.of) + toldRounds - 1) / toldRounds {
		if len(t.turn) == 0 {
			t.turn = slices.Collect(maps.Keys(t.of))
		}
		if len(t.turn) == 0 {
			return
		}
		name := t.turn[len(t.turn)-1]
		t.turn = t.turn[:len(t.turn)-1]
		m, from := t.medium(name), j.CursorOf(name)
		if _, is := t.of[name]; !is || m == nil || !m.Settled(from) {
			continue
		}
		if _, idle := m.Idle(from); !idle {
			t.set.Touch(name)
			t.suspects[name] = struct{}{}
		}
	}
}

func (t *told) medium(name string) *stream.File {
	m, _ := t.set.Get(name).(*stream.File)
	return m
}

// forget has a medium asked by every pass again.
func (t *told) forget(name string) {
	if t == nil {
		return
	}
	if _, is := t.of[name]; !is {
		return
	}
	delete(t.of, name)
	delete(t.suspects, name)
	t.gatherer.Remove(t.dir(name))
	t.set.Told(name, false)
}

// end gathers no more.
func (t *told) end() {
	if t == nil {
		return
	}
	for name := range t.of {
		t.forget(name)
	}
	if t.gatherer != nil {
		_ = t.gatherer.Close()
		t.gatherer = nil
	}
}
