package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagMistake says what is wrong with a flag, where pflag found it, in this program's words: which flag, what was
// given, and what would be right.
func flagMistake(cmd *cobra.Command, err error) (text, hint string, is bool) {
	var (
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		unknown *pflag.NotExistError
	)
	switch {
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		return fmt.Sprintf("%s: %s", flagName(flag), valueMistake(flag, invalid)), seeHelp(cmd), true
	case errors.As(err, &missing):
		flag := missing.GetFlag()
		kind, _ := pflag.UnquoteUsage(flag)
		return fmt.Sprintf("%s wants a value: %[1]s %s", flagName(flag), kind), seeHelp(cmd), true
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = name[1:]
		}
		return fmt.Sprintf("%s has no flag %s", cmd.CommandPath(), name), flagHint(cmd, unknown.GetSpecifiedName()), true
	}
	return "", "", false
}

// valueMistake is what is wrong with a value. Flags of our own types say it themselves.
func valueMistake(flag *pflag.Flag, invalid *pflag.InvalidValueError) string {
	switch flag.Value.Type() {
	case "bool":
		return fmt.Sprintf("%q is neither true nor false; write %s alone", invalid.GetValue(), flagName(flag))
	case "int", "int64":
		return fmt.Sprintf("%q is no whole number, or too great a one", invalid.GetValue())
	}
	return invalid.Unwrap().Error()
}

// flagHint is the remedy for a flag that a command does not have: the one that was meant, where its name is near.
func flagHint(cmd *cobra.Command, name string) string {
	near := ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if len(name) > 2 && !f.Hidden && near == "" && differs(name, f.Name) <= 2 {
			near = f.Name
		}
	})
	if near != "" {
		return "did you mean --" + near + "?"
	}
	return seeHelp(cmd)
}

// differs is by how many letters left out, added or replaced two words differ.
func differs(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// flagName is a flag as it is given, the short way where there is one.
func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}
