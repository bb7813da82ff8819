package judge

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/daolease/daolease/pkg/stream"
)

// source is one holder's medium as the judge reads it.
type source struct {
	name   string
	key    string // among the cursors
	medium stream.Medium
	idler  stream.Idler // the medium, where it can tell that nothing has come
	sole   string       // its one possible author
	mixed  bool         // it has several
	owner  string       // for fairness between owners

	wanted  uint64 // the drain that is to read it
	drained uint64 // the pass whose drain of it ended blocked or at end
	ended   bool   // it was closed: its cursor is retired until it has another identity
	stale   bool   // it had a gap, and has not been drained since: proposals may be old ones
	barred  string // why the last drain did not reach its end
}

// Rememberer is a resolver whose answers depend on what it has answered before: the judge keeps that with the
// cursors, and gives it to the resolver of the next incarnation (SPEC 4).
type Rememberer interface {
	// News is what there is to remember since it was last asked.
	News() map[string]string
	// Remember takes over what was remembered.
	Remember(known map[string]string)
}

// owned is a resolver that groups media by who owns them, so that one owner of many gets one turn.
type owned interface{ Owner(medium string) string }

// Attach lets the judge read a medium. It is called between passes.
func (j *Judge) Attach(name string, m stream.Medium) {
	j.detach(name)
	s := &source{name: name, key: holdersPath + name, medium: m, owner: name}
	s.idler, _ = m.(stream.Idler)
	author, sole := j.cfg.Resolver.Sole(name)
	s.sole, s.mixed = author, !sole
	if o, groups := j.cfg.Resolver.(owned); groups {
		s.owner = o.Owner(name)
	}
	j.sources[name] = s
	if s.mixed {
		j.mixed[name] = s
	} else {
		if j.bySole[author] == nil {
			j.bySole[author] = map[string]*source{}
		}
		j.bySole[author][name] = s
	}
	if j.cfg.Media.Get(name) != m {
		j.cfg.Media.Add(name, m)
	}
	j.again[name] = struct{}{}
}

// Detach takes a medium away, and forgets how far it was read. It is called between passes.
func (j *Judge) Detach(name string) {
	j.detach(name)
	j.cfg.Media.Remove(name)
	if key := holdersPath + name; j.ledger.cursors[key] != "" {
		delete(j.ledger.cursors, key)
		j.carry(&delta{Cursors: map[string]stream.Cursor{key: ""}})
	}
}

func (j *Judge) detach(name string) {
	if s := j.sources[name]; s != nil {
		delete(j.sources, name)
		delete(j.mixed, name)
		delete(j.again, name)
		delete(j.bySole[s.sole], name)
		if len(j.bySole[s.sole]) == 0 {
			delete(j.bySole, s.sole)
		}
		if j.owners.media[s.owner] == name {
			delete(j.owners.media, s.owner)
		}
	}
}

// Attached are the names of the media that are read, sorted.
func (j *Judge) Attached() []string { return sortedKeys(j.sources) }

// carry has a change written with the next group.
func (j *Judge) carry(d *delta) {
	if j.journal != nil {
		j.journal.carried = append(j.journal.carried, d)
	}
}

// mayCarry are the media on which facts about a holder's leases may stand.
func (j *Judge) mayCarry(holder string) []*source {
	list := make([]*source, 0, 1+len(j.mixed))
	for _, s := range j.bySole[holder] {
		list = append(list, s)
	}
	for _, s := range j.mixed {
		list = append(list, s)
	}
	return list
}

// watchedNow says that nothing about this holder's leases can be unread: every medium that may carry them
// was drained in this pass, or is known to have nothing new.
func (j *Judge) watchedNow(holder string) bool {
	return !slices.ContainsFunc(j.mayCarry(holder), func(s *source) bool {
		return s.drained != j.ledger.pass && !(s.barred == "" && s.drained != 0 && j.cfg.Media.Quiet(s.name))
	})
}

// ring remembers whose turn it is.
type ring struct {
	last  string            // the owner served last
	media map[string]string // of each owner, the medium served last
}

// turns orders media for a drain: owners in turn, beginning after the last one served, and of each owner
// one medium after the other. It reorders todo, of which the turns are parts.
func (r *ring) turns(todo []*source) [][]*source {
	slices.SortFunc(todo, func(a, b *source) int {
		return cmp.Or(strings.Compare(a.owner, b.owner), strings.Compare(a.name, b.name))
	})
	lanes := make([][]*source, 0, len(todo))
	for len(todo) > 0 {
		owner := todo[0].owner
		n := 1
		for n < len(todo) && todo[n].owner == owner {
			n++
		}
		lane := todo[:n:n]
		todo = todo[n:]
		if n > 1 {
			last := r.media[owner]
			rotate(lane, sort.Search(n, func(k int) bool { return lane[k].name > last }))
		}
		lanes = append(lanes, lane)
	}
	rotate(lanes, sort.Search(len(lanes), func(k int) bool { return lanes[k][0].owner > r.last }))
	return lanes
}

func (r *ring) served(s *source) {
	if r.media == nil {
		r.media = map[string]string{}
	}
	r.last, r.media[s.owner] = s.owner, s.name
}

// rotate has a list begin with what was at a place.
func rotate[E any](list []E, at int) {
	slices.Reverse(list[:at])
	slices.Reverse(list[at:])
	slices.Reverse(list)
}
