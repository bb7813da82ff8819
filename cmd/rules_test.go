package cmd

import (
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, no  string // words, separated by blanks
		wildcard bool
	}{
		{"/srv/a", "/srv/a", "/srv/ab /srv /x/srv/a", false},
		{"/srv/*", "/srv/a /srv/a.b-c /srv/", "/srv/a/b /srv /x/srv/a", true},
		{"/srv/*/x", "/srv/a/x", "/srv/x /srv/a/b/x", true},
		{"/srv/**", "/srv/a /srv/a/b/c", "/srv /srvx/a", true},
		{"/srv/**/x", "/srv/x /srv/a/x /srv/a/b/x", "/srv/xx /srvx /srv/a/xy", true},
		{"/a/**/**/b", "/a/b /a/x/b /a/x/y/b", "/ab", true},
		{"**", "a a/b /", "", true},
		{"a?c", "abc aéc", "ac a/c abbc", true},
		{"a[b-d]e", "abe ace ade", "aae afe a/e", true},
		{"a[^b-d]e", "aae aée", "abe a/e ae", true},
		{"[a/]", "a", "/ b", true},
		{"[.-0]", ". 0", "/ -", true},
		{`a\*b`, "a*b", "axb", false},
		{`[\]\-]`, "] -", `\ a`, true},
		{"a.b+c", "a.b+c", "axb+c a.bb+c", false},
		{"bob@*", "bob@host bob@", "bob alice@host", true},
		{"(a|b)", "(a|b)", "a b", false},
	} {
		g, err := compileGlob(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if g.wild != c.wildcard {
			t.Errorf("%s: wildcard %v", c.pattern, g.wild)
		}
		for _, word := range strings.Fields(c.yes) {
			if !g.match(word) {
				t.Errorf("%s does not match %s", c.pattern, word)
			}
		}
		for _, word := range strings.Fields(c.no) {
			if g.match(word) {
				t.Errorf("%s matches %s", c.pattern, word)
			}
		}
	}
	if g, err := compileGlob("a*b"); err != nil || !g.match("a\n\nb") || g.match("ab\n") {
		t.Errorf("newlines are characters like others: %v", err)
	}
	for _, bad := range []string{"", "[", "[a", "[]", "[]a]", "[^]", "[b-a]", "[a-]", `a\`, "[/]", "\xff", strings.Repeat("a", 4097)} {
		if _, err := compileGlob(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

// A pattern made to be slow must not be.
func TestGlobIsLinear(t *testing.T) {
	g, err := compileGlob(strings.Repeat("*a", 200) + "b")
	if err != nil {
		t.Fatal(err)
	}
	if g.match(strings.Repeat("a", 4000)) {
		t.Error("it matches")
	}
}

func subjectOf(t *testing.T, json string) lease.Subject {
	t.Helper()
	s, err := lease.ParseSubject([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRules(t *testing.T) {
	c := parse(t, `subjects:
- {match: /a/b, reclaim: none}
- {match: "/a/*", reclaim: none, holders: [alice, "bob@*"]}
- {match: "{\"k\":1}", reclaim: none}
- {match: "**", reclaim: none}
- {match: "*", reclaim: none}
`)
	for json, want := range map[string]int{
		`"/a/b"`: 0, `"/a/c"`: 1, `"/a/c/d"`: 3, `"{\"k\":1}"`: 2, `{"k":1}`: 4, `12`: 4, `["/a/b"]`: 4, `true`: 4,
	} {
		r, found := c.rule(subjectOf(t, json))
		if !found || r.Index != want {
			t.Errorf("%s: entry %v, want %d", json, r, want)
		}
	}
	one := parse(t, "subjects: [{match: \"*\", reclaim: none}]\n")
	if _, found := one.rule(subjectOf(t, `"/a/b/c"`)); !found {
		t.Error("a lone * is for every subject")
	}
	none := parse(t, "subjects: [{match: \"/a/*\", reclaim: none}]\n")
	if r, found := none.rule(subjectOf(t, `"/b"`)); found {
		t.Errorf("matched %v", r)
	}
	r := &c.Subjects[1]
	for name, want := range map[string]bool{"alice": true, "bob@x": true, "bob": false, "alice2": false} {
		if r.admitsHolder(name) != want {
			t.Errorf("holder %s: %v", name, !want)
		}
	}
}

func TestAdmissible(t *testing.T) {
	c := parse(t, "subjects: [{match: \"w/**\", reclaim: none}, {match: a//b, reclaim: none}, {match: \"/s/**\", reclaim: none}, {match: \"{*}\", reclaim: none}]\n")
	for _, json := range []string{`"/s/a"`, `"/x/y"`, `"w/a/b"`, `"a//b"`, `"plain"`, `"plain/../x"`, `12`, `{"a":"/../"}`, `"/s/..a/b."`,
		`"` + strings.Repeat("a", 4096) + `"`} {
		if err := c.admissible(subjectOf(t, json)); err != nil {
			t.Errorf("%.60s: %v", json, err)
		}
	}
	for _, json := range []string{`"/s/"`, `"/s//a"`, `"//s"`, `"/"`, `"/s/./a"`, `"/s/.."`, `"/s/../etc"`, `"w/../x"`, `"w/a/"`, `"w//a"`,
		`"a\u0000b"`, `"a\nb"`, `"a\u007fb"`, `"a\u009bb"`, `"` + strings.Repeat("a", 4097) + `"`, `["` + strings.Repeat("a", 4096) + `"]`} {
		if c.admissible(subjectOf(t, json)) == nil {
			t.Errorf("%.60s is admitted", json)
		}
	}
	if c.admissible(lease.Subject{}) == nil {
		t.Error("no subject is admitted")
	}
	all := parse(t, tinyConfig)
	if all.admissible(subjectOf(t, `"a/../b"`)) == nil {
		t.Error("a lone * is a pattern with a wildcard")
	}
}
