package judge

import "hash/maphash"

// index finds live leases by a text: an open hash table of slots, without a pointer for the garbage collector to
// follow. What a slot's text is, its user knows.
type index struct {
	cells []cell
	used  int
	seed  maphash.Seed
}

// cell is empty while its slot is 0; slots are counted from 1 in here.
type cell struct{ hash, slot uint32 }

func newIndex() index { return index{cells: make([]cell, 8), seed: maphash.MakeSeed()} }

func (x *index) hash(text string) uint32        { return uint32(maphash.String(x.seed, text)) }
func (x *index) hashBytes(text []byte) uint32   { return uint32(maphash.Bytes(x.seed, text)) }
func (x *index) hashPair(text, b string) uint32 { return x.hash(text)*31 + x.hash(b) }

func (x *index) mask() uint32 { return uint32(len(x.cells) - 1) }

// find is the cell of a hash that has what is wanted, or the empty one where it would be put.
func (x *index) find(hash uint32, wanted func(slot uint32) bool) (at uint32, found bool) {
	for at = hash & x.mask(); x.cells[at].slot != 0; at = (at + 1) & x.mask() {
		if c := x.cells[at]; c.hash == hash && wanted(c.slot-1) {
			return at, true
		}
	}
	return at, false
}

// slot is what a cell that was found holds.
func (x *index) slot(at uint32) uint32 { return x.cells[at].slot - 1 }

// set has a cell that was found hold another slot of the same hash.
func (x *index) set(at, slot uint32) { x.cells[at].slot = slot + 1 }

// add puts a slot in. Its text is not there yet.
func (x *index) add(hash, slot uint32) {
	if x.used++; 4*x.used > 3*len(x.cells) {
		old := x.cells
		x.cells = make([]cell, 2*len(old))
		for _, c := range old {
			if c.slot != 0 {
				x.place(c)
			}
		}
	}
	x.place(cell{hash, slot + 1})
}

func (x *index) place(c cell) {
	at := c.hash & x.mask()
	for x.cells[at].slot != 0 {
		at = (at + 1) & x.mask()
	}
	x.cells[at] = c
}

// remove empties a cell and moves up what would not be found behind it any more.
func (x *index) remove(hole uint32) {
	x.used--
	for at := (hole + 1) & x.mask(); x.cells[at].slot != 0; at = (at + 1) & x.mask() {
		home := x.cells[at].hash & x.mask()
		if (at-home)&x.mask() >= (at-hole)&x.mask() {
			x.cells[hole], hole = x.cells[at], at
		}
	}
	x.cells[hole] = cell{}
}
