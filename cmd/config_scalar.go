package cmd

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/daolease/daolease/pkg/lease"
)

// byteSize is a number of bytes; 0 stands for complete.
type byteSize int64

// minRetention is the least that a medium can keep and still be read across an eviction (SPEC 3).
const minRetention = 4 << 10

const (
	sizeWanted = "write a size such as 64KiB, 1MiB or 1GiB, at least 4KiB, or complete"
	wordWanted = "write a word; quote what could be taken for a number or yes and no"
)

// parseSize reads a retention: complete, or a whole number with B, KiB, MiB or GiB, at least 4 KiB.
func parseSize(text string) (byteSize, error) {
	if text == "complete" {
		return 0, nil
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	units := map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	size, known := units[text[digits:]]
	switch {
	case digits == 0:
		return 0, fmt.Errorf("%q is no size", text)
	case digits == len(text):
		return 0, fmt.Errorf("%q has no unit", text)
	case !known:
		return 0, fmt.Errorf("%q has an unknown unit %q", text, text[digits:])
	}
	n, err := parseCount(text[:digits], lease.Limit/size)
	if err != nil {
		return 0, fmt.Errorf("%q is too great", text)
	}
	if n*size < minRetention {
		return 0, fmt.Errorf("%q is less than 4KiB", text)
	}
	return byteSize(n * size), nil
}

func checkSize(n *yaml.Node) (wrong, right string) {
	switch n.Tag {
	case "!!str":
		if _, err := parseSize(n.Value); err != nil {
			return err.Error(), sizeWanted
		}
		return "", ""
	case "!!int", "!!float":
		return n.Value + " has no unit", sizeWanted
	}
	return kindOf(n) + " is no size", sizeWanted
}

func checkSpan(n *yaml.Node) (wrong, right string) {
	switch n.Tag {
	case "!!str", "!!int":
		_, err := parseSpan(n.Value)
		if err == nil {
			return "", ""
		}
		if wrong, right, cut := strings.Cut(err.Error(), "; "); cut {
			return wrong, right
		}
		return err.Error(), "write " + spanWanted
	}
	return kindOf(n) + " is no span of time", "write " + spanWanted
}

func checkNumber(n *yaml.Node) (wrong, right string) {
	const wanted = "write a plain decimal number"
	if n.Tag != "!!int" || strings.Trim(n.Value, "0123456789") != "" || len(n.Value) > 1 && n.Value[0] == '0' {
		return kindOf(n) + " is no number", wanted
	}
	if _, err := parseCount(n.Value, math.MaxInt64); err != nil {
		return n.Value + " is too great", wanted
	}
	return "", ""
}

func checkWord(n *yaml.Node) (wrong, right string) {
	switch {
	case n.Tag != "!!str":
		return kindOf(n) + " is no word", wordWanted
	case n.Value == "":
		return "is empty", "write a word"
	case strings.ContainsRune(n.Value, 0):
		return "has a NUL in it", "no program can be given that"
	}
	return "", ""
}

func checkName(n *yaml.Node) (wrong, right string) {
	if n.Tag != "!!str" {
		return kindOf(n) + " is no name", wordWanted
	}
	if err := lease.ValidName(n.Value); err != nil {
		return err.Error(), "write a name of letters, digits and . _ @ -, at most 64"
	}
	return "", ""
}

// oneOf makes the check of a word from a short list.
func oneOf(words ...string) check {
	right := "write " + strings.Join(words, " or ")
	return func(n *yaml.Node) (string, string) {
		for _, w := range words {
			if n.Tag == "!!str" && n.Value == w {
				return "", ""
			}
		}
		return kindOf(n) + " is not known", right
	}
}
