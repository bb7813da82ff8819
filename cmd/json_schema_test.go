package cmd

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

// schema is the keys of one section of daolease-json(5), with the kind of value that the page says they have.
type schema map[string]string

// schemas reads the page.
func schemas(t *testing.T) map[string]schema {
	t.Helper()
	all := map[string]schema{}
	section := ""
	for line := range strings.Lines(formatPage(t, "daolease-json.5")) {
		line = strings.TrimSpace(line)
		if title, is := strings.CutPrefix(line, ".Ss "); is {
			section = strings.ReplaceAll(title, `\-`, "-")
			all[section] = schema{}
		}
		if item, is := strings.CutPrefix(line, ".It Cm "); is {
			key, kind, _ := strings.Cut(item, " No ")
			all[section][key] = strings.Trim(kind, "()")
		}
	}
	return all
}

// jsonKeys are the keys of a struct as encoding/json writes it.
func jsonKeys(types ...any) map[string]bool {
	keys := map[string]bool{}
	for _, one := range types {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(one)) {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
				keys[key] = true
			}
		}
	}
	return keys
}

// The page has every key that is printed for programs, in the section where it belongs, and no other.
func TestEveryKeyForProgramsIsOnThePage(t *testing.T) {
	want := map[string][]any{
		"Leases: inspect": {inspection{}}, "judge": {judgeState{}}, "leases": {leaseRow{}}, "proposals": {proposalRow{}},
		"Facts: log": {historyLine{}}, "Findings: check": {checkReport{}}, "findings": {checkFinding{}}, "sizing": {sizing{}},
		"One lease: propose, grant, renew": {leaseView{}}, "Holders: holder list": {holderRow{}}, "Passes: judge --once and --step": {judge.Report{}},
		"failed and drops": {judge.Failure{}, judge.Drop{}}, "reclaims, lapsed and pending": {judge.Reclaim{}, judge.Ended{}, judge.Waiting{}},
		"ledger": {judge.Row{}, judge.ReclaimState{}}, "Conclusions: judge --dry-run": {judge.Conclusion{}},
	}
	page := schemas(t)
	delete(page, logSection) // TestTheLogForProgramsIsOnThePage holds it
	if len(page) != len(want) {
		t.Errorf("the page has the sections %q", slices.Sorted(maps.Keys(page)))
	}
	for section, types := range want {
		keys := jsonKeys(types...)
		for key := range keys {
			if page[section][key] == "" {
				t.Errorf("%s: nothing is said of %s", section, key)
			}
		}
		for key := range page[section] {
			if !keys[key] {
				t.Errorf("%s: %s is printed by nothing", section, key)
			}
		}
	}
}

const logSection = "Log: judge --log-format json"

// What a judge says as JSON has the keys of the page, and each of them is somewhere in a life with an error.
func TestTheLogForProgramsIsOnThePage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\nexit 1\n", 0o755)
	w.composition(t, "subjects:\n  - match: stuck\n    reclaim: [hooks/take]\n  - match: \"*\"\n    reclaim: none\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "stuck", "alice", ""), writtenGrant("L2", "build", "alice", ""))
	appendTo(t, w.factsOf("alice"), releaseOf("L1"), releaseOf("L2"))
	_, said := w.must(t, exitNotReclaimed, "judge --once --log-format json")
	page, seen, events := schemas(t), map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(said) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var record map[string]any
		if err := d.Decode(&record); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		conforms(t, page, logSection, record)
		for key := range record {
			seen[key] = true
		}
		if event, is := record["event"].(string); is {
			events[event] = true
		}
	}
	for key := range page[logSection] {
		if !seen[key] {
			t.Errorf("%s is in no record", key)
		}
	}
	text := formatPage(t, "daolease-json.5")
	for event := range events {
		contains(t, text[strings.Index(text, ".It Cm event"):], event)
	}
}

// conforms holds a value against what a section says of its keys. Lists and objects within are held against the
// sections of their names.
func conforms(t *testing.T, page map[string]schema, section string, value any) {
	t.Helper()
	object, is := value.(map[string]any)
	if !is {
		t.Errorf("%s is %v", section, value)
		return
	}
	within := map[string]string{
		"leases": "leases", "proposals": "proposals", "judge": "judge", "facts": "Facts: log", "findings": "findings", "sizing": "sizing",
		"drops": "failed and drops", "failed": "failed and drops", "reclaims": "reclaims, lapsed and pending", "ledger": "ledger", "reclaim": "ledger",
	}
	if section == "Passes: judge --once and --step" {
		within["lapsed"], within["pending"] = "reclaims, lapsed and pending", "reclaims, lapsed and pending"
	}
	for key, v := range object {
		kind := page[section][key]
		ok := v == nil || kind == "any"
		switch v := v.(type) {
		case string:
			ok = ok || kind == "string"
		case bool:
			ok = ok || kind == "bool"
		case json.Number:
			ok = ok || kind == "number"
		case []any:
			ok = ok || kind == "array"
			for _, one := range v {
				if within[key] != "" {
					conforms(t, page, within[key], one)
				}
			}
		case map[string]any:
			isSpan := len(v) == 1
			ok = ok || kind == "object" || (kind == "reading" || kind == "duration") && isSpan
			if kind == "object" && within[key] != "" {
				conforms(t, page, within[key], v)
			}
		}
		if !ok {
			t.Errorf("%s: %s is %v, and the page says %q", section, key, v, kind)
		}
	}
}

// What the commands print is what the page says.
func TestOutputForProgramsConforms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\nexit 1\n", 0o755)
	w.composition(t, "subjects:\n  - match: stuck\n    reclaim: [hooks/take]\n  - match: hand\n    reclaim: none\n    answer: never\n  - match: \"*\"\n    reclaim: none\n    max: 1h\n")
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "stuck", "alice", `,"daolease/token":1`), writtenGrant("L2", "build", "bob", `,"dao.lease/max":{"s":9}`), "junk")
	appendTo(t, w.factsOf("alice"), releaseOf("L1"), proposalFor("P1", "hand", `,"daolease/note":"please"`), "junk")
	appendTo(t, w.factsOf("bob"), proposalFor("P2", "third", ""))
	page := schemas(t)
	check := func(section, args string, code int) {
		t.Helper()
		out, _ := w.must(t, code, args)
		docs := 0
		for d := json.NewDecoder(bytes.NewReader([]byte(out))); d.More(); docs++ {
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%s: %v in %s", args, err, out)
			}
			if list, is := v.([]any); is {
				for _, one := range list {
					conforms(t, page, section, one)
				}
				continue
			}
			conforms(t, page, section, v)
		}
		if docs == 0 {
			t.Errorf("%s printed nothing", args)
		}
	}
	check("Leases: inspect", "inspect --all -o json", 0) // what the media let anyone conclude
	check("Conclusions: judge --dry-run", "judge --dry-run -o json", 0)
	check("Passes: judge --once and --step", "judge --once -o json", exitNotReclaimed)
	w.clock.run(10_000)
	w.In = strings.NewReader("\n")
	check("Passes: judge --once and --step", "judge --step --ledger", 0)
	for args, section := range map[string]string{
		"inspect -o json": "Leases: inspect", "inspect --all -o jsonl": "leases", "inspect L1 -o json": "Leases: inspect", "inspect --proposals -o json": "Leases: inspect",
		"inspect --proposals -o jsonl": "proposals", "inspect --at 5s -o json": "Leases: inspect", "log --all --ticks -o jsonl": "Facts: log",
		"--as carol propose fourth --async -o json": "One lease: propose, grant, renew", "grant fifth dave -o json": "One lease: propose, grant, renew",
		"holder list -o json": "Holders: holder list",
	} {
		check(section, args, 0)
	}
	check("Findings: check", "check --live -o json", exitFound)
	check("findings", "check -o jsonl", exitFound)
}
