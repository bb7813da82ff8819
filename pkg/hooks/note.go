package hooks

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
)

// maxNote is more than a note can have.
const maxNote = 4096

// note is what a run file says about the procedure that holds it: one line of JSON at its beginning. It is written
// before the start without a leader, so that a deadline is known even if the judge dies at the worst moment, and
// once more right after the start. It is not synced: what loses it, a power loss, ends the procedure too.
type note struct {
	Boot     string `json:"boot"`
	Leader   int    `json:"leader,omitempty"`  // pid, which is the process group as well
	Start    uint64 `json:"start,omitempty"`   // of the leader, as the system counts; 0 when it cannot be told
	Session  int    `json:"session,omitempty"` // of the leader
	Deadline int64  `json:"deadline"`          // on Identity.Now: when whichever judge runs kills the group
}

// writeNote overwrites the note in one write.
func writeNote(f *os.File, n note) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(line, '\n'), 0)
	return err
}

// readNote reads the note. It answers false for one that is missing or torn.
func readNote(f *os.File) (note, bool) {
	buf := make([]byte, maxNote)
	size, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return note{}, false
	}
	line, _, _ := bytes.Cut(buf[:size], []byte("\n"))
	var n note
	if json.Unmarshal(line, &n) != nil || n.Boot == "" || n.Leader < 0 || n.Leader == 1 {
		return note{}, false
	}
	return n, true
}
