//go:build !linux

package stream

import (
	"errors"
	"fmt"
)

// Gatherer is what gathers in which folders something has happened, which no system but Linux does without waking
// whoever wants to know. Nobody has one here.
type Gatherer struct{}

// NewGatherer makes none.
func NewGatherer() (*Gatherer, error) {
	return nil, fmt.Errorf("the system gathers no events: %w", errors.ErrUnsupported)
}

// Add gathers nothing.
func (*Gatherer) Add(string) error { return errors.ErrUnsupported }

// Remove has nothing to remove.
func (*Gatherer) Remove(string) {}

// Gather has nothing to hand out.
func (*Gatherer) Gather(func(dir, name string), func(dir string)) error { return errors.ErrUnsupported }

// Close closes nothing.
func (*Gatherer) Close() error { return nil }
