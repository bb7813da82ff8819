package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shape is what a place in the configuration may hold. Exactly one of its fields is set, save that a list
// may have a word in its stead.
type shape struct {
	fields  map[string]*shape // a mapping with these keys
	entries *shape            // a mapping with any keys
	items   *shape            // a list
	word    string            // a word that may stand in the place of the list
	scalar  check
}

// check looks at a scalar and says what is wrong with it and what would be right; empty when all is well.
type check func(n *yaml.Node) (wrong, right string)

// configShape is the whole of SPEC 8's YAML.
func configShape() *shape {
	span := &shape{scalar: checkSpan}
	size := &shape{scalar: checkSize}
	number := &shape{scalar: checkNumber}
	word := &shape{scalar: checkWord}
	words := &shape{items: word}
	return &shape{fields: map[string]*shape{
		"grantor":      {scalar: checkName},
		"attribution":  {scalar: oneOf("path", "owner")},
		"cadence":      span,
		"tolerance":    span,
		"ticks":        {scalar: oneOf("host", "external")},
		"units":        {entries: number},
		"drain_budget": number,
		"retention": {fields: map[string]*shape{
			"holders": size, "ticks": size, "grantor": size, "ledger": size,
		}},
		"reclaim": {fields: map[string]*shape{
			"parallel": number,
			"wait":     span,
			"retry":    {fields: map[string]*shape{"initial": span, "max": span}},
		}},
		"subjects": {items: &shape{fields: map[string]*shape{
			"match": word, "duration": span, "longest": span, "max": span, "holders": words,
			"answer": {scalar: oneOf("auto", "never")}, "slots": number, "limit": number,
			"reclaim": {items: word, word: "none"}, "timeout": span,
		}}},
	}}
}

// readStrict reads exactly one YAML document of that shape and notes the line of every key.
func readStrict(file string, raw []byte) (*yaml.Node, map[string]int, error) {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, syntaxError(file, err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		return nil, nil, (&refusal{file, more.Line, "", "a second YAML document", "a configuration is one document"}).exit()
	} else if !errors.Is(err, io.EOF) {
		return nil, nil, syntaxError(file, err)
	}
	w := walker{file: file, lines: map[string]int{"": 1}}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1}
	if len(doc.Content) > 0 && doc.Content[0].Tag != "!!null" {
		root = doc.Content[0]
	}
	if err := w.walk("", root, configShape()); err != nil {
		return nil, nil, err.exit()
	}
	return root, w.lines, nil
}

// syntaxError points at the line that the YAML parser names in its text.
func syntaxError(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	return (&refusal{file, line, "", text, "this is no YAML"}).exit()
}

type walker struct {
	file  string
	lines map[string]int
}

func (w *walker) refuse(n *yaml.Node, key, wrong, right string) *refusal {
	return &refusal{w.file, n.Line, key, wrong, right}
}

func (w *walker) walk(key string, n *yaml.Node, s *shape) *refusal {
	w.lines[key] = n.Line
	if n.Kind == yaml.AliasNode {
		// An alias cannot lead into a circle: the shape has an end.
		n = n.Alias
	}
	switch {
	case s.fields != nil || s.entries != nil:
		return w.mapping(key, n, s)
	case s.items != nil:
		return w.list(key, n, s)
	}
	return w.scalarAt(key, n, s)
}

func (w *walker) scalarAt(key string, n *yaml.Node, s *shape) *refusal {
	if n.Kind != yaml.ScalarNode {
		_, right := s.scalar(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
		return w.refuse(n, key, kindOf(n)+" where a single value belongs", right)
	}
	if wrong, right := s.scalar(n); wrong != "" {
		return w.refuse(n, key, wrong, right)
	}
	return nil
}

func (w *walker) list(key string, n *yaml.Node, s *shape) *refusal {
	if s.word != "" && n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Value == s.word {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		right := "write a list, as in [a, b]"
		if s.word != "" {
			right = fmt.Sprintf("write a list of words, as in [hooks/free, --now], or %s", s.word)
		}
		return w.refuse(n, key, kindOf(n)+" where a list belongs", right)
	}
	if s.word != "" && len(n.Content) == 0 {
		return w.refuse(n, key, "is an empty list", "write a list of words, or "+s.word)
	}
	for i, item := range n.Content {
		if r := w.walk(fmt.Sprintf("%s[%d]", key, i), item, s.items); r != nil {
			return r
		}
	}
	return nil
}

func (w *walker) mapping(key string, n *yaml.Node, s *shape) *refusal {
	if n.Kind != yaml.MappingNode {
		return w.refuse(n, key, kindOf(n)+" where keys with values belong", "known here: "+keysOf(s))
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		at := joinKey(key, name.Value)
		below := s.entries
		if s.fields != nil {
			below = s.fields[name.Value]
		}
		switch line, twice := first[name.Value]; {
		case twice:
			return w.refuse(name, at, "is given twice", fmt.Sprintf("line %d has it already", line))
		case name.Kind != yaml.ScalarNode || below == nil:
			return w.refuse(name, at, "unknown key", "known here: "+keysOf(s))
		}
		first[name.Value] = name.Line
		if r := w.walk(at, value, below); r != nil {
			return r
		}
		w.lines[at] = name.Line
	}
	return nil
}

func joinKey(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func keysOf(s *shape) string {
	if s.fields == nil {
		return "names with numbers"
	}
	var names []string
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// lineOf is the line of a key, or of the nearest one around it.
func lineOf(lines map[string]int, key string) int {
	for key != "" {
		if line, ok := lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return lines[""]
}

// kindOf says what a node is, for people.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}
