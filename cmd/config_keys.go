package cmd

import (
	"fmt"
	"strings"
)

// keyText is what a key of a configuration is for, in a line: in the help, and in the file that init makes.
// daolease.yaml(5) says more.
type keyText struct{ key, byDefault, about string }

// topKeys are the keys of a configuration, those of its parts with the part before a dot.
func topKeys() []keyText {
	return []keyText{
		{"grantor", "grantor", "the grantor's name; no holder may bear it"},
		{"attribution", "path", "path: a folder's name says whose it is; owner: the user who owns it does"},
		{"cadence", "1s", "the most between two passes of the judge"},
		{"tolerance", "2s", "how long a renewal may be under way, and how far clocks may drift apart"},
		{"ticks", "host", "host: the machine's clock counts; external: whoever appends ticks owns time"},
		{"units", "ms, s, min, h, d", "the units that facts may use"},
		{"drain_budget", "65536", "how many lines of one file a pass reads at most"},
		{"retention.holders", "1MiB", "how much of each holder's facts is kept"},
		{"retention.ticks", "64KiB", "the same of each stream of readings"},
		{"retention.grantor", "complete", "the same of the grantor's stream; complete keeps everything"},
		{"retention.ledger", "64MiB", "the size from which the judge's ledger is compacted"},
		{"reclaim.parallel", "8", "how many procedures run at a time"},
		{"reclaim.wait", "500ms", "the most that one pass waits for procedures; they go on while passes continue"},
		{"reclaim.retry.initial", "1s", "the first delay after a procedure has failed, doubled each time"},
		{"reclaim.retry.max", "1min", "the most that this delay grows to"},
		{"subjects", "", "the entries, of which the first that a subject matches decides"},
	}
}

// entryKeys are the keys of an entry of subjects.
func entryKeys() []keyText {
	return []keyText{
		{"match", "", "a subject, or a glob: ** is anything, * anything without a slash; a lone *: all"},
		{"duration", "30s", "granted when none is asked; a lease that is not renewed for so long lapses"},
		{"longest", "duration", "the most that is granted, whatever is asked"},
		{"max", "none", "the most that a lease may last in all, however often it is renewed"},
		{"reclaim", "", "the procedure that takes a subject back, as its words, or none"},
		{"timeout", "30s", "how long the procedure of reclaim may run; then it is killed, and has failed"},
		{"holders", `["*"]`, "who may be granted: names or globs"},
		{"answer", "auto", "auto: the judge answers proposals; never: you do (daolease grant, refuse)"},
		{"slots", "1", "how many may hold one subject at a time; 0: any number"},
		{"limit", "64", "how many leases one holder may have under this entry; 0: any number"},
	}
}

// aboutKey is what a key is for.
func aboutKey(list []keyText, key string) string {
	for _, k := range list {
		if k.key == key {
			return k.about
		}
	}
	return ""
}

// keyLine is a key with its value, and what it is for as a comment.
func keyLine(list []keyText, before, key, value string) string {
	return fmt.Sprintf("%-26s # %s\n", before+key+": "+value, aboutKey(list, key))
}

const configTextBefore = `daolease.yaml makes a folder a composition. daolease init writes one with comments, daolease check reads it and says
with numbers how well it fits; daolease.yaml(5) has the whole of it. A key that is left out has the value in the
second column.

`

const configTextAfter = `
Choosing the numbers, the least that is to be known (daolease-holding(7) has the reasons):

duration    A dead holder's subject is free after duration + tolerance + cadence + the procedure's time. A living holder
            may be unable to write for two thirds of the duration: it renews at one third. 30s for people who wait, 5min
            for what comes by from cron once a minute.
cadence     1s for nearly all. A duration under twice the cadence plus the tolerance is refused.
tolerance   500ms on one machine, 2s on a local network, on NFS at least the time for which attributes are cached.

daolease check prints for each entry how often to renew, how many renewals may be missed, and when silence is concluded;
with --renew-every 1min it says whether renewing so often is enough.
`

// configText is what help knows about the configuration.
func configText() string {
	var b strings.Builder
	b.WriteString(configTextBefore)
	list := func(keys []keyText) {
		for _, k := range keys {
			value := k.byDefault
			if value == "" {
				value = "(required)"
			}
			fmt.Fprintf(&b, "%-21s %-16s %s\n", k.key, value, k.about)
		}
	}
	list(topKeys())
	b.WriteString("\nAn entry of subjects:\n\n")
	list(entryKeys())
	b.WriteString(configTextAfter)
	return strings.TrimSuffix(b.String(), "\n")
}

// configFor is the text of a configuration with one entry.
func configFor(cadence, tolerance, match, duration, longest, reclaim string) []byte {
	var b strings.Builder
	b.WriteString(`# A composition of daolease: who may hold what, and how it is taken back. See daolease help config, daolease.yaml(5).
# Spans are whole numbers of ms, s, min (or m), h, d, and sums of them such as 1h30min.

`)
	for _, kv := range [][2]string{{"grantor", "grantor"}, {"attribution", "path"}, {"cadence", cadence}, {"tolerance", tolerance}} {
		b.WriteString(keyLine(topKeys(), "", kv[0], kv[1]))
	}
	b.WriteString("\n# " + aboutKey(topKeys(), "subjects") + "\nsubjects:\n")
	before := "  - "
	for _, kv := range [][2]string{
		{"match", match}, {"duration", duration}, {"longest", longest}, {"max", "8h"}, {"reclaim", reclaim}, {"timeout", "30s"},
		{"holders", `["*"]`}, {"answer", "auto"}, {"slots", "1"}, {"limit", "64"},
	} {
		if kv[0] == "max" {
			before = "    # "
		}
		b.WriteString(keyLine(entryKeys(), before, kv[0], kv[1]))
		before = "    "
	}
	return []byte(b.String())
}
