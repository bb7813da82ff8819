package cmd

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/daolease/daolease/pkg/lease"
)

// escape shows what a terminal would act on or hide: control characters, marks that turn the direction of
// writing, invisible characters and bytes that are no UTF-8 come out as \n, \x1b, \u202e, \xff. Everything
// that can be printed stays as it is (SPEC 9).
func escape(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i, r := range s {
		if !strconv.IsPrint(r) || r == utf8.RuneError && s[i] != "\uFFFD"[0] {
			return false
		}
	}
	return true
}

// escapeUnicode replaces what cannot be printed, save newlines, by escapes \uXXXX. It is for JSON and
// for double-quoted YAML, where such characters only occur within strings; wide escapes a character above
// U+FFFF.
func escapeUnicode(text []byte, wide func(rune) string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n' || strconv.IsPrint(r):
			out = append(out, text[i:i+size]...)
		case r > 0xFFFF:
			out = append(out, wide(r)...)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}

// subjectText is a subject for people, in one line (SPEC 9): what cannot be seen in it is shown.
func subjectText(s lease.Subject) string {
	if s.IsString() {
		return wordText(s.Text())
	}
	return escape(s.Text())
}

// wordText is a word that somebody chose, for people. One that is empty, or has a blank at an end, stands in quotes.
func wordText(word string) string {
	if word == "" || strings.TrimSpace(word) != word {
		return strconv.Quote(word)
	}
	return escape(word)
}

// quotedMost is how many characters of a name a message quotes at most.
const quotedMost = 80

// shortened is the beginning of a text that is too long for a message.
func shortened(s string) string {
	n := 0
	for i := range s {
		if n == quotedMost {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// counted is a number of things in words: 1 lease, 2 leases.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// shellQuote quotes a word for sh, only where it must.
func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./@:%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
