package cmd

import "runtime/debug"

// Reading a ledger back, or seeding from the grantor's stream, leaves as much behind as the leases take, and by its
// usual rule the collector lets what is live double before it collects. Leases have no pointers for it to follow, so
// a judge of many can afford to be collected sooner: it stays within a quarter of what they take.
const (
	manyLeases = 65536
	leanGrowth = 25 // percent, where the usual is 100
)

// heap is how a judge has set the collector, to be set back when it ends.
type heap struct {
	lean  bool
	usual int
}

// suit sets the collector to so many leases. What reading them has left is given back to the system once.
func (h *heap) suit(leases int) {
	if many := leases >= manyLeases; many && !h.lean {
		h.lean, h.usual = true, debug.SetGCPercent(leanGrowth)
		debug.FreeOSMemory()
	} else if leases < manyLeases/2 {
		h.restore()
	}
}

func (h *heap) restore() {
	if h.lean {
		h.lean = false
		debug.SetGCPercent(h.usual)
	}
}
