package lease

import (
	"strings"
	"testing"
)

func TestUnitsRefusesBrokenTables(t *testing.T) {
	for name, c := range map[string]struct {
		table map[string]int64
		says  []string
	}{
		"empty":          {nil, []string{"at least one"}},
		"zero":           {map[string]int64{"ms": 0}, []string{"ms", "0"}},
		"negative":       {map[string]int64{"ms": 1, "s": -5}, []string{"unit s", "-5"}},
		"over the limit": {map[string]int64{"ms": 1, "eon": Limit + 1}, []string{"eon"}},
		"equal":          {map[string]int64{"ms": 1, "m": 60, "min": 60}, []string{"m and min", "60"}},
		"no divisor":     {map[string]int64{"ms": 1, "s": 1000, "beat": 1500}, []string{"unit s", "beat"}},
		"none is one":    {map[string]int64{"five": 5, "seven": 7}, []string{"five", "seven"}},
		"no name":        {map[string]int64{"": 1}, []string{"no name"}},
		"no UTF-8":       {map[string]int64{"\xff": 1}, []string{"no name"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewUnits(c.table)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}
}

func TestUnitsAcceptsTheLargestMagnitude(t *testing.T) {
	u, err := NewUnits(map[string]int64{"ms": 1, "eon": Limit})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := u.Count(Duration{"eon", 1}); err != nil || n != Limit {
		t.Errorf("one eon: %d, %v", n, err)
	}
	if _, err := u.Count(Duration{"eon", 2}); err == nil {
		t.Error("two eons are not over the bound")
	}
}

func TestDefaultUnits(t *testing.T) {
	u := DefaultUnits()
	if got := strings.Join(u.Names(), " "); got != "ms s min h d" {
		t.Errorf("names %q", got)
	}
	for name, want := range map[string]int64{"ms": 1, "s": 1000, "min": 60000, "h": 3600000, "d": 86400000} {
		if got, known := u.Magnitude(name); !known || got != want {
			t.Errorf("%s is %d (%v)", name, got, known)
		}
	}
	if _, known := u.Magnitude("m"); known {
		t.Error("m is known")
	}
	if u.Base() != "ms" || u.Of(5) != (Duration{"ms", 5}) {
		t.Errorf("base %q, %v", u.Base(), u.Of(5))
	}
}

// A table in which no unit is 1 counts in its finest unit, while the bound stays one of magnitudes.
func TestUnitsCountsInTheFinestUnit(t *testing.T) {
	u, err := NewUnits(map[string]int64{"tick": 4, "beat": 12})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := u.Count(Duration{"beat", 2}); err != nil || n != 6 {
		t.Errorf("two beats are %d ticks, %v", n, err)
	}
	if n, err := u.Count(Duration{"tick", Limit / 4}); err != nil || n != Limit/4 {
		t.Errorf("at the bound: %d, %v", n, err)
	}
	if _, err := u.Count(Duration{"tick", Limit/4 + 1}); err == nil {
		t.Error("over the bound and counted")
	}
}

func TestCount(t *testing.T) {
	u := DefaultUnits()
	for _, c := range []struct {
		d    Duration
		want int64 // -1: refused
	}{
		{Duration{"ms", 0}, 0}, // a tolerance
		{Duration{"s", 30}, 30000},
		{Duration{"ms", Limit}, Limit},
		{Duration{"ms", Limit + 1}, -1},
		{Duration{"s", 4503599627370}, 4503599627370000},
		{Duration{"s", 4503599627371}, -1},
		{Duration{"d", 1<<63 - 1}, -1}, // would overflow if multiplied
		{Duration{"s", -1}, -1},
		{Duration{"hr", 1}, -1},
		{Duration{}, -1},
	} {
		n, err := u.Count(c.d)
		if c.want < 0 && err == nil || c.want >= 0 && (err != nil || n != c.want) {
			t.Errorf("%q: %d, %v", c.d, n, err)
		}
	}
	if _, err := (Units{}).Count(Duration{"ms", 1}); err == nil {
		t.Error("an empty table counts")
	}
}
