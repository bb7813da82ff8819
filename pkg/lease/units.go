package lease

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Limit is the most base units that a duration or reading may come to, and the highest token (SPEC 2). Sums
// of a few such numbers cannot overflow.
const Limit = 1 << 52

// Units is one composition's table of units (SPEC 2). The zero Units knows no unit.
type Units struct {
	units  []unit // by magnitude, the finest first
	byName map[string]unit
}

// unit is one row: how much it is in the table's own terms, and how many of the finest unit it is.
type unit struct {
	name      string
	magnitude int64
	base      int64
}

// NewUnits makes a table of unit names and their magnitudes in a common base. It refuses, naming the units, a
// table in which a magnitude is not positive or over Limit, two are equal, or one does not divide a larger one.
func NewUnits(magnitudes map[string]int64) (Units, error) {
	u := Units{byName: make(map[string]unit, len(magnitudes))}
	for name, m := range magnitudes {
		if name == "" || cleanText(name) != nil {
			return Units{}, fmt.Errorf("unit %q is no name", name)
		}
		if m <= 0 || m > Limit {
			return Units{}, fmt.Errorf("unit %s: magnitude %d is not between 1 and 2^52", name, m)
		}
		u.units = append(u.units, unit{name: name, magnitude: m})
	}
	if len(u.units) == 0 {
		return Units{}, errors.New("a table of units needs at least one")
	}
	slices.SortFunc(u.units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.magnitude, b.magnitude), cmp.Compare(a.name, b.name))
	})
	return u, u.chain()
}

// chain checks that each magnitude divides the next, and counts each unit in the finest. Divisibility by the
// next smaller one is enough: it carries down the whole chain.
func (u *Units) chain() error {
	for i := range u.units {
		row := &u.units[i]
		row.base = row.magnitude / u.units[0].magnitude
		u.byName[row.name] = *row
		if i == 0 {
			continue
		}
		finer := u.units[i-1]
		if finer.magnitude == row.magnitude {
			return fmt.Errorf("units %s and %s are both %d", finer.name, row.name, row.magnitude)
		}
		if row.magnitude%finer.magnitude != 0 {
			return fmt.Errorf("unit %s (%d) does not divide %s (%d)", finer.name, finer.magnitude, row.name, row.magnitude)
		}
	}
	return nil
}

// DefaultUnits is ms, s, min, h and d (SPEC 2).
func DefaultUnits() Units {
	u, err := NewUnits(map[string]int64{"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000})
	if err != nil {
		panic(err) // the table is a constant of this function
	}
	return u
}

// Base is the name of the finest unit, the one that base units are counted in.
func (u Units) Base() string {
	if len(u.units) == 0 {
		return ""
	}
	return u.units[0].name
}

// Names are the units, the finest first.
func (u Units) Names() []string {
	names := make([]string, len(u.units))
	for i, row := range u.units {
		names[i] = row.name
	}
	return names
}

// Magnitude is how many base units one of this unit is, and whether the table has it.
func (u Units) Magnitude(name string) (int64, bool) {
	row, known := u.byName[name]
	return row.base, known
}

// Count is a duration in base units, at most Limit. A foreign or missing unit, a negative number and one over
// the bound are errors; zero is not, because a tolerance may be zero.
func (u Units) Count(d Duration) (int64, error) {
	row, known := u.byName[d.Unit]
	switch {
	case !known:
		return 0, fmt.Errorf("unit %q is not in the table", d.Unit)
	case d.N < 0:
		return 0, fmt.Errorf("%s is negative", d)
	case d.N > Limit/row.magnitude:
		return 0, fmt.Errorf("%s is over the bound of 2^52", d)
	}
	return d.N * row.base, nil
}

// Of is n base units as a duration.
func (u Units) Of(n int64) Duration { return Duration{Unit: u.Base(), N: n} }
