package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Running answers the living members of a procedure that still runs for a subject, its own judge's or a dead
// one's. It changes nothing.
func Running(dir, subject string, id Identity) ([]int, error) {
	s, err := lookAt(filepath.Join(dir, RunName(subject)), id)
	return s.group, err
}

// KillGroup ends a procedure that still runs for a subject, for a person who takes the resource back by hand
// (SPEC 9, revoke --reclaimed): TERM, DefaultGrace, KILL, and then it waits until nobody of the group is left. It
// answers whether there was one, and an error that names who would not die.
func KillGroup(dir, subject string, id Identity) (killed bool, err error) {
	path := filepath.Join(dir, RunName(subject))
	s, err := lookAt(path, id)
	if err != nil || len(s.group) == 0 {
		return false, err
	}
	s.signal(syscall.SIGTERM)
	left := awaitNone(DefaultGrace, func() []int { return s.still(path, id).group })
	if len(left) == 0 {
		return true, nil
	}
	if left = s.kill(path, id); len(left) > 0 {
		return true, fmt.Errorf("a procedure does not die: %s", pidWords(left))
	}
	return true, nil
}

// Sweep removes the run files of all subjects but those in live, as a judge does that was killed before it could
// remove them itself. A file that is claimed or whose group is alive stays.
func Sweep(dir string, live []string, id Identity) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	keep := make(map[string]bool, len(live))
	for _, subject := range live {
		keep[RunName(subject)] = true
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".run") && !keep[e.Name()] {
			err = errors.Join(err, sweepOne(filepath.Join(dir, e.Name()), id))
		}
	}
	return err
}

// sweepOne removes one run file under its lock, unless somebody is there.
func sweepOne(path string, id Identity) error {
	f, err := openRun(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	free, err := tryLock(f)
	if free {
		var s standing
		if s, err = survey(f, id, true); err == nil && len(s.group) == 0 {
			removeRun(f, path)
		}
	}
	giveBack(f, free)
	return err
}

// lookAt surveys a run file without taking its lock.
func lookAt(path string, id Identity) (standing, error) {
	if err := supported(); err != nil {
		return standing{}, err
	}
	f, err := openRun(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	s, err := survey(f, id, false)
	return s, errors.Join(err, f.Close())
}

// still answers who is left of what was found at a run file before. A note may have come since; another note is
// another procedure's.
func (s standing) still(path string, id Identity) standing {
	now, err := lookAt(path, id)
	if err != nil {
		return s
	}
	if s.leader != 0 && now.leader != s.leader {
		return standing{}
	}
	return now
}

// kill sends KILL until nobody of the group is left, and answers who would not die.
func (s standing) kill(path string, id Identity) []int {
	return awaitNone(deathBound, func() []int {
		now := s.still(path, id)
		now.signal(syscall.SIGKILL)
		return now.group
	})
}

// signal sends a signal to the whole group, or where only its members are known to each of them.
func (s standing) signal(sig syscall.Signal) {
	if s.leader != 0 && len(s.group) > 0 {
		signalGroup(s.leader, sig)
		return
	}
	for _, pid := range s.group {
		signalProcess(pid, sig)
	}
}
