package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cobra's scripts are as they were when they were mended, and mended.
func TestCompletionScriptsAreMended(t *testing.T) {
	for _, args := range [][]string{{"bash"}, {"bash", "--no-descriptions"}, {"zsh"}, {"zsh", "--no-descriptions"}} {
		w := newFakeWorld(t)
		code, out, _ := w.run(append([]string{"completion"}, args...)...)
		want := map[string]string{"bash": bashCall + "        __daolease_quote_several\n", "zsh": `words=("${(@)words[1,CURRENT]}")`}[args[0]]
		if code != 0 || strings.Count(out, want) != 1 || strings.Contains(out, zshSplits) {
			t.Errorf("%v: exit %d, %q is not in the script", args, code, want)
		}
		without := strings.Contains(out, "__completeNoDesc")
		if without != (len(args) > 1) {
			t.Errorf("%v: without descriptions is %v", args, without)
		}
	}
}

// What bash puts on the line is what must be written there, also where several words begin alike.
func TestBashQuotesWhatSeveralHaveInCommon(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	w := newFakeWorld(t)
	_, script, _ := w.run("completion", "bash")
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, cur, words, want string }{
		{"9", "li", "live one\theld|live two\theld|dead\theld", `live\ one|live\ two`},
		{"9", `live\ t`, "live one\theld|live two\theld", `live\ two`},
		{"9", "li", "lime\theld|lively\theld", "lime    (held)|lively  (held)"},
		{"63", "li", "live one\theld|live two\theld", "live one  (held)|live two  (held)"},
	} {
		out, err := exec.Command(bash, "--norc", "-c", `source "$1" 2>/dev/null; COLUMNS=80 COMP_TYPE=$2 cur=$3
IFS='|' read -ra completions <<<"$4"; COMPREPLY=()
__daolease_handle_completion_types; __daolease_quote_several; IFS='|'; echo "${COMPREPLY[*]}"`, "bash", path, c.kind, c.cur, c.words).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%q of %q: %q, %v, want %q", c.cur, c.words, got, err, c.want)
		}
	}
}
