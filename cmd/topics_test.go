package cmd

import (
	"strings"
	"testing"
)

// The topics are found by help, and say what they are about.
func TestHelpTopics(t *testing.T) {
	w := newFakeWorld(t)
	for topic, parts := range map[string][]string{
		"concepts":   {"lease  ", "judge  ", "reading  ", "bound  ", "token  ", "That there is none proves nothing"},
		"files":      {"daolease.yaml  ", "grantor/ledger.jsonl", "holders/NAME/notes.json"},
		"config":     {"drain_budget  ", "retention.ledger", "limit  ", "daolease check prints"},
		"exit-codes": {"0     done", ">&-"},
	} {
		out, errs := w.must(t, 0, "help "+topic)
		says(t, out, parts...)
		if errs != "" || strings.Contains(out, "Usage:") {
			t.Errorf("help %s: %q, %q", topic, out, errs)
		}
		for line := range strings.Lines(out) {
			if cellWidth(strings.TrimSpace(line)) > 120 {
				t.Errorf("help %s: too long a line: %q", topic, line)
			}
		}
	}
	out, _ := w.must(t, 0, "help exit-codes")
	for _, meaning := range exitMeanings() {
		contains(t, strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(strings.TrimSpace(meaning)), " "))
	}
	w.must(t, exitUsage, "help nonsense")
}
