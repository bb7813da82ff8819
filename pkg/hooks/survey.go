package hooks

import (
	"errors"
	"os"
	"slices"
	"time"
)

// opener is a process that has the run file open.
type opener struct {
	pid int
	// inherited tells the procedure's own processes, whose descriptor survives an exec, from a judge's, whose
	// descriptor does not. A judge is never taken for a member of the group that it started.
	inherited bool
}

// standing is who is found at a run file.
type standing struct {
	group     []int // living members of the former procedure
	leader    int   // its process group; 0 when the note does not name it
	deadline  int64 // on Identity.Now; only with a group
	claimants []int // others who have the file open to claim it or to look
	escaped   []int // processes that left the group and still hold the lock
	blind     bool  // a group that no note names cannot be told here
}

// survey looks who is at a run file. free tells that its lock could be taken, so that nobody inherited it: then
// only a group that gave the descriptor away is looked for.
//
// A note of another boot is taken for none, and the processes that have the file open for the group: after a
// reboot there are none, and in another time namespace of the same boot there may be.
func survey(f *os.File, id Identity, free bool) (standing, error) {
	n, noted := readNote(f)
	if !noted || n.Boot != id.Boot {
		n, noted = note{}, false
	}
	s := standing{leader: n.Leader, deadline: n.Deadline}
	if n.Leader != 0 {
		group, err := members(n)
		if s.group = group; err != nil || len(group) > 0 {
			return s, err
		}
	}
	if free {
		return s, nil
	}
	open, err := openers(f, 0)
	if errors.Is(err, errors.ErrUnsupported) {
		s.blind = s.leader == 0
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.sort(open)
	if !noted && len(s.group) > 0 {
		s.deadline = id.Now() + (id.timeout() - age(s.group)).Milliseconds()
	}
	return s, nil
}

// sort says of each process that has the file open what it is.
func (s *standing) sort(open []opener) {
	for _, o := range open {
		switch {
		case !o.inherited:
			s.claimants = append(s.claimants, o.pid)
		case s.leader == 0:
			s.group = append(s.group, o.pid)
		default:
			s.escaped = append(s.escaped, o.pid)
		}
	}
}

// escapees are the processes that hold the file after the group of leader is gone. Only pids given out since the
// leader's are looked at, which keeps the end of every procedure cheap.
func escapees(f *os.File, leader int) []int {
	open, err := openers(f, leader)
	if err != nil {
		return nil // only to be said
	}
	var pids []int
	for _, o := range open {
		if o.inherited {
			pids = append(pids, o.pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// awaitNone waits until look finds nobody, at most so long, and answers who is left.
func awaitNone(most time.Duration, look func() []int) []int {
	deadline := time.NewTimer(most)
	defer deadline.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		left := look()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-deadline.C:
			return left
		case <-tick.C:
		}
	}
}
