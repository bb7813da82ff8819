package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// notes is what a holder keeps between commands (SPEC 7): its state, and the boot, clock and table of units that
// the readings in it belong to. The file is replaced by rename, so that a crash leaves the old or the new.
type notes struct {
	Host  string      `json:"host"`            // the machine that wrote them
	Boot  string      `json:"boot"`            // boot id and time namespace
	Unit  string      `json:"unit"`            // in which readings are counted
	Tick  int64       `json:"tick,omitempty"`  // the newest reading that the adapter took
	Clock int64       `json:"clock,omitempty"` // where the raw clock stood at it, ms
	State lease.State `json:"state"`
	// Config is what the holder needs of the configuration, as it was read last.
	Config *heldConfig `json:"config,omitempty"`
	// Ticks is how far the tick stream was read: what stands before it is in Tick.
	Ticks stream.Cursor `json:"ticks,omitempty"`
}

// maxNotes is the most bytes that notes may have. What they keep is bounded well below.
const maxNotes = 64 << 20

// errNoNotes means that there are none, or none that can be read as notes.
var errNoNotes = errors.New("no notes")

// readNotes reads a holder's notes. Missing ones and damaged ones are errNoNotes, the latter with a reason.
func readNotes(path string) (notes, error) {
	text, err := readAtMost(path, maxNotes)
	if errors.Is(err, fs.ErrNotExist) {
		return notes{}, errNoNotes
	}
	if err != nil {
		return notes{}, fail(exitFailure, "", "%w", err)
	}
	var n notes
	if err := json.Unmarshal(text, &n); err != nil {
		return notes{}, fmt.Errorf("%w: %s is damaged: %w", errNoNotes, path, err)
	}
	return n, nil
}

// voidIn says that readings noted then cannot be compared with those of now: another boot, one that cannot be
// told, or another unit.
func (n *notes) voidIn(boot, unit string) bool { return boot == "" || n.Boot != boot || n.Unit != unit }

// live are the leases that notes name and that, as far as they tell, have not ended.
func (n *notes) live() []string {
	var ids []string
	for id, held := range n.State.Leases {
		if held != nil && held.Lapsed == "" && held.Release != lease.Done {
			ids = append(ids, id)
		}
	}
	return ids
}

// writeNotes replaces a holder's notes. The folder is not synced: after a power loss, which is another boot, they
// are void whichever they are, and of those before them the older name no lease that was never held.
func (c *Composition) writeNotes(name string, n *notes) error {
	text, err := json.Marshal(n)
	if err == nil {
		err = c.app.exchangeFile(c.notes(name), append(text, '\n'), 0o600)
	}
	switch lost := (&unkept{name, err}); {
	case unwritable(err):
		return fail(exitNotAppended, "", "%w", lost)
	case err != nil:
		return fail(exitFailure, "", "%w", lost)
	}
	return nil
}

// unkept is notes that could not be written: those of before stand.
type unkept struct {
	name string
	err  error
}

// Error says whose notes, and why.
func (u *unkept) Error() string {
	return fmt.Sprintf("the notes of %q cannot be kept: %v", u.name, u.err)
}

// Unwrap is why.
func (u *unkept) Unwrap() error { return u.err }
