package stream

import (
	"math"
	"strings"
	"testing"
)

func places() []place {
	return []place{
		{skip: notSkipping, unborn: true},
		{skip: notSkipping, unborn: true, lasting: true},
		{medium: mediumHash("x"), identity: strings.Repeat("a", 64), pos: math.MaxInt64, skip: math.MaxInt64, window: windowMost, sum: fingerprint(nil)},
		{medium: mediumHash("y"), identity: "-_", pos: 12, skip: 0, lasting: true, window: 12, sum: fingerprint([]byte("z"))},
		{medium: mediumHash("z"), skip: notSkipping},
	}
}

func TestCursorsSayTheirPlace(t *testing.T) {
	for _, p := range places() {
		c := p.cursor()
		got, err := parsePlace(c)
		if err != nil || got != p {
			t.Errorf("%q: %+v, %v; want %+v", c, got, err, p)
		}
		if len(c) > MaxCursor || strings.ContainsAny(string(c), " \n\x00\"\\") {
			t.Errorf("%d bytes, or not plain: %q", len(c), c)
		}
		if at, err := CursorPosition(c); int64(at) != p.pos || err != nil {
			t.Errorf("position %v, %v", at, err)
		}
	}
}

func TestWhatIsNoCursor(t *testing.T) {
	for _, p := range places() {
		good := p.cursor()
		for i := range len(good) {
			for _, bad := range []Cursor{good[:i], good[i+1:], good[:i] + "." + good[i:], good[:i] + "7" + good[i+1:]} {
				if bad == good {
					continue
				}
				if _, err := parsePlace(bad); err == nil {
					t.Errorf("%q is one, made of %q", bad, good)
				}
			}
		}
	}
	for _, bad := range []place{
		{pos: 3, skip: 4},
		{skip: notSkipping, window: windowMost + 1},
		{skip: notSkipping, identity: "é"},
		{skip: notSkipping, identity: strings.Repeat("a", 65)},
		{skip: notSkipping, pos: -2},
	} {
		if _, err := CursorPosition(bad.cursor()); err == nil {
			t.Errorf("%+v is a place", bad)
		}
	}
}
