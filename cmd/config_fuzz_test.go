package cmd

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// FuzzConfig reads any text as a configuration. It is refused as what it is, in one line with its place, or it
// loads; and what has loaded, written down again by its values, loads as the same.
func FuzzConfig(f *testing.F) {
	f.Add("subjects: [{match: a, reclaim: none}]")
	f.Add(strings.Join([]string{
		"grantor: g", "attribution: owner", "cadence: 1m30s", "tolerance: 0s", "ticks: external", "drain_budget: 1",
		"units: {s: 1, h: 3600, fortnight: 1209600}", "retention: {holders: 4KiB, ticks: complete, grantor: 1GiB, ledger: 9000B}",
		"reclaim: {parallel: 1, wait: 0s, retry: {initial: 0s, max: 1d}}",
		"subjects:", `- {match: "/srv/**/[a-z]?", duration: 1h, longest: 2d, max: 9d, holders: ["*@x", "b\\*"], answer: never, slots: 0, limit: 0, reclaim: [hooks/x, "\x85 \e"], timeout: 1ms}`,
	}, "\n"))
	f.Add("x: &a [*a]\nsubjects: *a\n")
	f.Add("subjects: &s [{match: &m a, reclaim: &r [*m]}, {match: *m, reclaim: *r}]\n<<: *s\n")
	f.Add("? [a]\n: b\n---\n{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("x.yaml", []byte(text))
		if err != nil {
			wantExit(t, err, exitComposition, "x.yaml")
			return
		}
		again, err := parseConfig("x.yaml", []byte(written(c)))
		if err != nil {
			t.Fatalf("%v, of\n%s", err, written(c))
		}
		for _, one := range []*Config{c, again} {
			one.lines, one.of = nil, "" // of the text, not of what it says
		}
		if !reflect.DeepEqual(c, again) {
			t.Fatalf("%+v\nwritten down\n%s\nis %+v", c, written(again), again)
		}
	})
}

// written is a configuration with the values of every key that was given.
func written(c *Config) string {
	var b strings.Builder
	line := func(key, text string) {
		if c.given(key) {
			fmt.Fprintf(&b, "%s: %s\n", key, text)
		}
	}
	line("grantor", quoted(c.Grantor))
	line("attribution", c.Attribution)
	line("cadence", formatSpan(c.Cadence))
	line("tolerance", formatSpan(c.Tolerance))
	line("ticks", c.Ticks)
	line("drain_budget", fmt.Sprint(c.DrainBudget))
	var units []string
	for name, n := range c.table {
		units = append(units, fmt.Sprintf("%s: %d", quoted(name), n))
	}
	line("units", "{"+strings.Join(units, ", ")+"}")
	k, r := c.Retention, c.Reclaim
	line("retention", fmt.Sprintf("{holders: %s, ticks: %s, grantor: %s, ledger: %s}", size(k.Holders), size(k.Ticks), size(k.Grantor), size(k.Ledger)))
	retry := []string{}
	for key, span := range map[string]time.Duration{"initial": r.Retry.Initial, "max": r.Retry.Max} {
		if c.given("reclaim.retry." + key) {
			retry = append(retry, key+": "+formatSpan(span))
		}
	}
	line("reclaim", fmt.Sprintf("{parallel: %d, wait: %s, retry: {%s}}", r.Parallel, formatSpan(r.Wait), strings.Join(retry, ", ")))
	line("subjects", "["+strings.Join(writtenRules(c), ", ")+"]")
	return b.String()
}

func writtenRules(c *Config) (entries []string) {
	for i, r := range c.Subjects {
		reclaim := "none"
		if len(r.Reclaim) > 0 {
			reclaim = list(r.Reclaim)
		}
		entry := fmt.Sprintf("match: %s, duration: %s, longest: %s, holders: %s, answer: %s, slots: %d, limit: %d, reclaim: %s, timeout: %s",
			quoted(r.Match), formatSpan(r.Duration), formatSpan(r.Longest), list(r.Holders), r.Answer, r.Slots, r.Limit, reclaim, formatSpan(r.Timeout))
		if c.given(ruleKey(i, "max")) {
			entry += ", max: " + formatSpan(r.Max)
		}
		entries = append(entries, "{"+entry+"}")
	}
	return entries
}

func quoted(text string) string { return fmt.Sprintf("%+q", text) }

func list(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = quoted(w)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func size(b byteSize) string {
	if b == 0 {
		return "complete"
	}
	return fmt.Sprintf("%dB", b)
}
