package cmd

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
)

// formatPage is a page of section 5.
func formatPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../man", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documented are the words that a page sets as names of keys, on lines that begin with one of these.
func documented(page string, macros ...string) map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(page) {
		for _, macro := range macros {
			if rest, is := strings.CutPrefix(line, macro); is {
				for _, word := range strings.Fields(rest) {
					words[word] = true
				}
			}
		}
	}
	return words
}

func TestEveryConfigurationKeyHasItsPlaceOnThePage(t *testing.T) {
	page := formatPage(t, "daolease.yaml.5")
	before, after, found := strings.Cut(page, ".Ss Entries of subjects")
	if !found {
		t.Fatal("the page has no section for the entries")
	}
	top, entries := documented(before, ".It Cm ", ".Cm "), documented(after, ".It Cm ")
	keys := configKeys(reflect.TypeFor[Config]())
	if len(keys) < 15 {
		t.Fatalf("only %d keys were found: %v", len(keys), keys)
	}
	for _, key := range append(keys, "units") {
		if !top[key] {
			t.Errorf("daolease.yaml.5 says nothing of %s", key)
		}
	}
	for _, key := range configKeys(reflect.TypeFor[SubjectRule]()) {
		if !entries[key] {
			t.Errorf("daolease.yaml.5 says nothing of the key %s of an entry", key)
		}
	}
}

// configKeys are the keys of a part of the configuration and of the parts in it, but not those of entries.
func configKeys(of reflect.Type) (keys []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		key := f.Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		keys = append(keys, key)
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, configKeys(f.Type)...)
		}
	}
	return keys
}

func TestTheExampleOfThePageLoads(t *testing.T) {
	_, rest, _ := strings.Cut(formatPage(t, "daolease.yaml.5"), ".Sh EXAMPLES\n.Bd -literal\n")
	example, _, found := strings.Cut(rest, ".Ed")
	if c, err := parseConfig("example", []byte(example)); !found || err != nil || len(c.Subjects) != 2 {
		t.Fatalf("%v, of\n%s", err, example)
	}
}

func TestEveryKeyOfTheLedgerIsOnThePage(t *testing.T) {
	said := documented(formatPage(t, "daolease-ledger.5"), ".It Cm ", ".Cm ")
	structs := jsonStructs(t, "../pkg/judge")
	seen := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if seen[name] || structs[name] == nil {
			return
		}
		seen[name] = true
		for _, f := range structs[name] {
			if f.key != "" && !said[f.key] {
				t.Errorf("daolease-ledger.5 says nothing of %s, a key of %s", f.key, name)
			}
			for _, inner := range f.types {
				walk(inner)
			}
		}
	}
	walk("journalLine")
	for _, name := range []string{"delta", "start", "Entry", "revoked", "caused", "attempt", "mixedFact", "stall", "holder", "queued", "answered"} {
		if !seen[name] {
			t.Errorf("%s was not reached from journalLine: what is checked here?", name)
		}
	}
	if !said["sum"] {
		t.Error("daolease-ledger.5 says nothing of sum")
	}
}

// jsonField is a field of a struct: its key, and the named types in its own.
type jsonField struct {
	key   string
	types []string
}

// jsonStructs are the struct types of a package by name, from its source. A type that is a map or list of others is
// one whose only field has no key.
func jsonStructs(t *testing.T, dir string) map[string][]jsonField {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]jsonField{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for node := range ast.Preorder(file) {
			if spec, is := node.(*ast.TypeSpec); is {
				all[spec.Name.Name] = jsonFields(spec.Type)
			}
		}
	}
	return all
}

func jsonFields(of ast.Expr) (fields []jsonField) {
	s, is := of.(*ast.StructType)
	if !is {
		return []jsonField{{types: namedIn(of)}}
	}
	for _, f := range s.Fields.List {
		key := ""
		if f.Tag != nil {
			text, _ := strconv.Unquote(f.Tag.Value)
			key, _, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
		}
		if key != "" || len(f.Names) == 0 {
			fields = append(fields, jsonField{key, namedIn(f.Type)})
		}
	}
	return fields
}

// namedIn are the names of this package's types in a type.
func namedIn(of ast.Expr) (names []string) {
	for node := range ast.Preorder(of) {
		if id, is := node.(*ast.Ident); is {
			names = append(names, id.Name)
		}
	}
	return names
}

func TestEveryKeyOfAHeaderIsOnThePage(t *testing.T) {
	source, err := os.ReadFile("../pkg/stream/header.go")
	if err != nil {
		t.Fatal(err)
	}
	page := formatPage(t, "daolease-stream.5")
	keys := regexp.MustCompile(`dao\.stream/[a-z]+`).FindAllString(string(source), -1)
	slices.Sort(keys)
	if keys = slices.Compact(keys); len(keys) < 6 {
		t.Fatalf("%v", keys)
	}
	for _, key := range keys {
		if !strings.Contains(page, key) {
			t.Errorf("daolease-stream.5 says nothing of %s", key)
		}
	}
}

// The examples of facts are good ones, one of each kind.
func TestTheFactsOfThePageAreGood(t *testing.T) {
	_, page, _ := strings.Cut(formatPage(t, "daolease-stream.5"), ".Sh FACTS\n")
	page, _, found := strings.Cut(page, "\n.Sh ")
	if !found {
		t.Fatal("the page has no section of facts")
	}
	units, kinds := lease.DefaultUnits(), map[lease.Kind]int{}
	for i, block := range strings.Split(page, ".Bd -literal -compact\n")[1:] {
		example, _, _ := strings.Cut(block, "\n.Ed")
		line := []byte(example)
		if defects, err := lease.Defects(line, units); err != nil || len(defects) > 0 {
			t.Errorf("%s: %v, %v", line, defects, err)
			continue
		}
		fact, err := lease.Decode(line, units)
		if err != nil {
			t.Errorf("example %d: %v", i, err)
		}
		kinds[fact.Kind]++
	}
	for kind := lease.Proposal; kind <= lease.Tick; kind++ {
		if kinds[kind] != 1 {
			t.Errorf("there are %d examples of a %v, want one", kinds[kind], kind)
		}
	}
}

// handWritten are the pages that no command tree makes.
func handWritten(t *testing.T) []string {
	t.Helper()
	made := pages(t)
	written, err := filepath.Glob("../man/*.[57]")
	written = slices.DeleteFunc(written, func(path string) bool { return made[filepath.Base(path)] != nil })
	if err != nil || len(written) != 5 {
		t.Fatalf("%v, %v", written, err)
	}
	return written
}

func TestPagesAreSound(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("there is no mandoc here")
	}
	all, err := filepath.Glob("../man/*.[157]")
	if err != nil || len(all) < 30 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	for _, page := range all {
		if out, err := exec.Command(mandoc, "-T", "lint", "-W", "warning", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestHandWrittenPagesReferToPagesThatAreThere(t *testing.T) {
	found := 0
	for _, page := range handWritten(t) {
		for _, ref := range regexp.MustCompile(`(?m)^\.Xr (daolease\S*) (\d)`).FindAllStringSubmatch(formatPage(t, filepath.Base(page)), -1) {
			found++
			if _, err := os.Stat(filepath.Join("../man", ref[1]+"."+ref[2])); err != nil {
				t.Errorf("%s refers to %s(%s): %v", page, ref[1], ref[2], err)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d references were found", found)
	}
}

// Numbers in the page are those of the program: a duration that an example shows can be judged, and what it promises of
// a dead holder is duration + tolerance + cadence.
func TestTheNumbersOfTheHoldingPage(t *testing.T) {
	page := formatPage(t, "daolease-holding.7")
	_, rest, _ := strings.Cut(page, ".Sh EXAMPLES\n")
	_, example, _ := strings.Cut(rest, ".Bd -literal -offset indent\n")
	example, _, _ = strings.Cut(example, ".Ed")
	c, err := parseConfig("example", []byte(example))
	if err != nil {
		t.Fatalf("%v, of\n%s", err, example)
	}
	free := c.Subjects[0].Duration + c.Tolerance + c.Cadence
	if want := fmt.Sprintf("blocks for at most %d s", int(free.Seconds())); !strings.Contains(strings.ReplaceAll(page, "\n", " "), want) {
		t.Errorf("the page does not say %q", want)
	}
	durations := regexp.MustCompile(`(?m)^ +duration: (\S+)$`).FindAllStringSubmatch(rest, -1)
	if len(durations) != 3 {
		t.Fatalf("%v", durations)
	}
	for _, d := range durations {
		if span, err := parseSpan(d[1]); err != nil || span < 2*c.Cadence+c.Tolerance {
			t.Errorf("a duration of %s cannot be judged: %v", d[1], err)
		}
	}
}
