package stream

import (
	"maps"
	"slices"
	"sync"
)

// Set is media by name, with hints about which of them may have something new. A hint is never the truth:
// it makes a reader prompt, and reading makes it correct. All methods may be called from any goroutine.
type Set struct {
	mu      sync.Mutex
	members map[string]*member
	polled  map[string]struct{} // the members that neither notify by themselves nor are told of
	fresh   map[string]struct{}
	wake    func()
	first   func() // see AskFirst
}

type member struct {
	medium   Medium
	notifies bool
}

// NewSet makes an empty set. wake, unless nil, is called (from any goroutine) when a hint arrives.
func NewSet(wake func()) *Set {
	return &Set{members: map[string]*member{}, polled: map[string]struct{}{}, fresh: map[string]struct{}{}, wake: wake}
}

// Add puts a medium into the set, or replaces the one of that name; it counts as having something new.
func (s *Set) Add(name string, m Medium) {
	n, notifies := m.(Notifier)
	s.mu.Lock()
	s.members[name] = &member{medium: m, notifies: notifies}
	if notifies {
		delete(s.polled, name)
	} else {
		s.polled[name] = struct{}{}
	}
	s.fresh[name] = struct{}{}
	s.mu.Unlock()
	if notifies {
		n.Notify(func() { s.Touch(name) })
	}
}

// Remove takes a medium out of the set.
func (s *Set) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, name)
	delete(s.polled, name)
	delete(s.fresh, name)
}

// AskFirst has fn called whenever all media are to be named, before they are: it touches those of which it knows that
// they have something new. It is called from the goroutine that calls Fresh.
func (s *Set) AskFirst(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = fn
}

// Told says whether somebody touches a medium whenever something has come. While that is so, Fresh does not name it
// without a reason. A name that is not in the set is nothing.
func (s *Set) Told(name string, told bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := s.members[name]; {
	case m == nil || m.notifies:
	case told:
		delete(s.polled, name)
	default:
		s.polled[name] = struct{}{}
	}
}

// Polled are the names, in no order, of the media that neither notify by themselves nor are told of.
func (s *Set) Polled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.polled))
}

// Touch hints that a medium may have something new. A name that is not in the set is no hint.
func (s *Set) Touch(name string) {
	s.mu.Lock()
	_, known := s.members[name]
	if known {
		s.fresh[name] = struct{}{}
	}
	wake := s.wake
	s.mu.Unlock()
	if known && wake != nil {
		wake()
	}
}

// Get is the medium of that name, or nil.
func (s *Set) Get(name string) Medium {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.members[name]; m != nil {
		return m.medium
	}
	return nil
}

// Names are the names of all media, sorted.
func (s *Set) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.members))
	for name := range s.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Fresh takes the hints: the names, sorted, of the media that may have something new since it was last
// asked. With all it names besides every medium that neither notifies by itself nor is told of.
func (s *Set) Fresh(all bool) []string {
	s.mu.Lock()
	first := s.first
	s.mu.Unlock()
	if all && first != nil {
		first()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.fresh))
	for name := range s.fresh {
		names = append(names, name)
	}
	if all {
		for name := range s.polled {
			if _, counted := s.fresh[name]; !counted {
				names = append(names, name)
			}
		}
	}
	clear(s.fresh)
	slices.Sort(names)
	return names
}

// Quiet says that a medium is known to have nothing new: it notifies by itself, and has not.
func (s *Set) Quiet(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.members[name]
	if m == nil || !m.notifies {
		return false
	}
	_, fresh := s.fresh[name]
	return !fresh
}
