//go:build unix

package cmd

import "testing"

// What -E says is for a lease that another was first to get, or that did not come in time. One that was granted and is
// gone before CMD could start was lost: with -E 0 the only holder would skip its work and report success.
func TestHoldExitsOfWhatWasNotObtained(t *testing.T) {
	other := &holdOptions{hasOther: true, otherCode: 0}
	for got, want := range map[int][2]int{
		exitRefused: {exitHeldByElse, 0}, exitTimeout: {exitWaitedOut, 0}, exitNothingHeld: {exitLeaseLost, exitLeaseLost},
		exitFailure: {exitHoldFailed, exitHoldFailed}, exitUsage: {exitUsage, exitUsage}, 143: {143, 143},
	} {
		err := fail(got, "", "as it came")
		if plain, with := codeOf((&holdOptions{}).notObtained(err)), codeOf(other.notObtained(err)); plain != want[0] || with != want[1] {
			t.Errorf("%d became %d, and %d with -E 0; want %v", got, plain, with, want)
		}
	}
}
