package stream

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// closingMark is the line by which a medium is closed (SPEC 3).
const closingMark = `{"dao.stream/closed":true}`

// closingMost is the most bytes a line may have that closes a medium: the mark, however it is spaced.
const closingMost = 64

// headerMost is the most bytes a header may have with its newline. A longer first line is an ordinary one.
const headerMost = 4096

// header is the first line of a file that this tool began (SPEC 3). The zero header is that of a file without
// one: no identity, base 0.
type header struct {
	identity string
	base     int64 // position of the first byte after the header
	format   int   // dao.stream/format: 0 when there is none
	// adopts says that what lies before base is in a file without a header: that file was evicted, and a
	// cursor into it goes on here.
	adopts bool
}

// newIdentity is a random identity.
func newIdentity() string { return rand.Text() }

// line is the header as it is written, with its newline.
func (h header) line() []byte {
	b := append([]byte(nil), `{"dao.stream/type":"jsonl","dao.stream/identity":"`...)
	b = append(b, h.identity...)
	b = append(b, `","dao.stream/base":`...)
	b = strconv.AppendInt(b, h.base, 10)
	if h.format > 0 {
		b = append(b, `,"dao.stream/format":`...)
		b = strconv.AppendInt(b, int64(h.format), 10)
	}
	if h.adopts {
		b = append(b, `,"dao.stream/adopts":true`...)
	}
	return append(b, "}\n"...)
}

// parseHeader reads a first line without its newline. Whatever is wrong with it makes it an ordinary line.
func parseHeader(line []byte) (header, bool) {
	if h, plainly := plainHeader(line); plainly {
		return h, true
	}
	return decodeHeader(line)
}

// decodeHeader reads any header.
func decodeHeader(line []byte) (header, bool) {
	if len(line) >= headerMost || !bytes.Contains(line, []byte("dao.stream/type")) {
		return header{}, false
	}
	var in map[string]json.RawMessage // by exact names, which those of a struct's fields are not
	if !jsontext.Value(line).IsValid() || json.Unmarshal(line, &in) != nil {
		return header{}, false
	}
	h, kind := header{base: -1}, ""
	for name, into := range map[string]any{
		"dao.stream/type": &kind, "dao.stream/identity": &h.identity, "dao.stream/base": &h.base,
		"dao.stream/format": &h.format, "dao.stream/adopts": &h.adopts,
	} {
		if value := in[name]; value != nil && json.Unmarshal(value, into) != nil {
			return header{}, false
		}
	}
	if kind != "jsonl" || !isIdentity(h.identity) || h.base < 0 || h.base > MaxBase || h.format < 0 {
		return header{}, false
	}
	return h, true
}

// plainHeader reads the header that most files have, in exactly the bytes in which it is written: a command that
// reads four files and is over has no time to warm up a JSON decoder. False says nothing.
func plainHeader(line []byte) (header, bool) {
	rest, begins := strings.CutPrefix(string(line), `{"dao.stream/type":"jsonl","dao.stream/identity":"`)
	identity, rest, goesOn := strings.Cut(rest, `","dao.stream/base":`)
	digits, ends := strings.CutSuffix(rest, "}")
	base, err := strconv.ParseInt(digits, 10, 64)
	if !begins || !goesOn || !ends || err != nil || base < 0 || base > MaxBase || strconv.FormatInt(base, 10) != digits || !isIdentity(identity) {
		return header{}, false
	}
	return header{identity: identity, base: base}, true
}

// isIdentity says that a text can be an identity: 1 to 64 letters, digits, underscores and hyphens, so that
// it is printable and a cursor keeps its bound.
func isIdentity(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// successor is the header of the file that goes on where one with this header ends. What has no identity is
// adopted under a new one; what ended beyond every base is not gone on with.
func (h header) successor(end int64, format int) header {
	if format == 0 {
		format = h.format
	}
	if end > MaxBase {
		return header{identity: newIdentity(), format: format}
	}
	if h.identity == "" {
		return header{identity: newIdentity(), base: end, format: format, adopts: true}
	}
	return header{identity: h.identity, base: end, format: format}
}

// follows says that a file with this header may be what goes on after one with the header before.
func (h header) follows(before header) bool {
	return h.base > before.base && (h.identity == before.identity || h.adopts && before.identity == "")
}

// isClosing says that a line closes the medium, however it is spaced.
func isClosing(line []byte) bool {
	if len(line) > closingMost || !bytes.Contains(line, []byte("dao.stream/closed")) {
		return false
	}
	v := jsontext.Value(bytes.Clone(line))
	return v.Compact() == nil && string(v) == closingMark
}
