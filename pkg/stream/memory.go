package stream

import (
	"bytes"
	"context"
	"fmt"
	"sync"
)

// Memory is a medium in this process's memory. It keeps the contract of the file medium (SPEC 3), hand-written
// lines, damage and loss included, and says by itself when it has something new. It ends with its process:
// a cursor that outlived it meets another identity, which is a gap.
type Memory struct {
	label    string
	capacity int64
	lock     chan struct{} // full while somebody holds the append lock

	mu       sync.Mutex // guards what follows; held for moments only
	identity string
	lines    []memoryLine // oldest first; never changed in place, so that readers may keep a part of it
	base     Position     // where the oldest line retained begins
	end      Position     // where the next line will begin
	tail     []byte       // what a writer left unfinished after end
	closed   bool         // the last line is then the closing mark
	told     []func()
}

// memoryLine is one line from its position to that of the next.
type memoryLine struct {
	at, next Position
	text     []byte
	damage   string
}

var (
	_ Rewriter = (*Memory)(nil)
	_ Notifier = (*Memory)(nil)
	_ Tearer   = (*Memory)(nil)
)

// MemoryOption is how a Memory differs from an empty one that retains everything.
type MemoryOption func(*Memory)

// MemoryCapacity makes a memory evict its oldest lines once it holds more than this many bytes, newlines
// counted. What one append wrote is never evicted by that same append. Zero retains everything.
func MemoryCapacity(bytes int64) MemoryOption {
	return func(m *Memory) { m.capacity = bytes }
}

// NewMemory makes an empty memory medium. Its cursors are of use to media of the same name alone.
func NewMemory(name string, opts ...MemoryOption) *Memory {
	m := &Memory{label: memoryLabel(name), identity: newMemoryIdentity(), lock: make(chan struct{}, 1)}
	for _, opt := range opts {
		opt(m)
	}
	return m
}

// Append implements Appender. Nothing here is ever on disk, so How.Sync asks for nothing.
func (m *Memory) Append(ctx context.Context, how How, values ...[]byte) (Appended, error) {
	if err := checkValues("memory", values...); err != nil {
		return Appended{}, err
	}
	release, err := m.acquire(ctx)
	if err != nil {
		return Appended{}, err
	}
	done, err := m.write(how, values)
	release()
	if err == nil && len(values) > 0 {
		m.tell()
	}
	return done, err
}

// Close implements Medium.
func (m *Memory) Close(ctx context.Context) error {
	release, err := m.acquire(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if !m.closed {
		m.finishTail()
		m.push([]byte(closingMark), "")
		m.closed = true
	}
	m.mu.Unlock()
	release()
	m.tell()
	return nil
}

// Rewrite implements Rewriter. An empty expect expects nothing.
func (m *Memory) Rewrite(ctx context.Context, expect Cursor, values Values) (Cursor, error) {
	release, err := m.acquire(ctx)
	if err != nil {
		return "", err
	}
	cursor, err := m.replace(expect, values)
	release()
	if err == nil {
		m.tell()
	}
	return cursor, err
}

// Size implements Rewriter.
func (m *Memory) Size(context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(m.end-m.base) + int64(len(m.tail)), nil
}

// Notify implements Notifier. A function stays for as long as the medium does.
func (m *Memory) Notify(fn func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, fn)
}

// AppendRaw appends a text as somebody would by hand: past the append lock, unchecked, a newline after it.
// It may be blank, junk, damaged or the closing mark, and follows an unfinished tail on the same line.
func (m *Memory) AppendRaw(text []byte) {
	m.mu.Lock()
	if !m.closed {
		text = append(m.tail, text...)
		m.tail = nil
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			m.pushRaw(line)
		}
		m.evict(len(m.lines) - 1)
	}
	m.mu.Unlock()
	m.tell()
}

// Tear leaves a beginning without its newline after the last line, as a writer that was killed does. It
// never becomes a value: the next append ends it as a damaged line.
func (m *Memory) Tear(beginning []byte) {
	m.mu.Lock()
	if !m.closed {
		m.tail = append(m.tail, beginning...)
	}
	m.mu.Unlock()
	m.tell()
}

// Lose loses everything, as if a file were replaced by an empty one: whoever had a cursor here reads one gap.
// A medium that never held anything has nothing to lose.
func (m *Memory) Lose() {
	m.mu.Lock()
	if m.end > 0 || len(m.tail) > 0 {
		m.begin()
	}
	m.mu.Unlock()
	m.tell()
}

// write appends values; the append lock is held.
func (m *Memory) write(how How, values [][]byte) (Appended, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return Appended{}, ErrClosed
	}
	if err := m.expects(how.Expect); err != nil {
		return Appended{}, err
	}
	if len(values) > 0 {
		m.finishTail()
	}
	done := Appended{Position: m.end}
	for _, v := range values {
		m.push(bytes.Clone(v), "")
	}
	m.evict(len(m.lines) - len(values))
	if how.Cursor {
		done.Cursor = m.cursorAt(m.end)
	}
	return done, nil
}

// replace exchanges the content; the append lock is held.
func (m *Memory) replace(expect Cursor, values Values) (Cursor, error) {
	var lines [][]byte
	for v, err := range values {
		if err == nil {
			err = checkValues("memory", v)
		}
		if err != nil {
			return "", err
		}
		lines = append(lines, bytes.Clone(v))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return "", ErrClosed
	}
	if err := m.expects(expect); err != nil {
		return "", err
	}
	m.begin()
	for _, v := range lines {
		m.push(v, "")
	}
	return m.cursorAt(m.end), nil
}

// expects says that nothing follows a cursor here, or ErrMoved.
func (m *Memory) expects(expect Cursor) error {
	if expect == "" || expect == m.cursorAt(m.end) {
		return nil
	}
	return fmt.Errorf("%w: its end is at %s, not where %q is", ErrMoved, m.end, expect)
}

// begin empties the medium under a new identity.
func (m *Memory) begin() {
	m.identity = newMemoryIdentity()
	m.lines, m.tail = nil, nil
	m.base, m.end = 0, 0
	m.closed = false
}

// finishTail ends what a writer left unfinished with a NUL, so that it spoils only itself.
func (m *Memory) finishTail() {
	if len(m.tail) == 0 {
		return
	}
	m.pushRaw(append(m.tail, 0))
	m.tail = nil
}

// pushRaw adds a line of which nothing is known.
func (m *Memory) pushRaw(line []byte) {
	switch {
	case m.closed: // nobody reads past the closing mark
	case len(line) > MaxValue:
		m.pushDamaged(len(line), "longer than 1 MiB")
	case bytes.IndexByte(line, 0) >= 0:
		m.pushDamaged(len(line), "unfinished or with a NUL")
	default:
		m.push(bytes.Clone(line), "")
		m.closed = isClosing(line)
	}
}

// pushDamaged adds a line of a length that is no value.
func (m *Memory) pushDamaged(length int, why string) {
	next := m.end + Position(length) + 1
	m.lines = append(m.lines, memoryLine{at: m.end, next: next, damage: why})
	m.end = next
}

// push adds a line; the text is the medium's from here on.
func (m *Memory) push(text []byte, damage string) {
	next := m.end + Position(len(text)) + 1
	m.lines = append(m.lines, memoryLine{at: m.end, next: next, text: text, damage: damage})
	m.end = next
}

// evict drops the oldest lines while the medium is over its capacity, and at most that many.
func (m *Memory) evict(most int) {
	if m.capacity <= 0 {
		return
	}
	n := 0
	for n < most && int64(m.end-m.base) > m.capacity {
		m.base = m.lines[n].next
		n++
	}
	m.lines = m.lines[n:]
}

// tell hints to everybody who asked that there is something new. No lock of the medium is held, but under
// Hold the append lock is its holder's: who is told may read and must not append.
func (m *Memory) tell() {
	m.mu.Lock()
	told := m.told
	m.mu.Unlock()
	for _, fn := range told {
		fn()
	}
}
