package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// asUsage makes an error of cobra's (an unknown command or flag, a wrong number of words, flags that exclude each
// other) one of usage, in this program's words, with the remedy that fits.
func asUsage(root, cmd *cobra.Command, err error) error {
	if codeOf(err) != exitFailure {
		return err
	}
	text := err.Error()
	if rest, unknown := strings.CutPrefix(text, "unknown command "); unknown {
		return unknownCommand(root, cmd, rest)
	}
	if mistake, hint, is := flagMistake(cmd, err); is {
		return usagef(hint, "%s", mistake)
	}
	if rest, missing := strings.CutPrefix(text, "required flag(s) "); missing {
		name, _, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
		return usagef(seeHelp(cmd), "--%s is wanted", name)
	}
	if set, exclusive := exclusiveSet(text); exclusive {
		return usagef(seeHelp(cmd), "%s exclude each other", andList(flagNames(cmd.Flags(), set)))
	}
	if wanted, counted := wordsWanted(cmd, text); counted {
		return usagef(seeHelp(cmd), "%s", wanted)
	}
	return usagef(seeHelp(cmd), "%w", err)
}

// wordsWanted says how many words a command wants, where cobra says that it got another number of them.
func wordsWanted(cmd *cobra.Command, text string) (wanted string, counted bool) {
	is := func(form string, parts ...any) bool {
		_, err := fmt.Sscanf(text, form, parts...)
		return err == nil
	}
	var least, most, got int
	switch {
	case is("accepts %d arg(s), received %d", &most, &got):
		least = most
	case is("accepts at most %d arg(s), received %d", &most, &got):
	case is("accepts between %d and %d arg(s), received %d", &least, &most, &got):
	default:
		return "", false
	}
	switch word := placeholder(cmd); {
	case got == 0:
		return fmt.Sprintf("one %s is wanted", word), true
	case most > 1:
		return fmt.Sprintf("at most %d words are wanted, and %d are there", most, got), true
	case least == 0:
		return fmt.Sprintf("at most one %s is wanted, and %d words are there", word, got), true
	default:
		return fmt.Sprintf("one %s is wanted, and %d words are there", word, got), true
	}
}

// placeholder is the first word of a command's Use that stands for another, as SUBJECT does.
func placeholder(cmd *cobra.Command) string {
	for _, word := range strings.Fields(cmd.Use) {
		if word = strings.Trim(word, "[]"); word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			return word
		}
	}
	return "word"
}

// exclusiveSet reads which flags were given that exclude each other.
func exclusiveSet(text string) (set []string, found bool) {
	_, rest, found := strings.Cut(text, "none of the others can be; [")
	names, _, whole := strings.Cut(rest, "] were all set")
	return strings.Fields(names), found && whole
}

// flagNames are flags as they are given, the short way where there is one.
func flagNames(flags *pflag.FlagSet, names []string) []string {
	given := slices.Clone(names)
	for i, name := range names {
		given[i] = "--" + name
		if f := flags.Lookup(name); f != nil {
			given[i] = flagName(f)
		}
	}
	return given
}

func andList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func unknownCommand(root, cmd *cobra.Command, rest string) error {
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		quoted = rest
	}
	word, err := strconv.Unquote(quoted)
	if err != nil {
		word = quoted
	}
	if cmd != root && !cmd.HasSubCommands() {
		return usagef(seeHelp(cmd), "%s: unexpected argument %q", cmd.CommandPath(), word)
	}
	hint := seeHelp(cmd)
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef(hint, "%s has no command %q", cmd.CommandPath(), word)
}

// unsetHint is the remedy where a word is there and empty.
const unsetHint = "is the variable set that was to be here?"

// emptyFlag refuses a flag that was given an empty value, which a script does whose variable is not set: to go on as if
// the flag had not been given would do something else than was meant. A text for people may be empty.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && f.Name != "note" && f.Name != "reason" {
			err = usagef(unsetHint, "%s is empty", flagName(f))
		}
	})
	return err
}

func seeHelp(cmd *cobra.Command) string { return fmt.Sprintf("see %s --help", cmd.CommandPath()) }
