package stream

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// memoryCursorKind begins the text of every cursor of a memory.
const memoryCursorKind = "memory"

// memoryIdentity is the length of every identity.
const memoryIdentity = 32

// newMemoryIdentity is one that no other medium has.
func newMemoryIdentity() string {
	var b [memoryIdentity / 2]byte
	rand.Read(b[:]) // never fails: without randomness the program ends
	return hex.EncodeToString(b[:])
}

// memoryPlace is what the text of a cursor says. An identity's lines never change, so that identity and
// position are fingerprint enough.
type memoryPlace struct {
	identity string
	at       Position
	label    string
}

// cursorAt is the cursor of a position on this identity.
func (m *Memory) cursorAt(at Position) Cursor {
	return memoryCursor(memoryPlace{identity: m.identity, at: at, label: m.label})
}

// memoryCursor is the text of a place. The identity comes last, being of one length, so that a text that was
// cut is no cursor.
func memoryCursor(p memoryPlace) Cursor {
	return Cursor(strings.Join([]string{memoryCursorKind, p.at.String(), p.label, p.identity}, ":"))
}

// parseMemoryCursor reads the text of a cursor.
func parseMemoryCursor(c Cursor) (memoryPlace, error) {
	kind, rest, _ := strings.Cut(string(c), ":")
	position, rest, _ := strings.Cut(rest, ":")
	colon := strings.LastIndexByte(rest, ':')
	if len(c) > MaxCursor || kind != memoryCursorKind || colon < 0 || len(rest)-colon-1 != memoryIdentity {
		return memoryPlace{}, fmt.Errorf("%.80q is no cursor of a memory", c)
	}
	at, err := strconv.ParseInt(position, 10, 64)
	if err != nil || at < 0 || strconv.FormatInt(at, 10) != position {
		return memoryPlace{}, fmt.Errorf("%.80q is no cursor of a memory", c)
	}
	return memoryPlace{identity: rest[colon+1:], at: Position(at), label: rest[:colon]}, nil
}

// memoryLabel is the name as cursors carry it: itself when it is short and plain, else its hash, so that
// every cursor is printable and keeps its bound.
func memoryLabel(name string) string {
	plain := func(r rune) bool { return r > ' ' && r <= '~' }
	rest := strings.TrimLeftFunc(name, plain)
	if len(name) <= MaxCursor/2 && rest == "" && !strings.HasPrefix(name, "sha256=") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256=" + hex.EncodeToString(sum[:])
}
