package lease

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Duration is a unit and how many of it (SPEC 2). The zero Duration is an absent one.
type Duration struct {
	Unit string
	N    int64
}

// IsZero says that there is no duration. Zero of some unit is one.
func (d Duration) IsZero() bool { return d == Duration{} }

// String is the duration as people write it, 30s; an absent one is empty.
func (d Duration) String() string {
	if d.IsZero() {
		return ""
	}
	return strconv.FormatInt(d.N, 10) + d.Unit
}

// MarshalJSON writes {"s":30}, and null for an absent duration.
func (d Duration) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return d.append(nil), nil
}

func (d Duration) append(to []byte) []byte {
	to = append(to, '{')
	to = appendText(to, d.Unit)
	to = append(to, ':')
	to = strconv.AppendInt(to, d.N, 10)
	return append(to, '}')
}

// UnmarshalJSON reads an object with exactly one entry, a unit name to an integer literal of at most Limit
// without sign, fraction or exponent. It takes zero, because a tolerance may be zero, and null as absent. No
// table is asked: whether the unit is known is for Count to say.
func (d *Duration) UnmarshalJSON(value []byte) error {
	if err := decodable(value, maxDepth); err != nil {
		return err
	}
	value = trim(value)
	if string(value) == "null" {
		*d = Duration{}
		return nil
	}
	unit, n, err := parseDuration(value)
	if err != nil {
		return err
	}
	*d = Duration{Unit: string(unit), N: n}
	return nil
}

var (
	errShape = errors.New(`not an object with one unit, as in {"s":30}`)
	errWhole = errors.New("not an integer literal without sign, fraction and exponent")
	errOver  = errors.New("over the bound of 2^52")
)

// parseDuration reads the shape of a duration from valid JSON; the unit is unquoted.
func parseDuration(value []byte) (unit []byte, n int64, err error) {
	if value[0] != '{' {
		return nil, 0, errShape
	}
	entries := 0
	for name, v := range members(value) {
		if entries++; entries > 1 {
			return nil, 0, errShape
		}
		unit = unquote(name)
		n, err = literal(v)
	}
	if entries == 0 {
		return nil, 0, errShape
	}
	return unit, n, err
}

// literal reads an integer literal of 0 to Limit from valid JSON.
func literal(value []byte) (int64, error) {
	var n int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, errWhole
		}
		// Past the limit only what the rest is made of still matters.
		if n <= Limit {
			n = n*10 + int64(c-'0')
		}
	}
	if n > Limit {
		return 0, errOver
	}
	return n, nil
}

// read is a duration as a fact may carry it: positive, of a unit of the table, and within the bound.
func (u Units) read(value []byte) (Duration, error) {
	name, n, err := parseDuration(value)
	if err != nil {
		return Duration{}, err
	}
	row, known := u.byName[string(name)]
	switch {
	case !known:
		return Duration{}, fmt.Errorf("unit %s is not in the table", clip(name))
	case n == 0:
		return Duration{}, errors.New("not positive")
	case n > Limit/row.magnitude:
		return Duration{}, errOver
	}
	return Duration{Unit: row.name, N: n}, nil
}

// appendText appends a JSON string. What is no UTF-8 is replaced, so that the result is always JSON.
func appendText(to []byte, text string) []byte {
	to, err := jsontext.AppendQuote(to, text)
	_ = err // says only that something was replaced
	return to
}
