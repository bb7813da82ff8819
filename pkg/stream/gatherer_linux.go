package stream

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Gatherer has the system gather in which folders something has happened, until it is asked: nothing is woken by it,
// however often that is. Of changes made on another machine, through another name of a file or through mapped memory
// the system does not tell. A Gatherer is for one goroutine.
type Gatherer struct {
	fd     int // not known to Go's poller, which would be woken by every event
	byDir  map[string]int
	byWd   map[int]string
	buffer []byte
}

// gathered are the events asked for. Of a file that is opened, read or closed nothing is told.
const gathered = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// gatherBuffer is how many bytes of events are taken at once: some 1,500.
const gatherBuffer = 64 << 10

// NewGatherer makes a gatherer of no folder yet. The error is the system's, which has a limit.
func NewGatherer() (*Gatherer, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("the system gathers no events: %w", err)
	}
	return &Gatherer{fd: fd, byDir: map[string]int{}, byWd: map[int]string{}, buffer: make([]byte, gatherBuffer)}, nil
}

// Add gathers what happens in a folder from now on. It is an error that the folder is no folder, is gathered already
// under another name, or lies on a file system that does not tell of every change.
func (g *Gatherer) Add(dir string) error {
	if _, known := g.byDir[dir]; known {
		return nil
	}
	if onNetwork(dir) {
		return fmt.Errorf("%s is on a network file system, which does not tell of changes made elsewhere", dir)
	}
	wd, err := unix.InotifyAddWatch(g.fd, dir, gathered)
	if err != nil {
		return fmt.Errorf("%s: nothing is gathered: %w", dir, err)
	}
	if other, known := g.byWd[wd]; known {
		return fmt.Errorf("%s is the same folder as %s", dir, other)
	}
	g.byDir[dir], g.byWd[wd] = wd, dir
	return nil
}

// Remove gathers no more what happens in a folder.
func (g *Gatherer) Remove(dir string) {
	if wd, known := g.byDir[dir]; known {
		g.forget(wd)
		_, _ = unix.InotifyRmWatch(g.fd, uint32(wd)) // what is gone already is gone
	}
}

func (g *Gatherer) forget(wd int) {
	delete(g.byDir, g.byWd[wd])
	delete(g.byWd, wd)
}

// Gather hands out what has happened since it was asked last. changed is called with a folder and the name in it of
// what changed: an empty name stands for the folder itself, and for whatever may be in it where the system could not
// keep up. lost is called with a folder of which nothing more is told: it was moved, removed or unmounted.
func (g *Gatherer) Gather(changed func(dir, name string), lost func(dir string)) error {
	for {
		n, err := unix.Read(g.fd, g.buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return nil
		case err != nil:
			return fmt.Errorf("events that were gathered: %w", err)
		}
		g.hand(g.buffer[:n], changed, lost)
	}
}

// hand hands out the events of one read. The system writes whole ones.
func (g *Gatherer) hand(events []byte, changed func(dir, name string), lost func(dir string)) {
	for len(events) >= unix.SizeofInotifyEvent {
		event := (*unix.InotifyEvent)(unsafe.Pointer(&events[0]))
		name := events[unix.SizeofInotifyEvent:][:event.Len]
		events = events[unix.SizeofInotifyEvent+len(name):]
		wd := int(event.Wd)
		dir, known := g.byWd[wd]
		switch {
		case event.Mask&unix.IN_Q_OVERFLOW != 0:
			for dir := range g.byDir {
				changed(dir, "")
			}
		case !known: // it was removed meanwhile
		case event.Mask&(unix.IN_IGNORED|unix.IN_UNMOUNT|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF) != 0:
			g.Remove(dir)
			lost(dir)
		default:
			changed(dir, unix.ByteSliceToString(name))
		}
	}
}

// Close gathers nothing more.
func (g *Gatherer) Close() error { return unix.Close(g.fd) }
