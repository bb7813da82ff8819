//go:build !linux

package main

import (
	"errors"
	"time"
)

// monotonic is asked only where the hook that reads the same clock can run.
func monotonic() (time.Duration, error) { return 0, errors.ErrUnsupported }
