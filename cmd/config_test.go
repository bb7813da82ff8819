package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// fullConfig is SPEC 8's, with the indentation of its entries made even.
const fullConfig = `grantor: grantor          # the grantor's name
attribution: path         # or owner
cadence: 1s
tolerance: 2s
ticks: host
units: {ms: 1, s: 1000, min: 60000, h: 3600000, d: 86400000}
drain_budget: 65536
retention: {holders: 1MiB, ticks: 64KiB, grantor: complete, ledger: 64MiB}
reclaim: {parallel: 8, wait: 500ms, retry: {initial: 1s, max: 1min}}
subjects:
  - match: "/srv/shared/*"
    duration: 30s
    longest: 15min
    max: 8h
    holders: ["*"]
    answer: auto
    slots: 1
    limit: 64
    reclaim: [hooks/free-dir]
    timeout: 30s
`

func parse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := parseConfig("daolease.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

func TestConfigOfTheSpec(t *testing.T) {
	c := parse(t, fullConfig)
	r := c.Subjects[0]
	r.subject, r.holders = glob{}, nil
	want := SubjectRule{Match: "/srv/shared/*", Duration: 30 * time.Second, Longest: 15 * time.Minute, Max: 8 * time.Hour,
		Holders: []string{"*"}, Answer: "auto", Slots: 1, Limit: 64, Reclaim: argv{"hooks/free-dir"}, Timeout: 30 * time.Second}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("entry %+v, want %+v", r, want)
	}
}

// What is left out has the value that SPEC 8 shows, but max none and longest the duration.
func TestConfigDefaults(t *testing.T) {
	short := parse(t, "subjects:\n- match: \"/srv/shared/*\"\n  reclaim: [hooks/free-dir]\n")
	full := parse(t, fullConfig)
	type plain struct {
		Grantor, Attribution, Ticks string
		Cadence, Tolerance          time.Duration
		Drain                       int
		Retention                   Retention
		Reclaim                     Reclaim
		Units                       []string
	}
	of := func(c *Config) plain {
		return plain{c.Grantor, c.Attribution, c.Ticks, c.Cadence, c.Tolerance, c.DrainBudget, c.Retention, c.Reclaim, c.Units.Names()}
	}
	if !reflect.DeepEqual(of(short), of(full)) {
		t.Errorf("defaults %+v, want %+v", of(short), of(full))
	}
	want := plain{"grantor", "path", "host", time.Second, 2 * time.Second, 65536, Retention{1 << 20, 64 << 10, 0, 64 << 20},
		Reclaim{8, 500 * time.Millisecond, Retry{time.Second, time.Minute}}, []string{"ms", "s", "min", "h", "d"}}
	if !reflect.DeepEqual(of(full), want) {
		t.Errorf("values %+v, want %+v", of(full), want)
	}
	r := short.Subjects[0]
	if r.Duration != 30*time.Second || r.Longest != r.Duration || r.Max != 0 || r.Answer != "auto" || r.Slots != 1 ||
		r.Limit != 64 || r.Timeout != 30*time.Second || !reflect.DeepEqual(r.Holders, []string{"*"}) {
		t.Errorf("entry %+v", r)
	}
	if r := parse(t, tinyConfig+"    duration: 5min\n").Subjects[0]; r.Longest != 5*time.Minute {
		t.Errorf("longest %v, want the duration", r.Longest)
	}
	if r := parse(t, tinyConfig+"    slots: 0\n    limit: 0\n").Subjects[0]; r.Slots != 0 || r.Limit != 0 {
		t.Errorf("a zero that is given is no default: %+v", r)
	}
	half := parse(t, "retention: {ticks: 8KiB}\nreclaim: {retry: {initial: 0s}}\n"+tinyConfig)
	if half.Retention != (Retention{1 << 20, 8 << 10, 0, 64 << 20}) || half.Reclaim != (Reclaim{8, 500 * time.Millisecond, Retry{0, time.Minute}}) {
		t.Errorf("half given: %+v %+v", half.Retention, half.Reclaim)
	}
}

// The case of words and of unit names is kept, and a table that is given replaces the default one.
func TestConfigKeepsCase(t *testing.T) {
	c := parse(t, "grantor: Boss.X@h\nticks: external\nunits: {S.x: 1, s: 2, FORTNIGHT: 4}\nsubjects: [{match: \"/A/b.C\", holders: [Al], reclaim: [hooks/Free, --Now]}]\n")
	if got := c.Units.Names(); !reflect.DeepEqual(got, []string{"S.x", "s", "FORTNIGHT"}) {
		t.Errorf("units %v", got)
	}
	if c.Grantor != "Boss.X@h" || c.Subjects[0].Match != "/A/b.C" || !reflect.DeepEqual(c.Subjects[0].Reclaim, argv{"hooks/Free", "--Now"}) {
		t.Errorf("%+v", c)
	}
}

func TestConfigAliases(t *testing.T) {
	c := parse(t, "cadence: &c 3s\ntolerance: *c\nsubjects:\n- &r {match: a, reclaim: none}\n- *r\n")
	if c.Tolerance != 3*time.Second || len(c.Subjects) != 2 || c.Subjects[1].Match != "a" {
		t.Errorf("%+v", c)
	}
}

// Each refusal names file, line and key, and what would be right; all are exit 7.
func TestConfigRefusals(t *testing.T) {
	with := func(line string) string { return line + "\n" + tinyConfig }
	entry := func(line string) string { return tinyConfig + "    " + line + "\n" }
	for _, c := range []struct{ text, at, right string }{
		{with("rooot: x"), `1: rooot: unknown key`, "known here: attribution, cadence, drain_budget, grantor, reclaim, retention, subjects, ticks, tolerance, units"},
		{with("foo: {}"), `1: foo: unknown key`, ""},
		{with("bar:"), `1: bar: unknown key`, ""},
		{with("Grantor: x"), `1: Grantor: unknown key`, ""},
		{with("? [a]\n: b"), `1: `, "unknown key"},
		{with("<<: {grantor: x}"), `1: <<: unknown key`, ""},
		{with("grantor: a\ngrantor: b"), `2: grantor: is given twice`, "line 1"},
		{with("grantor:"), `1: grantor: nothing is no name`, ""},
		{with("grantor: 12"), `1: grantor: "12" is no name`, "quote"},
		{with("grantor: -a"), `1: grantor: name "-a"`, "write a name of letters"},
		{with("grantor: \"\""), `1: grantor: `, "write a name"},
		{with("grantor: {}"), `1: grantor: keys with values where a single value belongs`, ""},
		{with("attribution: file"), `1: attribution: "file" is not known`, "write path or owner"},
		{with("ticks: true"), `1: ticks: "true" is not known`, "write host or external"},
		{with("cadence: 5"), `1: cadence: "5" has no unit`, "write 5s, 5ms"},
		{with("cadence: 1.5"), `1: cadence: "1.5" is no span of time`, "write a span"},
		{with("cadence: 0s"), `1: cadence: 0s is not more than nothing`, "write a span"},
		{with("cadence: -1s"), `1: cadence: "-1s" is no span`, ""},
		{with("cadence: [1s]"), `1: cadence: a list where`, "write a span"},
		{with("tolerance: 0"), `1: tolerance: "0" has no unit`, "0s"},
		{with("tolerance: -2s"), `1: tolerance: "-2s" is no span`, ""},
		{with("units: {ms: 2, s: 3}"), `1: units: `, "must divide"},
		{with("units: {ms: 1, x: 1}"), `1: units: `, ""},
		{with("units: {ms: 0}"), `1: units: `, ""},
		{with("units: {ms: 9007199254740993}"), `1: units: `, ""},
		{with("units: {s: 1}"), `1: units: ticks: host needs the unit ms`, "set ticks: external"},
		{with("units: {}"), `1: units: `, ""},
		{with("units: [ms]"), `1: units: a list where`, ""},
		{with("units: {ms: 1s}"), `1: units.ms: "1s" is no number`, "plain decimal"},
		{with("units: {ms: 010}"), `1: units.ms: "010" is no number`, ""},
		{with("units:\n  ms: 1\n  s: 100"), `3: units.s: s is not 1000 ms`, "1000 times ms"},
		{with("ticks: external\nunits: {beat: 1}"), `2: units: none of ms, s, min, h, d`, "add one"},
		{with("ticks: external\nunits: {s: 1}\ntolerance: 500ms"), `3: tolerance: 500ms is no whole number of s`, ""},
		{with("drain_budget: 0"), `1: drain_budget: 0 is not between 1 and`, ""},
		{with("drain_budget: 1e3"), `1: drain_budget: "1e3" is no number`, "plain decimal"},
		{with("drain_budget: 0x10"), `1: drain_budget: "0x10" is no number`, ""},
		{with("drain_budget: 99999999999999999999"), `1: drain_budget: `, ""},
		{with("drain_budget: \"5\""), `1: drain_budget: "5" is no number`, ""},
		{with("retention: {ticks: 4095B}"), `1: retention.ticks: "4095B" is less than 4KiB`, "at least 4KiB"},
		{with("retention: {holders: 3KiB}"), `1: retention.holders: "3KiB" is less than 4KiB`, ""},
		{with("retention: {grantor: 65536}"), `1: retention.grantor: 65536 has no unit`, "64KiB"},
		{with("retention: {ledger: 64MB}"), `1: retention.ledger: "64MB" has an unknown unit "MB"`, ""},
		{with("retention: {ledger: all}"), `1: retention.ledger: "all" is no size`, "or complete"},
		{with("retention: {ledger: 99999999999GiB}"), `1: retention.ledger: "99999999999GiB" is too great`, ""},
		{with("retention: {wall: 64KiB}"), `1: retention.wall: unknown key`, "grantor, holders, ledger, ticks"},
		{with("reclaim: {parallel: 0}"), `1: reclaim.parallel: 0 is not between 1 and 1024`, ""},
		{with("reclaim: {parallel: 1025}"), `1: reclaim.parallel: 1025 is not between`, ""},
		{with("reclaim: none"), `1: reclaim: "none" where keys`, "parallel, retry, wait"},
		{with("reclaim:\n  retry:\n    max: 500ms"), `3: reclaim.retry.max: 500ms is less than initial, 1s`, "at least initial"},
		{with("reclaim: {retry: {initial: 2min}}"), `1: reclaim.retry.max: 1min is less than initial, 2min`, ""},
		{"cadence: 1s\n", `1: subjects: there is none`, "at least one entry"},
		{"", `1: subjects: there is none`, ""},
		{"subjects: []\n", `1: subjects: there is none`, ""},
		{"subjects: {match: a}\n", `1: subjects: keys with values where a list belongs`, ""},
		{"subjects:\n- a\n", `2: subjects[0]: "a" where keys`, ""},
		{"subjects:\n- {reclaim: none}\n", `2: subjects[0].match: is missing`, "pattern such as"},
		{"subjects:\n- {match: a, reclaim: none}\n- match: b\n  slots: 2\n", `3: subjects[1].reclaim: is missing`, "or none"},
		{"subjects:\n- {match: \"\", reclaim: none}\n", `2: subjects[0].match: is empty`, ""},
		{"subjects:\n- {match: 12, reclaim: none}\n", `2: subjects[0].match: "12" is no word`, "quote"},
		{"subjects:\n- {match: \"[a\", reclaim: none}\n", `2: subjects[0].match: pattern "[a"`, "backslash"},
		{"subjects:\n- {match: a, reclaim: nothing}\n", `2: subjects[0].reclaim: "nothing" where a list belongs`, "or none"},
		{"subjects:\n- {match: a, reclaim: []}\n", `2: subjects[0].reclaim: is an empty list`, "or none"},
		{"subjects:\n- {match: a, reclaim: [sleep, 5]}\n", `2: subjects[0].reclaim[1]: "5" is no word`, "quote"},
		{"subjects:\n- {match: a, reclaim: [sleep, \"a\\0b\"]}\n", `2: subjects[0].reclaim[1]: has a NUL`, ""},
		{"subjects:\n- {match: a, reclaim: [\"\"]}\n", `2: subjects[0].reclaim[0]: is empty`, ""},
		{entry("tttl: 5s"), `4: subjects[0].tttl: unknown key`, "timeout"},
		{entry("duration: 1h\n    longest: 30s"), `4: subjects[0].duration: 1h is above longest, 30s`, "raise longest"},
		{entry("longest: 10s"), `subjects[0].duration: 30s is above longest, 10s`, ""},
		{entry("duration: 0s"), `4: subjects[0].duration: 0s is not more`, ""},
		{entry("max: 0s"), `4: subjects[0].max: 0s is not more`, ""},
		{entry("timeout: 0s"), `4: subjects[0].timeout: 0s is not more`, ""},
		{entry("answer: yes"), `4: subjects[0].answer: "yes" is not known`, "auto or never"},
		{entry("slots: -1"), `4: subjects[0].slots: "-1" is no number`, ""},
		{entry("limit: 9999999"), `4: subjects[0].limit: 9999999 is not between`, ""},
		{entry("holders: []"), `4: subjects[0].holders: is an empty list`, `["*"]`},
		{entry("holders: \"*\""), `4: subjects[0].holders: "*" where a list belongs`, ""},
		{entry("holders: [a, 5]"), `4: subjects[0].holders[1]: "5" is no word`, ""},
		{entry("holders: [\"[\"]"), `4: subjects[0].holders: pattern`, ""},
		{with("a: [") + "x", `this is no YAML`, ""},
		{with("grantor: a\n\tb: c"), `this is no YAML`, ""},
		{tinyConfig + "---\ngrantor: x\n", `4: a second YAML document`, "one document"},
		{with("[a]"), ``, "this is no YAML"},
		{"[a]\n", `1: a list where keys`, ""},
		{"grantor: \x01\n", `this is no YAML`, ""},
	} {
		_, err := parseConfig("daolease.yaml", []byte(c.text))
		if err == nil {
			t.Errorf("no refusal of\n%s", c.text)
			continue
		}
		prefix := "daolease.yaml:"
		if !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), c.at) || !strings.Contains(err.Error(), c.right) {
			t.Errorf("%v\nwant %s%s … %s for\n%s", err, prefix, c.at, c.right, c.text)
		}
		if codeOf(err) != exitComposition {
			t.Errorf("exit %d: %v", codeOf(err), err)
		}
	}
}

func TestConfigFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "daolease.yaml")
	for name, make := range map[string]func() error{
		"missing": func() error { return nil },
		"folder":  func() error { return os.Mkdir(path, 0o755) },
		"fifo":    func() error { return makeFIFO(path) },
		"long":    func() error { return os.WriteFile(path, make([]byte, maxConfig+1), 0o644) },
	} {
		if err := make(); errors.Is(err, errors.ErrUnsupported) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		_, err := loadConfig(path)
		wantExit(t, err, exitComposition, path)
		_ = os.Remove(path)
		_ = name
	}
	if err := os.WriteFile(path, []byte("rooot: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := loadConfig(path)
	wantExit(t, err, exitComposition, path+":1: rooot: ")
}

func TestSpansInUnits(t *testing.T) {
	c := parse(t, tinyConfig)
	for d, want := range map[time.Duration]lease.Duration{
		0: {Unit: "ms", N: 0}, 1500 * time.Millisecond: {Unit: "ms", N: 1500}, 90 * time.Second: {Unit: "s", N: 90},
		15 * time.Minute: {Unit: "min", N: 15}, 48 * time.Hour: {Unit: "d", N: 2},
	} {
		got, err := c.duration(d)
		if err != nil || got != want {
			t.Errorf("%v = %v, %v; want %v", d, got, err, want)
		}
		n, err := c.base(d)
		if err != nil || c.span(n) != d {
			t.Errorf("%v is %d base units, %v, and back %v", d, n, err, c.span(n))
		}
	}
	odd := parse(t, "ticks: external\nunits: {s: 3, min: 180, long: 1800}\n"+tinyConfig)
	if n, err := odd.base(time.Minute); err != nil || n != 60 {
		t.Errorf("base units are of the finest unit: %d, %v", n, err)
	}
	if _, err := odd.base(time.Millisecond); err == nil {
		t.Error("1 ms was expressed in seconds")
	}
	if got := odd.baseUp(1500 * time.Millisecond); got != 2 {
		t.Errorf("rounded up: %d", got)
	}
	if got, _ := odd.duration(10 * time.Minute); got != (lease.Duration{Unit: "long", N: 1}) {
		t.Errorf("the coarsest unit: %v", got)
	}
	fine := parse(t, "units: {us: 1, ms: 1000}\n"+tinyConfig)
	if n, err := fine.base(time.Second); err != nil || n != 1_000_000 {
		t.Errorf("finer than ms: %d, %v", n, err)
	}
	if got := fine.span(1500); got != 1500*time.Microsecond {
		t.Errorf("and back: %v", got)
	}
	third := parse(t, "ticks: external\nunits: {third: 1, s: 3}\nsubjects: [{match: a, reclaim: none}]\n")
	if _, err := third.base(500 * time.Millisecond); err == nil {
		t.Error("half a second is no number of thirds")
	}
	huge := parse(t, fmt.Sprintf("units: {fine: 1, ms: %d}\ncadence: 1ms\ntolerance: 1ms\nreclaim: {retry: {initial: 0s, max: 1ms}}\n"+
		"subjects: [{match: a, reclaim: none, duration: 1ms}]\n", int64(lease.Limit)))
	if _, err := huge.base(2 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "2^52") {
		t.Errorf("over the bound: %v", err)
	}
	if got := huge.baseUp(time.Hour); got != lease.Limit {
		t.Errorf("bounded: %d", got)
	}
	if got := parse(t, tinyConfig).span(lease.Limit); got != 1<<63-1 {
		t.Errorf("the longest: %v", got)
	}
}

// Defaults that a coarse table cannot express are no reason to refuse it.
func TestCoarseTable(t *testing.T) {
	c := parse(t, "ticks: external\nunits: {min: 1}\nsubjects: [{match: a, reclaim: none, duration: 5min}]\n")
	if got := c.baseUp(c.Cadence); got != 1 {
		t.Errorf("cadence %d", got)
	}
}

func TestStartOnly(t *testing.T) {
	old := parse(t, tinyConfig)
	changed := parse(t, "grantor: g\nattribution: owner\nticks: external\nunits: {s: 1}\n"+tinyConfig)
	if got := changed.startOnly(old); !reflect.DeepEqual(got, []string{"grantor", "attribution", "ticks", "units"}) {
		t.Errorf("%v", got)
	}
	if got := parse(t, "cadence: 5s\ntolerance: 3s\n"+tinyConfig).startOnly(old); got != nil {
		t.Errorf("%v", got)
	}
}

func TestLiveLeaseWithoutEntry(t *testing.T) {
	c := parse(t, "subjects: [{match: \"/a/*\", reclaim: none}]\n")
	ms := lease.Duration{Unit: "ms", N: 1}
	if err := c.carries("L1", lease.StringSubject("/a/b"), ms, lease.Duration{}); err != nil {
		t.Error(err)
	}
	wantExit(t, c.carries("L1", lease.StringSubject("/b"), ms), exitComposition, `"L1"`, `"/b"`)
	wantExit(t, c.carries("L1", lease.StringSubject("/a/b"), lease.Duration{Unit: "week", N: 1}), exitComposition, `"L1"`, "week")
}

func TestAssemble(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "hooks", "good")
	writeFile(t, good, "#!/bin/sh\n", 0o755)
	writeFile(t, filepath.Join(dir, "hooks", "norun"), "#!/bin/sh\n", 0o644)
	writeFile(t, filepath.Join(dir, "hooks", "open"), "#!/bin/sh\n", 0o777)
	assemble := func(reclaim string) (*Config, error) {
		c := parse(t, "subjects:\n- match: a\n  reclaim: "+reclaim+"\n")
		return c, c.assemble(dir, os.Geteuid())
	}
	c, err := assemble("[hooks/good, --now]")
	if err != nil || !reflect.DeepEqual(c.Subjects[0].Command, []string{good, "--now"}) {
		t.Errorf("%v, %v", c.Subjects[0].Command, err)
	}
	if c, err := assemble("none"); err != nil || c.Subjects[0].Command != nil {
		t.Errorf("none: %v, %v", c.Subjects[0].Command, err)
	}
	if c, err := assemble("[" + good + "]"); err != nil || c.Subjects[0].Command[0] != good {
		t.Errorf("absolute: %v, %v", c.Subjects[0].Command, err)
	}
	if c, err := assemble("[sh, -c, \"true\"]"); err != nil || !strings.HasPrefix(c.Subjects[0].Command[0], "/") {
		t.Errorf("looked up: %v, %v", c.Subjects[0].Command, err)
	}
	for reclaim, part := range map[string]string{
		"[hooks/gone]": "is missing", "[hooks/norun]": "chmod +x", "[hooks/open]": "chmod go-w", "[no-such-program-anywhere]": "no program",
	} {
		_, err := assemble(reclaim)
		wantExit(t, err, exitComposition, "daolease.yaml:3: subjects[0].reclaim: ", part)
	}
}

// A hook is looked up in the fixed path, not in the caller's.
func TestHooksIgnorePATH(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "mine-alone"), "#!/bin/sh\n", 0o755)
	t.Setenv("PATH", dir)
	c := parse(t, "subjects: [{match: a, reclaim: [mine-alone]}]\n")
	wantExit(t, c.assemble(dir, os.Geteuid()), exitComposition, "no program")
}
