package stream

import "sync"

// AppendFault is what becomes of one append.
type AppendFault int

// What an append can be ordered to do.
const (
	// Intact leaves the append alone.
	Intact AppendFault = iota
	// Full answers ErrFull; nothing is appended.
	Full
	// Lost answers ErrTransport; nothing is appended.
	Lost
	// Unanswered answers ErrTransport, and yet the values are appended.
	Unanswered
	// Torn answers ErrTransport; the last value is left unfinished, those before it are appended. On a
	// medium that is no Tearer nothing of the last value is left.
	Torn
)

// ReadFault is what becomes of one read: after that many values it answers State. A read that has fewer to
// hand out, or does not come to read at all, is left alone; an After below zero never comes.
type ReadFault struct {
	After int
	// State is OK for a read that is cut short, Transport, or Gap.
	State State
	// Recover is where the recovery cursor of a gap stands: at Oldest what was read comes again, as after a
	// replacement; at Newest what was not read is lost.
	Recover Edge
}

// Script is the faults ordered of a medium, used up one an append and one a read. The zero Script orders none.
// All methods may be called from any goroutine.
type Script struct {
	mu      sync.Mutex
	appends []AppendFault
	reads   []ReadFault
	told    []func()
}

// Append orders faults for the next appends, one each.
func (s *Script) Append(faults ...AppendFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appends = append(s.appends, faults...)
}

// Read orders faults for the next reads, one each.
func (s *Script) Read(faults ...ReadFault) {
	s.mu.Lock()
	s.reads = append(s.reads, faults...)
	told := s.told
	s.mu.Unlock()
	for _, fn := range told {
		fn()
	}
}

// Clear takes back what was ordered and has not come about.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appends, s.reads = nil, nil
}

// notify has fn called when a read fault is ordered, since it is something new to read.
func (s *Script) notify(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fn)
}

// nextAppend uses up one append fault.
func (s *Script) nextAppend() AppendFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.appends) == 0 {
		return Intact
	}
	fault := s.appends[0]
	s.appends = s.appends[1:]
	return fault
}

// nextRead uses up one read fault.
func (s *Script) nextRead() (ReadFault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reads) == 0 {
		return ReadFault{}, false
	}
	fault := s.reads[0]
	s.reads = s.reads[1:]
	return fault, fault.After >= 0
}
