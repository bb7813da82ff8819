package cmd

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// completeBlanks has the scripts for bash and zsh complete words with a blank in them, as subjects may be. cobra's own
// split such a word where it is half written, or put what several have in common on the line without its quotes.
func completeBlanks(app *App, root *cobra.Command) {
	scripts := map[string]func(w io.Writer, described bool) error{
		"bash": root.GenBashCompletionV2,
		"zsh": func(w io.Writer, described bool) error {
			if !described {
				return root.GenZshCompletionNoDesc(w)
			}
			return root.GenZshCompletion(w)
		},
	}
	for name, write := range scripts {
		cmd, _, err := root.Find([]string{"completion", name})
		if err != nil || cmd.Name() != name {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			bare, _ := cmd.Flags().GetBool("no-descriptions") // the error is one of a flag that is not there
			var text bytes.Buffer
			if err := write(&text, !bare); err != nil {
				return err
			}
			return app.print([]byte(mended(name, text.String())))
		}
	}
}

// The places of cobra's scripts that are mended.
const (
	bashCall  = "        __daolease_handle_completion_types\n"
	zshSplits = `words=("${=words[1,CURRENT]}")`
)

// bashQuote has readline put what several candidates have in common on the line as it must be written there. COMP_TYPE
// 63 is a list of them, which is for reading.
const bashQuote = `
__daolease_quote_several() {
    (( ${#COMPREPLY[@]} > 1 && COMP_TYPE != 63 )) || return 0
    local tab=$'\t' one quoted=()
    for one in "${completions[@]}"; do
        one=$(printf "%q" "${one%%$tab*}")
        [[ $one == "$cur"* ]] && quoted+=("$one")
    done
    [[ "${quoted[*]}" == *\\* ]] && COMPREPLY=("${quoted[@]}")
    return 0
}
`

// mended is cobra's script for a shell with that changed.
func mended(shell, script string) string {
	if shell == "zsh" {
		return strings.Replace(script, zshSplits, `words=("${(@)words[1,CURRENT]}")`, 1)
	}
	return strings.Replace(script, bashCall, bashCall+"        __daolease_quote_several\n", 1) + bashQuote
}
