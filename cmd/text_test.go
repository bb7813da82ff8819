package cmd

import (
	"os/exec"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                 "",
		"plain /srv/Ä 漢 🙂": "plain /srv/Ä 漢 🙂",
		"a\nb\tc":          `a\nb\tc`,
		"\x1b]0;x\x07":     `\x1b]0;x\a`,
		"\u009b2J":         `\u009b2J`,
		"a\u202eb\u2066":   `a\u202eb\u2066`,
		"\u200b\ufeff":     `\u200b\ufeff`,
		"\U000e0041":       `\U000e0041`,
		"a\xffb":           `a\xffb`,
		"\ufffd":           "\ufffd",
		"\x00":             `\x00`,
		"\u2028":           `\u2028`,
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for _, word := range []string{"", "plain", "a b", "it's", "$(touch x)", "`x`", "a\nb", `\`, "*", "#1", "~", "ä"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(word)).Output()
		if err != nil {
			t.Skip("there is no sh")
		}
		if string(out) != word {
			t.Errorf("%q quoted as %s came out as %q", word, shellQuote(word), out)
		}
	}
	if got := shellQuote("/srv/a-b_c.d@e:1"); strings.Contains(got, "'") {
		t.Errorf("%s needs no quotes", got)
	}
}

func TestCountedIsSingularOfOne(t *testing.T) {
	for n, want := range map[int]string{0: "0 leases", 1: "1 lease", 2: "2 leases"} {
		if got := counted(n, "lease"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWordsThatCannotBeSeen(t *testing.T) {
	for in, want := range map[string]string{"": `""`, " ": `" "`, "a b": "a b", " a": `" a"`, "a\t": `"a\t"`, "a\nb": `a\nb`, `a"b`: `a"b`} {
		if got := wordText(in); got != want {
			t.Errorf("wordText(%q) = %s, want %s", in, got, want)
		}
	}
}
