package hooks

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// output keeps the head and the tail of what is written to it and counts the rest. It never blocks and never
// fails, so that a procedure that prints without end is stopped by its timeout and by nothing else.
type output struct {
	mu    sync.Mutex // a procedure that would not die may still write while the result is made
	head  []byte     // at most half, rounded up
	tail  []byte     // a ring once it is full
	next  int        // where the ring goes on
	most  [2]int     // room of head and tail
	total int64
}

// newOutput makes an output that keeps at most so many bytes.
func newOutput(most int) *output {
	return &output{most: [2]int{most - most/2, most / 2}}
}

// Write takes everything.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(p))
	n := min(len(p), o.most[0]-len(o.head))
	o.head = append(o.head, p[:n]...)
	o.keepTail(p[n:])
	return len(p), nil
}

// keepTail writes to the ring, of which the newest bytes remain.
func (o *output) keepTail(p []byte) {
	room := o.most[1]
	if over := len(p) - room; over > 0 {
		p = p[over:]
	}
	n := min(len(p), room-len(o.tail))
	o.tail = append(o.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; {
		k := copy(o.tail[o.next:], p)
		o.next, p = (o.next+k)%room, p[k:]
	}
}

// String is what was kept, as valid UTF-8, with a line in place of what was cut.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	head := string(o.head)
	tail := string(o.tail[o.next:]) + string(o.tail[:o.next])
	cut := o.total - int64(len(head)+len(tail))
	if cut == 0 {
		return valid(head + tail)
	}
	head, tail = wholeRunes(head, tail)
	cut = o.total - int64(len(head)+len(tail))
	return valid(head) + fmt.Sprintf("\n[%d bytes cut]\n", cut) + valid(tail)
}

// wholeRunes takes off the rune that the cut split at the end of head and at the beginning of tail.
func wholeRunes(head, tail string) (string, string) {
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if start := len(head) - i; utf8.RuneStart(head[start]) {
			if !utf8.FullRuneInString(head[start:]) {
				head = head[:start]
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax-1 && tail != "" && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	return head, tail
}

// valid replaces what is no UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }
