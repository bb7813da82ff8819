// Package judgetest reads the conformance scenarios and compares what a pass reported with what one expects.
// How a step is carried out is its caller's: in process, or through files and the command.
package judgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// Scenario is one story with what each of its passes must show.
type Scenario struct {
	Name        string
	Clause, Why string
	Units       map[string]int64
	Tolerance   *lease.Duration
	Cadence     *lease.Duration
	Holders     []string
	DrainBudget int `json:"drain_budget"`
	Steps       []Step
}

// Step is one step, its kind being the one key that is set among the first.
type Step struct {
	Tick    json.RawMessage
	Grant   string
	Renew   string
	Release string
	Lapsed  string
	Propose string
	Fact    json.RawMessage
	Raw     *string
	Lose    string
	Reclaim string
	Policy  []string
	Pass    json.RawMessage

	On       string
	To       string
	Subject  json.RawMessage
	Duration json.RawMessage
	Max      json.RawMessage
	Proposal string
	Cause    string
	OK       bool
}

// World carries steps out.
type World interface {
	Append(medium, line string)
	Lose(medium string)
	Procedure(subject string, ok bool)
	Policy(leases []string)
	// Pass answers the report with the ledger, as JSON.
	Pass() []byte
}

// Load reads every scenario below a folder.
func Load(dir string) ([]Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var some []Scenario
		if err := json.Unmarshal(text, &some); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no scenario in %s", dir)
	}
	for i := range all {
		all[i].defaults()
	}
	return all, nil
}

func (s *Scenario) defaults() {
	if s.Units == nil {
		s.Units = map[string]int64{"ms": 1, "s": 1000}
	}
	if s.Tolerance == nil {
		s.Tolerance = &lease.Duration{}
	}
	if s.Cadence == nil {
		s.Cadence = &lease.Duration{Unit: "ms", N: 3600000}
	}
	if s.Holders == nil {
		s.Holders = []string{"a", "b"}
	}
	if s.DrainBudget == 0 {
		s.DrainBudget = 65536
	}
}

// Play carries the steps out and answers every difference, naming its step.
func (s *Scenario) Play(w World) []string {
	var wrong []string
	for i, step := range s.Steps {
		if step.Pass == nil {
			step.carryOut(w)
			continue
		}
		for _, difference := range compare(step.Pass, w.Pass()) {
			wrong = append(wrong, fmt.Sprintf("step %d: %s", i+1, difference))
		}
	}
	return wrong
}

func (s Step) carryOut(w World) {
	on := s.On
	if on == "" {
		on = "grantor"
	}
	switch {
	case s.Tick != nil:
		w.Append("ticks", object("dao.lease/event", "dao.lease/tick", "dao.lease/reading", s.Tick))
	case s.Grant != "":
		w.Append(on, object("dao.lease/status", "dao.lease/accepted", "dao.lease/lease", s.Grant, "dao.lease/subject", s.Subject,
			"dao.lease/holder", s.To, "dao.lease/duration", s.Duration, "dao.lease/max", s.Max, "dao.lease/proposal", s.Proposal))
	case s.Renew != "":
		w.Append(on, object("dao.lease/event", "dao.lease/renewal", "dao.lease/lease", s.Renew))
	case s.Release != "":
		w.Append(on, object("dao.lease/status", "dao.lease/released", "dao.lease/lease", s.Release))
	case s.Lapsed != "":
		w.Append(on, object("dao.lease/status", "dao.lease/lapsed", "dao.lease/lease", s.Lapsed, "dao.lease/cause", s.Cause))
	case s.Propose != "":
		w.Append(on, object("dao.lease/status", "dao.lease/proposed", "dao.lease/proposal", s.Propose, "dao.lease/subject", s.Subject))
	case s.Fact != nil:
		var line bytes.Buffer
		if err := json.Compact(&line, s.Fact); err != nil {
			panic(err)
		}
		w.Append(on, line.String())
	case s.Raw != nil:
		w.Append(on, *s.Raw)
	case s.Lose != "":
		w.Lose(s.Lose)
	case s.Reclaim != "":
		w.Procedure(s.Reclaim, s.OK)
	case s.Policy != nil:
		w.Policy(s.Policy)
	default:
		panic(fmt.Sprintf("a step of no known kind: %+v", s))
	}
}

// object makes one line of keys and values, leaving out what is empty.
func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			if v != "" {
				m[pairs[i].(string)] = v
			}
		case json.RawMessage:
			if v != nil {
				m[pairs[i].(string)] = v
			}
		}
	}
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(line)
}

// compare checks the named keys of an expectation against a report.
func compare(expected, reported []byte) []string {
	var want, got map[string]any
	for text, into := range map[*[]byte]*map[string]any{&expected: &want, &reported: &got} {
		if err := json.Unmarshal(*text, into); err != nil {
			return []string{fmt.Sprintf("%v in %s", err, *text)}
		}
	}
	var wrong []string
	differ := func(key string, w, g any) {
		if !reflect.DeepEqual(w, g) {
			wrong = append(wrong, fmt.Sprintf("%s: want %v, got %v in %s", key, w, g, reported))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch w := want[key]; key {
		case "outcome", "dropped":
			differ(key, w, got[key])
		case "now":
			differ(key, span(w), span(got[key]))
		case "ledger":
			for id, fields := range w.(map[string]any) {
				row := rowOf(got, id)
				if row == nil {
					wrong = append(wrong, fmt.Sprintf("lease %s is not in the ledger: %s", id, reported))
					continue
				}
				for name, field := range fields.(map[string]any) {
					differ(id+"."+name, span(field), span(row[name]))
				}
			}
		case "leases":
			differ(key, names(w), names(leases(got)))
		case "reclaims":
			differ(key, names(w), names(only(got[key], "lease")))
		default:
			differ(key, names(w), names(got[key]))
		}
	}
	return wrong
}

func rowsOf(report map[string]any) []any {
	rows, _ := report["ledger"].([]any)
	return rows
}

func leases(report map[string]any) []any {
	ids := []any{}
	for _, r := range rowsOf(report) {
		ids = append(ids, r.(map[string]any)["lease"])
	}
	return ids
}

// only keeps one field of each object of a list.
func only(v any, field string) any {
	list, _ := v.([]any)
	out := []any{}
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m[field])
		}
	}
	return out
}

// rowOf is one row of the ledger, with the fields of its reclaim beside the others.
func rowOf(report map[string]any, id string) map[string]any {
	for _, r := range rowsOf(report) {
		row := r.(map[string]any)
		if row["lease"] != id {
			continue
		}
		if reclaim, ok := row["reclaim"].(map[string]any); ok {
			row["state"], row["cause"], row["reclaimed"] = reclaim["state"], reclaim["cause"], reclaim["ok"]
		}
		if row["unwatched"] == nil {
			row["unwatched"] = map[string]any{"ms": 0.0}
		}
		return row
	}
	return nil
}

// span turns a duration into base units, so that durations compare by value. What is none stays as it is.
func span(v any) any {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return v
	}
	if n, ok := m["s"].(float64); ok {
		return n * 1000
	}
	if n, ok := m["ms"].(float64); ok {
		return n
	}
	return v
}

// names makes a list comparable without order: lease ids, or lease and cause.
func names(v any) []string {
	list, _ := v.([]any)
	out := []string{}
	for _, item := range list {
		switch item := item.(type) {
		case string:
			out = append(out, item)
		case map[string]any:
			parts := []string{fmt.Sprint(item["lease"])}
			if cause, some := item["cause"]; some {
				parts = append(parts, fmt.Sprint(cause))
			}
			out = append(out, strings.Join(parts, " by "))
		}
	}
	slices.Sort(out)
	return out
}
