package cmd

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/daolease/daolease/pkg/lease"
)

// maxSubject is the most bytes of a subject that is granted (SPEC 8).
const maxSubject = 4096

// rule is the first entry that a subject matches; false when none does.
func (c *Config) rule(subject lease.Subject) (*SubjectRule, bool) {
	for i := range c.Subjects {
		if r := &c.Subjects[i]; r.matches(subject) {
			return r, true
		}
	}
	return nil, false
}

// everySubject is the pattern that matches all subjects: with slashes, and what is no string.
const everySubject = "*"

// matches says that an entry is for a subject. Only a lone "*" matches what is no string, and it matches
// every string too: it is the entry for all the rest.
func (r *SubjectRule) matches(subject lease.Subject) bool {
	if r.Match == everySubject {
		return true
	}
	return subject.IsString() && r.subject.match(subject.Text())
}

// admitsHolder says that an entry's holders include a name.
func (r *SubjectRule) admitsHolder(name string) bool {
	for _, g := range r.holders {
		if g.match(name) {
			return true
		}
	}
	return false
}

// admissible refuses a subject that is never granted, whoever asks (SPEC 8, Admission). A string that begins
// with a slash, or that a pattern had to match, is a path: another spelling of the same path would be
// another subject, so only the plain spelling is admitted.
func (c *Config) admissible(subject lease.Subject) error {
	if err := nameable(subject); err != nil || !subject.IsString() {
		return err
	}
	text := subject.Text()
	r, found := c.rule(subject)
	if strings.HasPrefix(text, "/") || found && r.subject.wild {
		return plainPath(text)
	}
	return nil
}

// nameable refuses a subject that no configuration grants, so that nothing need be written to find that out.
func nameable(subject lease.Subject) error {
	text := subject.Text()
	switch {
	case subject.IsZero():
		return errors.New("there is no subject")
	case len(text) > maxSubject:
		return fmt.Errorf("the subject has %d bytes, more than %d", len(text), maxSubject)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("the subject %q has control characters in it", shortened(text))
	}
	return nil
}

// plainPath refuses a path with an empty, . or .. segment or a trailing slash.
func plainPath(path string) error {
	for _, segment := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		switch segment {
		case "":
			return fmt.Errorf("%q has an empty segment or a trailing slash", shortened(path))
		case ".", "..":
			return fmt.Errorf("%q has a segment %q", shortened(path), segment)
		}
	}
	return nil
}

// glob is a pattern: * is anything without a slash, ** is anything, /**/ is also a single slash, ? is one
// character and [a-z] or [^a-z] one of a class, none of them a slash; a backslash quotes the next character.
type glob struct {
	re   *regexp.Regexp
	wild bool // whether there is any wildcard in it
}

// match is linear in the length of the text, whatever the pattern.
func (g glob) match(text string) bool { return g.re.MatchString(text) }

// compileGlob translates a pattern to a regular expression.
func compileGlob(pattern string) (glob, error) {
	var g glob
	if len(pattern) > maxSubject {
		return g, fmt.Errorf("the pattern has %d bytes, more than %d", len(pattern), maxSubject)
	}
	if pattern == "" || !utf8.ValidString(pattern) {
		return g, errors.New("the pattern is empty or no UTF-8")
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for rest := pattern; rest != ""; {
		piece, after, wild, err := globPiece(rest)
		if err != nil {
			return g, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		re.WriteString(piece)
		g.wild, rest = g.wild || wild, after
	}
	re.WriteString(`\z`)
	var err error
	if g.re, err = regexp.Compile(re.String()); err != nil {
		return g, fmt.Errorf("pattern %q: a class that cannot be", pattern)
	}
	return g, nil
}

// globPiece translates what a pattern begins with.
func globPiece(rest string) (piece, after string, wild bool, err error) {
	switch {
	case strings.HasPrefix(rest, "/**/"):
		// The last slash is left to be read again, so that a/**/**/b is a/**/b.
		return `(?:/.*)?`, rest[3:], true, nil
	case strings.HasPrefix(rest, "**"):
		return `.*`, strings.TrimLeft(rest, "*"), true, nil
	case rest[0] == '*':
		return `[^/]*`, rest[1:], true, nil
	case rest[0] == '?':
		return `[^/]`, rest[1:], true, nil
	case rest[0] == '[':
		piece, after, err = globClass(rest[1:])
		return piece, after, true, err
	case rest[0] == '\\':
		if rest = rest[1:]; rest == "" {
			return "", "", false, errors.New("a backslash at the end quotes nothing")
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return regexp.QuoteMeta(rest[:size]), rest[size:], false, nil
}

// globClass translates a class, what follows its opening bracket. A slash is never in it.
func globClass(rest string) (piece, after string, err error) {
	rest, negated := strings.CutPrefix(rest, "^")
	var re strings.Builder
	for first := true; ; first = false {
		if rest == "" {
			return "", "", errors.New("a class without its closing bracket")
		}
		if rest[0] == ']' && !first {
			break
		}
		var lo, hi rune
		if lo, rest, err = classRune(rest); err != nil {
			return "", "", err
		}
		hi = lo
		if upper, ranged := strings.CutPrefix(rest, "-"); ranged {
			if hi, rest, err = classRune(upper); err != nil {
				return "", "", err
			}
		}
		if hi < lo {
			return "", "", fmt.Errorf("the range %c-%c is empty", lo, hi)
		}
		writeRange(&re, lo, hi)
	}
	if negated {
		return `[^/` + re.String() + `]`, rest[1:], nil
	}
	if re.Len() == 0 {
		return "", "", errors.New("a class of nothing but a slash")
	}
	return `[` + re.String() + `]`, rest[1:], nil
}

// classRune reads one character of a class, which a backslash may quote.
func classRune(rest string) (rune, string, error) {
	quoted := strings.HasPrefix(rest, `\`)
	if quoted {
		rest = rest[1:]
	}
	r, size := utf8.DecodeRuneInString(rest)
	if rest == "" || !quoted && (r == '-' || r == ']') {
		return 0, "", errors.New("a class that does not say what is in it")
	}
	return r, rest[size:], nil
}

// writeRange writes a range of characters without the slash.
func writeRange(re *strings.Builder, lo, hi rune) {
	if lo <= '/' && '/' <= hi {
		if lo < '/' {
			writeRange(re, lo, '/'-1)
		}
		if hi > '/' {
			writeRange(re, '/'+1, hi)
		}
		return
	}
	fmt.Fprintf(re, `\x{%x}-\x{%x}`, lo, hi)
}
