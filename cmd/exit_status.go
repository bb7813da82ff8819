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

		exitLeaseLost:  "with CMD: the lease is lost, or its token stale",
		exitWaitedOut:  "with CMD: timed out waiting",
		exitCannotExec: "CMD cannot be executed",
		exitNoCommand:  "CMD is not found",
	}
}

// exitCodes are the codes that a command can end with besides 0, 1 and 2, by its path below the root.
func exitCodes(path string) []int {
	switch path {
	case "propose":
		return []int{exitNothingHeld, exitRefused, exitTimeout, exitNotAppended, exitComposition}
	case "renew", "release":
		return []int{exitNothingHeld, exitRefused, exitTimeout, exitNotAppended, exitComposition}
	case "grant", "refuse":
		return []int{exitNothingHeld, exitRefused, exitNotAppended, exitComposition, exitLost}
	case "revoke":
		return []int{exitNothingHeld, exitRefused, exitTimeout, exitNotAppended, exitComposition, exitLost, exitNotReclaimed}
	case "judge":
		return []int{exitRefused, exitComposition, exitOtherJudge, exitLost, exitNotReclaimed}
	case "holder remove":
		return []int{exitNothingHeld, exitRefused, exitNotAppended, exitComposition, exitLost}
	case "recover":
		return []int{exitRefused, exitNotAppended, exitComposition, exitOtherJudge, exitNotReclaimed}
	case "holder add", "tick":
		return []int{exitRefused, exitNotAppended, exitComposition}
	case "init", "holder list", "log":
		return []int{exitComposition}
	case "inspect":
		return []int{exitNothingHeld, exitComposition}
	case "fence":
		return []int{exitNothingHeld, exitTimeout, exitLeaseLost, exitWaitedOut, exitCannotExec, exitNoCommand}
	case "check":
		return []int{exitComposition, exitFound}
	}
	return nil
}

// exitStatus is the lines of a command's EXIT STATUS.
func exitStatus(cmd *cobra.Command) []string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	meanings := exitMeanings()
	var lines []string
	for _, code := range append([]int{0, exitFailure, exitUsage}, exitCodes(path)...) {
		lines = append(lines, fmt.Sprintf("%-3d %s", code, meanings[code]))
	}
	return lines
}

// addExitStatus has the help of every command that does something end with its exit codes.
func addExitStatus(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		help(cmd, args)
		if !cmd.HasAvailableSubCommands() {
			fmt.Fprintf(cmd.OutOrStdout(), "\nExit status:\n  %s\n", strings.Join(exitStatus(cmd), "\n  "))
		}
	})
}
