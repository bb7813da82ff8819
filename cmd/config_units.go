package cmd

import (
	"fmt"
	"slices"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// checkUnits makes the table of units, and finds the unit by which spans are expressed in it.
func (c *Config) checkUnits() error {
	units, err := lease.NewUnits(c.table)
	if err != nil {
		return c.refuse("units", "each magnitude must divide every larger one", "%v", err)
	}
	c.Units = units
	if _, has := c.table["ms"]; !has && !c.external() {
		return c.refuse("units", "add ms, or set ticks: external", "ticks: host needs the unit ms")
	}
	for _, u := range slices.Backward(spanUnits()) {
		// m is how a minute may be written, but in a table it may as well be a meter.
		if _, has := units.Magnitude(u.name); has && u.name != "m" {
			c.anchor = u
			break
		}
	}
	if c.anchor.name == "" {
		return c.refuse("units", "add one of them", "none of ms, s, min, h, d is there, so no span can be expressed")
	}
	return c.checkRatios()
}

// checkRatios refuses a table in which a unit that everybody knows is not what everybody knows.
func (c *Config) checkRatios() error {
	one, _ := c.Units.Magnitude(c.anchor.name)
	for _, u := range spanUnits() {
		m, has := c.Units.Magnitude(u.name)
		times := int64(u.size / c.anchor.size)
		if has && u.name != "m" && (m%times != 0 || m/times != one) {
			return c.refuse("units."+u.name, fmt.Sprintf("leave it out, or make it %d times %s", times, c.anchor.name),
				"%s is not %d %s", u.name, times, c.anchor.name)
		}
	}
	return nil
}

// base is a span in base units of the table. A span that the table cannot express exactly, and one over the
// bound of 2^52, is an error.
func (c *Config) base(d time.Duration) (int64, error) {
	one, _ := c.Units.Magnitude(c.anchor.name)
	// The span is taken apart by division, so that nothing overflows: whole anchors, and a rest that may
	// still be whole base units where the table is finer than the anchor.
	whole, rest := int64(d/c.anchor.size), int64(d%c.anchor.size)
	if whole > lease.Limit/one {
		return 0, fmt.Errorf("%s is over the bound of 2^52 %s", formatSpan(d), c.Units.Base())
	}
	n := whole * one
	if rest != 0 {
		common := gcd(rest, int64(c.anchor.size))
		parts := int64(c.anchor.size) / common
		if one%parts != 0 {
			return 0, fmt.Errorf("%s is no whole number of %s, the finest unit of the table", formatSpan(d), c.Units.Base())
		}
		n += rest / common * (one / parts)
	}
	if n > lease.Limit {
		return 0, fmt.Errorf("%s is over the bound of 2^52 %s", formatSpan(d), c.Units.Base())
	}
	return n, nil
}

// baseUp is base, rounded up to what the table can express and bounded by it. It is for the defaults and for
// waiting, never for what a fact says.
func (c *Config) baseUp(d time.Duration) int64 {
	if n, err := c.base(d); err == nil {
		return n
	}
	n, err := c.base((d + c.anchor.size - 1) / c.anchor.size * c.anchor.size)
	if err != nil {
		return lease.Limit
	}
	return n
}

// duration is a span as a fact says it: in the coarsest unit of the table that divides it.
func (c *Config) duration(d time.Duration) (lease.Duration, error) {
	n, err := c.base(d)
	if err != nil {
		return lease.Duration{}, err
	}
	return c.durationOf(n), nil
}

// durationOf is a number of base units in the coarsest unit of the table that divides it.
func (c *Config) durationOf(n int64) lease.Duration {
	if n != 0 {
		for _, name := range slices.Backward(c.Units.Names()) {
			if m, _ := c.Units.Magnitude(name); n%m == 0 {
				return lease.Duration{Unit: name, N: n / m}
			}
		}
	}
	return c.Units.Of(n)
}

// span is a number of base units as a span of time, for people and for timers; the longest there is when it
// is longer.
func (c *Config) span(n int64) time.Duration {
	one, _ := c.Units.Magnitude(c.anchor.name)
	whole, rest := n/one, n%one
	if whole > int64((1<<63-1)/c.anchor.size)-1 {
		return 1<<63 - 1
	}
	return time.Duration(whole)*c.anchor.size + time.Duration(float64(c.anchor.size)*float64(rest)/float64(one))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
