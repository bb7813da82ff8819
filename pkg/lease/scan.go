package lease

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// What is here walks JSON that is already known to be valid, and so needs to check nothing. It costs a
// fraction of tokenizing the same text a second time.

// isSpace says whether JSON takes c for white space.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// trim cuts white space off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// space is the first index from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// stringEnd is the index after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// scalarEnd is the index after the number, true, false or null that begins at i.
func scalarEnd(b []byte, i int) int {
	for i < len(b) && b[i] != ',' && b[i] != ']' && b[i] != '}' && !isSpace(b[i]) {
		i++
	}
	return i
}

// valueEnd is the index after the value that begins at i.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
	default:
		return scalarEnd(b, i)
	}
	for open := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		if i++; open == 0 {
			break
		}
	}
	return i
}

// members yields the quoted name and the value of each member of a valid JSON object.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := space(object, 1)
		for object[i] != '}' {
			end := stringEnd(object, i)
			name := object[i:end]
			i = space(object, space(object, end)+1) // past the colon
			end = valueEnd(object, i)
			if !yield(name, object[i:end]) {
				return
			}
			if i = space(object, end); object[i] == ',' {
				i = space(object, i+1)
			}
		}
	}
}

// deeper says whether arrays and objects nest deeper than most. It asks nothing of the text, valid or not.
func deeper(b []byte, most int) bool {
	if len(b) <= most || bytes.Count(b, []byte{'{'})+bytes.Count(b, []byte{'['}) <= most {
		return false
	}
	open := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			if open++; open > most {
				return true
			}
		case '}', ']':
			open--
		}
	}
	return false
}

// unquote is the text of a valid JSON string. Without escapes it is a part of the same memory.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	_ = err // the string was valid
	return text
}

// clip quotes the beginning of a text for people, so that a message stays short whatever it quotes.
func clip[T []byte | string](text T) string {
	const most = 60
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "…"
	}
	return strconv.Quote(string(text))
}
