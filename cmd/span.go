package cmd

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// spanUnits are the units of spans in the configuration and on the command line, the coarsest first. They
// are the same whatever the composition's table of units (SPEC 5).
func spanUnits() []spanUnit {
	return []spanUnit{
		{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
	}
}

type spanUnit struct {
	name string
	size time.Duration
}

const spanWanted = "a span such as 500ms, 30s, 15min or 1h30min"

// parseSpan reads a span of time: whole numbers with the units ms, s, m or min, h, d, and sums of them such
// as 1h30min. A bare number is refused, because nobody can tell what it counts.
func parseSpan(text string) (time.Duration, error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return 0, fmt.Errorf("an empty span; write %s", spanWanted)
	}
	var sum time.Duration
	for rest != "" {
		term, after, err := parseTerm(text, rest)
		if err != nil {
			return 0, err
		}
		if sum > math.MaxInt64-term {
			return 0, fmt.Errorf("%q is too long", text)
		}
		sum, rest = sum+term, strings.TrimLeft(after, " ")
	}
	return sum, nil
}

// parseTerm reads one number and its unit.
func parseTerm(text, rest string) (term time.Duration, after string, err error) {
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	letters := digits
	for letters < len(rest) && rest[letters] >= 'a' && rest[letters] <= 'z' {
		letters++
	}
	number, unit := rest[:digits], rest[digits:letters]
	switch {
	case number == "" || unit == "" && letters < len(rest):
		return 0, "", fmt.Errorf("%q is no span of time; write %s", text, spanWanted)
	case unit == "":
		return 0, "", fmt.Errorf("%q has no unit; write %ss, %sms or another unit of ms, s, m or min, h, d", text, number, number)
	}
	for _, u := range spanUnits() {
		if u.name == unit {
			n, err := parseCount(number, int64(math.MaxInt64/u.size))
			if err != nil {
				return 0, "", fmt.Errorf("%q is too long", text)
			}
			return time.Duration(n) * u.size, rest[letters:], nil
		}
	}
	return 0, "", fmt.Errorf("%q has an unknown unit %q; the units are ms, s, m or min, h, d", text, unit)
}

// parseCount reads decimal digits up to a most.
func parseCount(digits string, most int64) (int64, error) {
	var n int64
	for _, d := range digits {
		v := int64(d - '0')
		if n > (most-v)/10 {
			return 0, errors.New("too great")
		}
		n = n*10 + v
	}
	return n, nil
}

// formatSpan writes a span as parseSpan reads it, in the fewest terms: 1h30min, 250ms, 2d. What is finer than
// a millisecond is left out.
func formatSpan(d time.Duration) string {
	if d < 0 {
		return "-" + formatSpan(-d)
	}
	var b strings.Builder
	for _, u := range spanUnits() {
		if n := d / u.size; n > 0 && u.name != "m" {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}

// spanFlag is a span on the command line. Given says that it was; Inf that it was given as inf.
type spanFlag struct {
	D          time.Duration
	Given, Inf bool
	allowInf   bool
}

// addSpan adds a flag that takes a span, and inf where that is allowed.
func addSpan(flags *pflag.FlagSet, s *spanFlag, name, usage string, allowInf bool) {
	s.allowInf = allowInf
	flags.Var(s, name, usage)
}

// String is the span as it can be given again; empty when there is none.
func (s *spanFlag) String() string {
	switch {
	case s.Inf:
		return "inf"
	case !s.Given:
		return ""
	}
	return formatSpan(s.D)
}

// bound is the span where one bounds a wait; empty where it is for ever.
func (s *spanFlag) bound() string {
	if s.Inf || !s.Given {
		return ""
	}
	return formatSpan(s.D)
}

// Type names the value in help texts.
func (s *spanFlag) Type() string { return "span" }

// Set reads the value, as pflag asks for.
func (s *spanFlag) Set(text string) error {
	if text == "inf" && s.allowInf {
		*s = spanFlag{Given: true, Inf: true, D: math.MaxInt64, allowInf: true}
		return nil
	}
	d, err := parseSpan(text)
	if err != nil {
		if s.allowInf {
			err = fmt.Errorf("%w, or inf", err)
		}
		return err
	}
	*s = spanFlag{Given: true, D: d, allowInf: s.allowInf}
	return nil
}
