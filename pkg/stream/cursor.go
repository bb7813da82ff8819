package stream

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// windowMost is how many bytes before a cursor its fingerprint covers at most (SPEC 3).
const windowMost = 4096

// notSkipping is a cursor's skip while it stands between lines.
const notSkipping = -1

// cursorVersion begins the text of every cursor of a file.
const cursorVersion = "jsonl1"

// place is what the text of a file's cursor says.
type place struct {
	medium   [8]byte // of the hash of the medium's name
	identity string  // of the file it was minted in; empty when that has no header
	pos      int64
	// skip is where a line began that is too long to be a value and of which pos is within, or notSkipping.
	skip int64
	// unborn says that there was nothing yet: whatever identity appears first is the cursor's.
	unborn bool
	// lasting says that the gap with which a lasting condition began has been told.
	lasting bool
	// window is how many bytes before pos, of values in the same file, sum is the hash of.
	window int
	sum    [16]byte
}

// fingerprint is the hash of the bytes before a cursor.
func fingerprint(window []byte) (sum [16]byte) {
	full := sha256.Sum256(window)
	copy(sum[:], full[:])
	return sum
}

// mediumHash is the name of a medium as its cursors carry it.
func mediumHash(name string) (hash [8]byte) {
	full := sha256.Sum256([]byte(name))
	copy(hash[:], full[:])
	return hash
}

// cursor is the text of a place: fields without a dot, joined by dots, and a checksum, so that a text that was
// cut or altered is no cursor.
func (p place) cursor() Cursor {
	b := make([]byte, 0, 192)
	b = append(b, cursorVersion+"."...)
	b = base64.RawURLEncoding.AppendEncode(b, p.medium[:])
	b = append(append(b, '.'), p.identity...)
	b = strconv.AppendInt(append(b, '.'), p.pos, 10)
	b = append(b, '.')
	if p.skip != notSkipping {
		b = strconv.AppendInt(b, p.skip, 10)
	}
	b = append(b, '.')
	if p.unborn {
		b = append(b, 'u')
	}
	if p.lasting {
		b = append(b, 'l')
	}
	b = strconv.AppendInt(append(b, '.'), int64(p.window), 10)
	b = base64.RawURLEncoding.AppendEncode(append(b, '.'), p.sum[:])
	return Cursor(strconv.AppendUint(append(b, '.'), uint64(crc32.ChecksumIEEE(b)), 36))
}

// parsePlace reads the text of a cursor. Only what place.cursor writes is one.
func parsePlace(c Cursor) (place, error) {
	if len(c) > MaxCursor {
		return place{}, noCursor(c)
	}
	f := strings.Split(string(c), ".")
	if len(f) != 9 || f[0] != cursorVersion {
		return place{}, noCursor(c)
	}
	p := place{identity: f[2], skip: notSkipping, unborn: strings.Contains(f[5], "u"), lasting: strings.Contains(f[5], "l")}
	err := errors.Join(decodeInto(p.medium[:], f[1]), decodeInto(p.sum[:], f[7]))
	p.pos, err = parseNumber(f[3], err)
	if f[4] != "" {
		p.skip, err = parseNumber(f[4], err)
	}
	window, err := parseNumber(f[6], err)
	p.window = int(min(window, windowMost+1))
	if err != nil || p.window > windowMost || p.skip > p.pos || (p.identity != "" && !isIdentity(p.identity)) || p.cursor() != c {
		return place{}, noCursor(c)
	}
	return p, nil
}

func noCursor(c Cursor) error { return fmt.Errorf("%.80q is no cursor of a file", c) }

// decodeInto fills dst from a field.
func decodeInto(dst []byte, field string) error {
	b, err := base64.RawURLEncoding.DecodeString(field)
	if err == nil && len(b) != len(dst) {
		err = errors.New("wrong length")
	}
	copy(dst, b)
	return err
}

// parseNumber reads a field that is a number from 0 up, unless something was wrong before.
func parseNumber(field string, before error) (int64, error) {
	n, err := strconv.ParseUint(field, 10, 63)
	return int64(n), errors.Join(before, err)
}

// CursorPosition is the position that a cursor of a file medium stands at: that of the next value, where its
// medium has not lost it. The error says that the text is no such cursor.
func CursorPosition(c Cursor) (Position, error) {
	p, err := parsePlace(c)
	return Position(p.pos), err
}
