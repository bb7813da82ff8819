package stream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// Hold implements Medium. Hand-written lines know of no lock: AppendRaw, Tear and Lose go past it.
func (m *Memory) Hold(ctx context.Context) (Appender, func(), error) {
	release, err := m.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	held := &heldMemory{medium: m}
	return held, func() {
		if held.over.CompareAndSwap(false, true) {
			release()
		}
	}, nil
}

// acquire takes the append lock, for which it waits as long as the context lets it.
func (m *Memory) acquire(ctx context.Context) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, memoryStopped(ctx)
	}
	select {
	case m.lock <- struct{}{}:
		return func() { <-m.lock }, nil
	case <-ctx.Done():
		return nil, memoryStopped(ctx)
	}
}

// memoryStopped is the transport error of a call whose context is over.
func memoryStopped(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrTransport, context.Cause(ctx))
}

// heldMemory appends under a lock that somebody holds.
type heldMemory struct {
	medium *Memory
	over   atomic.Bool
}

// Append implements Appender until the lock is released.
func (h *heldMemory) Append(ctx context.Context, how How, values ...[]byte) (Appended, error) {
	if err := checkValues("memory", values...); err != nil {
		return Appended{}, err
	}
	if ctx.Err() != nil {
		return Appended{}, memoryStopped(ctx)
	}
	if h.over.Load() {
		return Appended{}, fmt.Errorf("%w: %w", ErrTransport, errors.New("an append under a lock that was released"))
	}
	done, err := h.medium.write(how, values)
	if err == nil && len(values) > 0 {
		h.medium.tell()
	}
	return done, err
}
