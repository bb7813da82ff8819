package lease

import (
	"bytes"
	"errors"
	"slices"
)

// Subject is what a lease is about: any JSON value but null (SPEC 2). Two subjects are one when their texts
// are, so compare Text. The zero Subject is an absent one.
type Subject struct {
	text string
	form form
}

// form is how a subject's text is written in JSON.
type form uint8

const (
	absent   form = iota
	quoted        // the text is a string's content
	verbatim      // the text is JSON itself
)

// StringSubject is the subject that is this string. The constructors refuse one that is no UTF-8.
func StringSubject(s string) Subject { return Subject{text: s, form: quoted} }

// ParseSubject reads any JSON value but null. It refuses what a line would be undecodable for, and what nests
// so deep that the fact around it would.
func ParseSubject(json []byte) (Subject, error) {
	if err := decodable(json, maxDepth-1); err != nil {
		return Subject{}, err
	}
	value := trim(json)
	if string(value) == "null" {
		return Subject{}, errors.New("null is no subject")
	}
	return subjectOf(value), nil
}

// Text is the string itself, or the compact JSON of anything else with sorted keys at every depth and numbers
// as written.
func (s Subject) Text() string { return s.text }

// JSON is the subject as a compact JSON value; null for an absent one.
func (s Subject) JSON() []byte {
	switch s.form {
	case quoted:
		return appendText(nil, s.text)
	case verbatim:
		return []byte(s.text)
	}
	return []byte("null")
}

// IsString says that the subject is a JSON string.
func (s Subject) IsString() bool { return s.form == quoted }

// IsZero says that there is no subject.
func (s Subject) IsZero() bool { return s.form == absent }

// String is Text, for printing.
func (s Subject) String() string { return s.text }

// MarshalJSON writes the value, and null for an absent subject.
func (s Subject) MarshalJSON() ([]byte, error) { return s.JSON(), nil }

// UnmarshalJSON reads what MarshalJSON writes, and any other JSON value as ParseSubject does.
func (s *Subject) UnmarshalJSON(json []byte) error {
	if string(trim(json)) == "null" {
		*s = Subject{}
		return nil
	}
	parsed, err := ParseSubject(json)
	if err == nil {
		*s = parsed
	}
	return err
}

// subjectOf makes the subject of a valid JSON value that is not null.
func subjectOf(value []byte) Subject {
	switch value[0] {
	case '"':
		return Subject{text: string(unquote(value)), form: quoted}
	case '{', '[':
		c := canonical{src: value, ends: containerEnds(value)}
		c.value(0)
		return Subject{text: string(c.out), form: verbatim}
	}
	return Subject{text: string(value), form: verbatim}
}

// canonical writes valid JSON anew: no white space, names sorted, strings in their shortest form, numbers as
// they are. Each byte is read a fixed number of times however deep it lies, so that a hostile subject costs
// what its length costs.
type canonical struct {
	src  []byte
	ends []int // for each byte that opens an object or array, the index after its end
	out  []byte
}

// containerEnds finds the ends of all objects and arrays in one go.
func containerEnds(b []byte) []int {
	ends := make([]int, len(b))
	var open []int
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			ends[open[len(open)-1]] = i + 1
			open = open[:len(open)-1]
		}
	}
	return ends
}

// value writes the value that begins at i and returns the index after it.
func (c *canonical) value(i int) int {
	end := c.end(i)
	switch c.src[i] {
	case '{':
		c.object(i)
	case '[':
		c.array(i)
	case '"':
		c.out = appendText(c.out, string(unquote(c.src[i:end])))
	default:
		c.out = append(c.out, c.src[i:end]...)
	}
	return end
}

func (c *canonical) end(i int) int {
	if end := c.ends[i]; end > 0 {
		return end
	}
	return valueEnd(c.src, i)
}

func (c *canonical) array(i int) {
	c.out = append(c.out, '[')
	for i = space(c.src, i+1); c.src[i] != ']'; {
		i = space(c.src, c.value(i))
		if c.src[i] == ',' {
			c.out = append(c.out, ',')
			i = space(c.src, i+1)
		}
	}
	c.out = append(c.out, ']')
}

func (c *canonical) object(i int) {
	type member struct {
		name []byte
		at   int
	}
	var all []member
	for i = space(c.src, i+1); c.src[i] != '}'; {
		end := stringEnd(c.src, i)
		name := unquote(c.src[i:end])
		i = space(c.src, space(c.src, end)+1) // past the colon
		all = append(all, member{name, i})
		if i = space(c.src, c.end(i)); c.src[i] == ',' {
			i = space(c.src, i+1)
		}
	}
	slices.SortFunc(all, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	c.out = append(c.out, '{')
	for n, m := range all {
		if n > 0 {
			c.out = append(c.out, ',')
		}
		c.out = appendText(c.out, string(m.name))
		c.out = append(c.out, ':')
		c.value(m.at)
	}
	c.out = append(c.out, '}')
}
