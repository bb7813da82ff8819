package stream

import (
	"fmt"
	"strings"
	"testing"
)

func TestHeaders(t *testing.T) {
	for _, h := range []header{
		{identity: "x"},
		{identity: newIdentity(), base: MaxBase, format: 3, adopts: true},
		{identity: strings.Repeat("Z", 64), base: 7},
	} {
		line := h.line()
		got, ok := parseHeader(line[:len(line)-1])
		if !ok || got != h || line[len(line)-1] != '\n' || !isIdentity(h.identity) {
			t.Errorf("%s: %+v, want %+v", line, got, h)
		}
	}
	const id = `"dao.stream/identity":"x"`
	good := []string{
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":0}`,
		` { "dao.stream/base" : 4503599627370496 , "other":[1], "dao.stream/type" : "jsonl", ` + id + ` } ` + "\r",
	}
	for _, line := range good {
		if _, ok := parseHeader([]byte(line)); !ok {
			t.Errorf("no header: %q", line)
		}
	}
	bad := []string{
		``, `{}`, `[]`, `null`, `{"dao.stream/type":"jsonl"}`,
		`{"dao.stream/type":"jsonl",` + id + `}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":null}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":-1}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":4503599627370497}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":99999999999999999999}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":1.0}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":1e3}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":"1"}`,
		`{"dao.stream/type":"csv",` + id + `,"dao.stream/base":0}`,
		`{"dao.stream/type":"jsonl","dao.stream/type":"jsonl",` + id + `,"dao.stream/base":0}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":0,"x":{"a":1,"a":1}}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":0}{}`,
		`{"DAO.stream/type":"jsonl",` + id + `,"dao.stream/base":0,"k":"dao.stream/type"}`,
		`{"dao.stream/type":"jsonl","dao.stream/identity":"","dao.stream/base":0}`,
		`{"dao.stream/type":"jsonl","dao.stream/identity":"a b","dao.stream/base":0}`,
		`{"dao.stream/type":"jsonl","dao.stream/identity":"` + strings.Repeat("a", 65) + `","dao.stream/base":0}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":0,"dao.stream/format":-1}`,
		`{"dao.stream/type":"jsonl",` + id + `,"dao.stream/base":0,"x":"` + strings.Repeat("a", headerMost) + `"}`,
	}
	for _, line := range bad {
		if h, ok := parseHeader([]byte(line)); ok {
			t.Errorf("a header: %.100q %+v", line, h)
		}
	}
}

// What is plainly a header is read as the decoder would; of what the decoder refuses, nothing is plainly one.
func TestPlainHeadersAreReadAsDecoded(t *testing.T) {
	const begin, middle = `{"dao.stream/type":"jsonl","dao.stream/identity":"`, `","dao.stream/base":`
	plain := 0
	for _, identity := range []string{"x", newIdentity(), strings.Repeat("a", 64), strings.Repeat("a", 65), "", "a b", `a\u0062`, "é"} {
		for _, base := range []string{"0", "7", "4503599627370496", "4503599627370497", "-1", "-0", "+1", "007", "1.0", "1e3", `"1"`, "null", "", " 1", "1 ", "0x1", "1_0"} {
			for _, end := range []string{"}", "}}", "} ", `,"dao.stream/format":3}`, `,"x":1}`, ""} {
				line := []byte(begin + identity + middle + base + end)
				got, plainly := plainHeader(line)
				want, is := decodeHeader(line)
				if plainly && (!is || got != want) {
					t.Errorf("%s: plainly %+v, decoded %+v %t", line, got, want, is)
				}
				if plainly {
					plain++
				}
			}
		}
	}
	if plain != 9 {
		t.Errorf("%d lines are plainly headers, want three identities with three bases", plain)
	}
}

func TestSuccessors(t *testing.T) {
	if h := (header{identity: "x", base: 5, format: 2}).successor(9, 0); h != (header{identity: "x", base: 9, format: 2}) {
		t.Errorf("%+v", h)
	}
	if h := (header{}).successor(9, 4); !isIdentity(h.identity) || h.base != 9 || !h.adopts || h.format != 4 {
		t.Errorf("%+v", h)
	}
	if h := (header{identity: "x", base: MaxBase}).successor(MaxBase+1, 0); h.identity == "x" || h.base != 0 || h.adopts {
		t.Errorf("%+v", h)
	}
}

func TestClosingMarks(t *testing.T) {
	for line, want := range map[string]bool{
		closingMark:                                                 true,
		` { "dao.stream/closed" : true }`:                           true,
		`{"dao.stream/closed":false}`:                               false,
		`{"dao.stream/closed":true,"a":1}`:                          false,
		`{"dao.stream/closed":true`:                                 false,
		`"dao.stream/closed"`:                                       false,
		closingMark + strings.Repeat(" ", closingMost):              false,
		`{"dao.stream/closed":true,"dao.stream/closed":true}`:       false,
		fmt.Sprintf("%s\r", closingMark):                            true,
		`{"a":"dao.stream/closed"}`:                                 false,
		strings.Replace(closingMark, "true", "\"true\"", 1):         false,
		strings.Replace(closingMark, "dao.stream", "DAO.STREAM", 1): false,
	} {
		if got := isClosing([]byte(line)); got != want {
			t.Errorf("%q closes: %v", line, got)
		}
	}
}
