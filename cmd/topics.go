package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// topics are what help knows besides commands. Each has a page in section 7.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "concepts", Short: "What a lease, a judge, a reading and the other words mean", Long: conceptsText},
		{Use: "files", Short: "What lies where in a composition, and who writes it", Long: filesText},
		{Use: "config", Short: "The keys of daolease.yaml, and how to choose their numbers", Long: configText()},
		{Use: "exit-codes", Short: "What each exit status means", Long: exitCodesText()},
	}
}

// isTopic says that there is only help on it, and nothing to run.
func isTopic(cmd *cobra.Command) bool { return !cmd.Runnable() && !cmd.HasSubCommands() }

const conceptsText = `lease      a grant of a subject to a holder. It lapses unless it is renewed: nobody proves a holder dead, silence
           is enough.
subject    what is leased: a string, such as a path, or any JSON value. What of it is really at stake (a folder, a
           device, a connection) is taken back by a hook.
holder     who has a lease, and says so again and again: daolease propose, renew, release. A holder writes to its
           own files and nobody else's.
grantor    who has the resource and gives it out: daolease judge, grant, refuse, revoke.
judge      runs where the resource is. Each pass reads the facts, concludes which leases have ended, takes their
           subjects back with hooks, and only then records them as lapsed.
fact       one JSON object on one line of an append-only file. Who wrote it is told by the file, never by the line.
cause      why a lease ended: release (its holder gave it back), cap (it reached its max), policy (daolease
           revoke) or silence.
duration   how long a lease lasts without a renewal. Renew at a third of it.
tolerance  what the judge adds before it calls silence: time for a renewal to arrive.
cadence    the most between two passes of the judge.
bound      when a holder has to stop, by its own clock: never later than the judge can take the subject back.
reading    time as the judge counts it: running time of its machine, which stands still while that sleeps or is
           off. No fact has a time of day, and none decides anything; where one is shown it is marked ≈.
evidence   known while all that a holder could have said was read; unknown after a gap, which only ever delays
           a conclusion.
pending    concluded, and not taken back yet: the hook has not succeeded. Nobody else gets the place.
lapsed     the record of an end, written after the hook succeeded. That there is none proves nothing.
token      a number that rises with every grant. What must be exclusive refuses a lower one than it has seen.`

const filesText = `A composition is a folder with these in it. -C DIR names it, else $DAOLEASE_DIR; else it is the nearest folder upward
that has daolease.yaml or .daolease/daolease.yaml.

daolease.yaml               the rules: daolease.yaml(5)
hooks/                      how resources are taken back: programs
grantor/facts.jsonl         grants, refusals, lapsed: the grantor's stream
grantor/ticks.jsonl         the judge's readings
grantor/wall.jsonl          what time of day it was at some of them, for people
grantor/ledger.jsonl        what the judge knows, for its next incarnation; private: daolease-ledger(5)
grantor/policy.jsonl        what was revoked; private
grantor/token               the highest token given; private
grantor/judge.lock          that a judge has run here, and which one runs
grantor/run/                hooks that are running
holders/NAME/facts.jsonl    proposals, renewals, releases of NAME
holders/NAME/ticks.jsonl    NAME's readings
holders/NAME/notes.json     what NAME holds, for its next command; private

Each .jsonl is a medium: one JSON value a line, appended to, never changed: daolease-stream(5). Beside it lies .lock,
and after an eviction .1 with what came before.`

// exitCodesText is what each exit status means, in their order.
func exitCodesText() string {
	var b strings.Builder
	meanings := exitMeanings()
	for _, code := range slices.Sorted(maps.Keys(meanings)) {
		fmt.Fprintf(&b, "%-5d %s\n", code, meanings[code])
	}
	fmt.Fprintf(&b, "%-5d nobody reads stdout any more\n", exitPipe)
	b.WriteString(`
A refused command says why in one line on stderr, and mostly what to do in a second one that begins with hint:.

A stdout that cannot be written (a full disk) is 1. One that was closed before the command began (daolease inspect >&-)
cannot be told from one that was thrown away: the Go runtime opens /dev/null in its place, in the very way in which the
process libraries of Python and Node do for an output that nobody wants. So what was to be printed is lost, and the exit
status says only what became of the rest.`)
	return b.String()
}
