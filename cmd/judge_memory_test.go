package cmd

import (
	"runtime/debug"
	"testing"
)

// The collector is set for many leases once, and set back when they are few again or the judge ends.
func TestHeapSuits(t *testing.T) {
	usual := debug.SetGCPercent(70)
	defer debug.SetGCPercent(usual)
	percent := func() int {
		now := debug.SetGCPercent(70)
		debug.SetGCPercent(now)
		return now
	}
	var h heap
	for _, step := range []struct{ leases, want int }{
		{1, 70}, {manyLeases - 1, 70}, {manyLeases, leanGrowth}, {manyLeases, leanGrowth}, {manyLeases / 2, leanGrowth}, {10, 70}, {1 << 20, leanGrowth},
	} {
		if h.suit(step.leases); percent() != step.want {
			t.Errorf("with %d leases it is %d, want %d", step.leases, percent(), step.want)
		}
	}
	if h.restore(); percent() != 70 {
		t.Errorf("afterwards it is %d", percent())
	}
	if h.restore(); percent() != 70 {
		t.Errorf("after a second time it is %d", percent())
	}
}
