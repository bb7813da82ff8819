package judge

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// blockSize is how many leases lie together, under one lower bound of what makes one of them due.
const blockSize = 512

// never is the bound of what cannot become due by itself.
const never = math.MaxInt64

// slab is where live leases lie. A place that a lease has left is used again only after tidy: until then
// whoever holds on to it finds it as it was, and not alive.
type slab struct {
	texts texts

	blocks []*block
	least  []int64  // of each block, a lower bound of its bounds
	free   []uint32 // places to use
	freed  []uint32 // places to use after tidy
	count  int      // of live leases
	last   uint32   // slot of the lease that was heard of last

	rares     map[uint32]*rare
	unitNames []string

	byLease, byHolder, bySubject, byProposal index
}

// block is leases that lie together. The bounds are apart from them, because most passes look at nothing else.
type block struct {
	bounds [blockSize]int64 // lower bounds of the readings past which they are due; never too high
	lives  [blockSize]live
}

func newSlab() slab {
	return slab{
		rares:   map[uint32]*rare{},
		byLease: newIndex(), byHolder: newIndex(), bySubject: newIndex(), byProposal: newIndex(),
	}
}

func (s *slab) at(slot uint32) *live { return &s.blocks[slot/blockSize].lives[slot%blockSize] }

// all are the live leases, in no order that means anything.
func (s *slab) all() iter.Seq[*live] {
	return func(yield func(*live) bool) {
		for _, b := range s.blocks {
			for i := range b.lives {
				if e := &b.lives[i]; e.alive && !yield(e) {
					return
				}
			}
		}
	}
}

// sorted are the live leases by id. Each id is looked up once, and not with every comparison.
func (s *slab) sorted() []*live {
	type named struct {
		id string
		e  *live
	}
	list := make([]named, 0, s.count)
	for e := range s.all() {
		list = append(list, named{s.idOf(e), e})
	}
	slices.SortFunc(list, func(a, b named) int { return strings.Compare(a.id, b.id) })
	sorted := make([]*live, len(list))
	for i := range list {
		sorted[i] = list[i].e
	}
	return sorted
}

// find is the live lease of an id; nil when there is none.
func (s *slab) find(id string) *live {
	at, found := s.byLease.find(s.byLease.hash(id), func(slot uint32) bool { return s.idOf(s.at(slot)) == id })
	if !found {
		return nil
	}
	return s.at(s.byLease.slot(at))
}

// findBytes is find for an id that is no string yet.
func (s *slab) findBytes(id []byte) *live {
	at, found := s.byLease.find(s.byLease.hashBytes(id), func(slot uint32) bool { return s.idOf(s.at(slot)) == string(id) })
	if !found {
		return nil
	}
	return s.at(s.byLease.slot(at))
}

// heard is findBytes for renewals. Who renews many leases does so in the same order again and again, so the lease
// that followed the last one before is looked at first: of a million leases that is three times as fast as the
// index, whose cells are nowhere near one another.
func (s *slab) heard(id []byte) *live {
	if s.count == 0 {
		return nil
	}
	last := s.at(s.last)
	if int(last.then) < len(s.blocks)*blockSize {
		if e := s.at(last.then); e.alive && s.idOf(e) == string(id) {
			s.last = e.slot
			return e
		}
	}
	e := s.findBytes(id)
	if e != nil {
		last.then, s.last = e.slot, e.slot
	}
	return e
}

// answering is the live lease that answers a holder's proposal.
func (s *slab) answering(holder, proposal string) *live {
	at, found := s.findProposal(holder, proposal)
	if !found {
		return nil
	}
	return s.at(s.byProposal.slot(at))
}

func (s *slab) findProposal(holder, proposal string) (at uint32, found bool) {
	return s.byProposal.find(s.byProposal.hashPair(holder, proposal), func(slot uint32) bool {
		e := s.at(slot)
		return s.proposalOf(e) == proposal && s.heldBy(e) == holder
	})
}

// ofHolder are the live leases of a holder.
func (s *slab) ofHolder(name string) iter.Seq[*live] { return s.chain(&s.byHolder, textHolder, name) }

// onSubject are the live leases on a subject.
func (s *slab) onSubject(text string) iter.Seq[*live] {
	return s.chain(&s.bySubject, textSubject, text)
}

func (s *slab) chain(x *index, which int, text string) iter.Seq[*live] {
	return func(yield func(*live) bool) {
		at, found := s.head(x, which, text)
		if !found {
			return
		}
		for slot := x.slot(at); slot != nobody; {
			e := s.at(slot)
			slot = e.link(which).next
			if !yield(e) {
				return
			}
		}
	}
}

// head is the cell of the first lease of a chain.
func (s *slab) head(x *index, which int, text string) (at uint32, found bool) {
	return x.find(x.hash(text), func(slot uint32) bool { return s.text(s.at(slot), which) == text })
}

func (e *live) link(which int) *link {
	if which == textHolder {
		return &e.ofHolder
	}
	return &e.onSubject
}

// chainIn makes a lease the first of its chain.
func (s *slab) chainIn(x *index, which int, e *live) {
	*e.link(which) = link{nobody, nobody}
	text := s.text(e, which)
	at, found := s.head(x, which, text)
	if !found {
		x.add(x.hash(text), e.slot)
		return
	}
	first := s.at(x.slot(at))
	e.link(which).next, first.link(which).prev = first.slot, e.slot
	x.set(at, e.slot)
}

func (s *slab) chainOut(x *index, which int, e *live) {
	l := *e.link(which)
	if l.next != nobody {
		s.at(l.next).link(which).prev = l.prev
	}
	if l.prev != nobody {
		s.at(l.prev).link(which).next = l.next
		return
	}
	at, _ := s.head(x, which, s.text(e, which))
	if l.next == nobody {
		x.remove(at)
	} else {
		x.set(at, l.next)
	}
}

// allot is a new live lease with its texts.
func (s *slab) allot(id, holder, proposal, subject string) *live {
	if len(s.free) == 0 {
		b := &block{}
		from := uint32(len(s.blocks) * blockSize)
		s.blocks, s.least = append(s.blocks, b), append(s.least, never)
		for i := range uint32(blockSize) {
			b.bounds[i] = never
			s.free = append(s.free, from+blockSize-1-i)
		}
	}
	last := len(s.free) - 1
	slot := s.free[last]
	s.free = s.free[:last]
	e := s.at(slot)
	*e = live{slot: slot, then: slot + 1, alive: true, at: s.texts.add(id, holder, proposal, subject)}
	e.lens = [4]uint32{uint32(len(id)), uint32(len(holder)), uint32(len(proposal)), uint32(len(subject))}
	s.count++
	s.byLease.add(s.byLease.hash(id), slot)
	s.chainIn(&s.byHolder, textHolder, e)
	s.chainIn(&s.bySubject, textSubject, e)
	if proposal != "" {
		if at, found := s.findProposal(holder, proposal); found {
			s.byProposal.set(at, slot)
		} else {
			s.byProposal.add(s.byProposal.hashPair(holder, proposal), slot)
		}
	}
	return e
}

// give takes a lease out. It stays readable until tidy.
func (s *slab) give(e *live) {
	at, _ := s.byLease.find(s.byLease.hash(s.idOf(e)), func(slot uint32) bool { return slot == e.slot })
	s.byLease.remove(at)
	s.chainOut(&s.byHolder, textHolder, e)
	s.chainOut(&s.bySubject, textSubject, e)
	if proposal := s.proposalOf(e); proposal != "" {
		if at, found := s.findProposal(s.heldBy(e), proposal); found && s.byProposal.slot(at) == e.slot {
			s.byProposal.remove(at)
		}
	}
	s.forgo(e)
	s.count--
	e.alive = false
	s.freed = append(s.freed, e.slot)
}

// tidy makes what leases have left free for others. Nobody may hold on to one that is not alive.
func (s *slab) tidy() {
	for _, slot := range s.freed {
		e := s.at(slot)
		for _, length := range e.lens {
			s.texts.dead += int(length)
		}
		delete(s.rares, slot)
	}
	s.free = append(s.free, s.freed...)
	s.freed = s.freed[:0]
	if s.texts.dead > chunkSize && s.texts.dead > s.texts.size/2 {
		s.packTexts()
	}
}

// packTexts gets rid of the texts of leases that have left, once they are more than those of the others.
func (s *slab) packTexts() {
	packed := texts{}
	for e := range s.all() {
		whole := e.lens[0] + e.lens[1] + e.lens[2] + e.lens[3]
		e.at = packed.add(s.texts.get(e.at, 0, whole))
	}
	s.texts = packed
}
