package hooks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// settleBound is how long a lock that nobody seems to hold is tried again. A process that is about to exec holds
// every descriptor of its parent for a moment, and so does one that only looks.
const (
	settleBound = 200 * time.Millisecond
	settleEvery = 25 * time.Millisecond
)

// Identity is the boot and the clock within which notes can be compared. A note of another boot is void.
type Identity struct {
	// Boot names the boot and the time namespace; not empty.
	Boot string
	// Now reads the running clock in milliseconds.
	Now func() int64
	// Timeout is how long a procedure whose note is missing may run: that of the subject. 0 is DefaultTimeout.
	Timeout time.Duration
}

func (id Identity) timeout() time.Duration {
	if id.Timeout <= 0 {
		return DefaultTimeout
	}
	return id.Timeout
}

// BusyError means that a subject cannot be claimed now: a former procedure's group is still alive.
type BusyError struct {
	PIDs []int // who is in the way
	// Deadline is when the group is killed, in ms on Identity.Now; 0 when there is no group.
	Deadline int64
	// Left is the time until then. Not positive: the group was killed and has not died.
	Left time.Duration
	// Claimed means that it is no procedure: others have the subject claimed, or look at it.
	Claimed bool
}

// Error says who is in the way and for how long.
func (e *BusyError) Error() string {
	switch {
	case e.Claimed:
		return "the subject is claimed by " + pidWords(e.PIDs)
	case e.Left <= 0:
		return "a former procedure was killed at its deadline and has not died: " + pidWords(e.PIDs)
	default:
		return fmt.Sprintf("a former procedure is still running, to be killed in %v: %s", e.Left.Round(time.Millisecond), pidWords(e.PIDs))
	}
}

// Claim is the exclusive right to run procedures on one subject, held until Release (SPEC 6).
type Claim struct {
	// Escaped are processes that left the group of a former procedure and held the former run file: to be said.
	Escaped []int

	path  string
	id    Identity
	file  *os.File
	alive bool // members of the group would not die: the lock stays theirs
}

// Take claims a subject, given as its text, by the lock of its run file in dir. It answers a *BusyError while the
// group of a former procedure is alive; once the deadline of that group has passed, it kills it and goes on. A
// process that left the group and still holds the lock bars nothing: the file is replaced (SPEC 6). With a group
// that would not die it takes some seconds.
func Take(dir, subject string, id Identity) (*Claim, error) {
	path := filepath.Join(dir, RunName(subject))
	settled := time.Now().Add(settleBound)
	for killed := false; ; {
		last := time.Now().After(settled)
		c, s, err := attempt(path, id, last)
		switch {
		case c != nil || err != nil:
			return c, err
		case len(s.group) > 0:
			if s.deadline > id.Now() || killed {
				return nil, busy(s, id)
			}
			killed = true
			if left := s.kill(path, id); len(left) > 0 {
				s.group = left
				return nil, busy(s, id)
			}
			settled = time.Now().Add(settleBound)
		case last:
			return nil, &BusyError{PIDs: s.claimants, Claimed: true}
		default:
			<-time.After(settleEvery)
		}
	}
}

// attempt tries once, under the folder's lock: no other claimer can lock, replace or remove a run file meanwhile.
// Without a claim it answers who is in the way. Only the last attempt replaces a file that nobody seems to need.
func attempt(path string, id Identity, last bool) (*Claim, standing, error) {
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return nil, standing{}, err
	}
	defer unlock()
	f, err := openRun(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, standing{}, err
	}
	free, err := tryLock(f)
	if err != nil {
		return nil, standing{}, errors.Join(err, f.Close())
	}
	s, err := survey(f, id, free)
	if err == nil && len(s.group) == 0 {
		if free {
			c, err := claimed(f, path, id)
			return c, s, err
		}
		if !free && last && !s.blind && len(s.claimants) == 0 {
			c, err := replace(path, id, s.escaped)
			return c, s, errors.Join(err, f.Close())
		}
	}
	giveBack(f, free)
	return nil, s, err
}

// claimed makes a claim of a locked run file, and voids the note of what ran before.
func claimed(f *os.File, path string, id Identity) (*Claim, error) {
	err := errors.Join(private(f, filepath.Dir(path)), f.Truncate(0))
	if err != nil {
		giveBack(f, true)
		return nil, err
	}
	return &Claim{path: path, id: id, file: f}, nil
}

// replace puts a new run file, locked already, in the place of one whose lock a process outside the group keeps.
func replace(path string, id Identity, escaped []int) (*Claim, error) {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	f, err := openRun(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	free, err := tryLock(f)
	if err == nil && !free {
		err = &os.PathError{Op: "lock", Path: fresh, Err: syscall.EAGAIN}
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		giveBack(f, free)
		return nil, err
	}
	c, err := claimed(f, path, id)
	if c != nil {
		c.Escaped = escaped
	}
	return c, err
}

// Release gives the subject back. remove tells that it has no lease any more: its run file is removed. While
// members of the group would not die, the lock stays theirs and the file where it is.
func (c *Claim) Release(remove bool) {
	if c.file == nil {
		return
	}
	if remove && !c.alive {
		removeRun(c.file, c.path)
	}
	giveBack(c.file, !c.alive)
	c.file = nil
}

// busy says that a group is in the way.
func busy(s standing, id Identity) *BusyError {
	left := time.Duration(s.deadline-id.Now()) * time.Millisecond
	return &BusyError{PIDs: s.group, Deadline: s.deadline, Left: left}
}

// pidWords lists pids for a message.
func pidWords(pids []int) string {
	if len(pids) == 0 {
		return "another process"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint("pid ", pids), "[", ""), "]")
}
