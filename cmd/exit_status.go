package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitMeanings is what each exit code means (SPEC 9).
func exitMeanings() map[int]string {
	return map[int]string{
		0:                "done",
		exitFailure:      "the machine failed",
		exitUsage:        "the command line is wrong",
		exitNothingHeld:  "nothing held: no grant observed, past the bound, lapsed, a stale token, or an id that is not live",
		exitRefused:      "refused",
		exitTimeout:      "timed out waiting",
		exitNotAppended:  "an append did not answer ok",
		exitComposition:  "the composition is refused",
		exitOtherJudge:   "another judge runs",
		exitLost:         "the ledger is lost",
		exitFound:        "check found something",
		exitNotReclaimed: "a reclaim has not succeeded",
		exitLeaseLost:    "the lease was lost, and CMD stopped",
		exitHeldByElse:   "the lease was not obtained: refused",
		exitWaitedOut:    "the lease was not obtained: timed out waiting",
		exitHoldFailed:   "hold itself failed: no composition, another's, ticks: external, a machine that fails",
		exitCannotExec:   "CMD cannot be executed",
		exitNoCommand:    "there is no CMD",
	}
}

// exitCodes are the codes that a command can end with besides 0, 1 and 2, by its path below the root.
func exitCodes(path string) []int {
	switch path {
	case "hold":
		return []int{exitLeaseLost, exitHeldByElse, exitWaitedOut, exitHoldFailed, exitCannotExec, exitNoCommand}
	case "propose":
		return []int{exitNothingHeld, exitRefused, exitTimeout, exitNotAppended, exitComposition}
	case "renew", "release":
		return []int{exitNothingHeld, exitRefused, exitTimeout, exitNotAppended, exitComposition}
	case "grant", "refuse":
		return []int{exitNothingHeld, exitRefused, exitNotAppended, exitComposition, exitLost}
	case "revoke":
		return []int{exitNothingHeld, exitRefused, exitTimeout, exitNotAppended, exitComposition, exitLost, exitNotReclaimed}
	case "judge":
		return []int{exitRefused, exitNotAppended, exitComposition, exitOtherJudge, exitLost, exitNotReclaimed}
	case "holder remove":
		return []int{exitNothingHeld, exitRefused, exitNotAppended, exitComposition, exitLost}
	case "recover":
		return []int{exitRefused, exitNotAppended, exitComposition, exitOtherJudge, exitNotReclaimed}
	case "holder add", "tick":
		return []int{exitRefused, exitNotAppended, exitComposition}
	case "init", "holder list":
		return []int{exitComposition}
	case "timeline":
		return []int{exitRefused, exitComposition, exitLost}
	case "log":
		return []int{exitRefused, exitComposition}
	case "inspect", "why":
		return []int{exitNothingHeld, exitRefused, exitComposition}
	case "fence":
		return []int{exitNothingHeld, exitTimeout, exitLeaseLost, exitWaitedOut, exitCannotExec, exitNoCommand}
	case "check":
		return []int{exitRefused, exitComposition, exitFound}
	}
	return nil
}

// exitStatus is the lines of a command's EXIT STATUS.
func exitStatus(cmd *cobra.Command) []string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	meanings := exitMeanings()
	if path == "fence" { // it obtains no lease
		meanings[exitLeaseLost] = "with CMD: the token is stale"
		meanings[exitWaitedOut] = "with CMD: timed out waiting for the lock"
	}
	var lines []string
	common := []int{0, exitFailure, exitUsage}
	if path == "hold" { // its codes are CMD's but for those
		lines, common = append(lines, "n   CMD's own; 128 and its number where a signal ended it, also while hold waited"), []int{exitUsage}
	}
	for _, code := range append(common, exitCodes(path)...) {
		lines = append(lines, fmt.Sprintf("%-3d %s", code, meanings[code]))
	}
	return lines
}

// addExitStatus has the help of every command that does something end with its exit codes.
func addExitStatus(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if isTopic(cmd) {
			fmt.Fprintln(cmd.OutOrStdout(), cmd.Long)
			return
		}
		help(cmd, args)
		if !cmd.HasAvailableSubCommands() {
			fmt.Fprintf(cmd.OutOrStdout(), "\nExit status:\n  %s\n", strings.Join(exitStatus(cmd), "\n  "))
		}
	})
}
