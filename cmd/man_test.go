package cmd

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// With -update the pages are written anew; without it they are compared.
var update = flag.Bool("update", false, "write the man pages anew")

// manDate is what every generated page bears: a date of its own would change it with every run.
func manDate() *time.Time {
	d := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
	return &d
}

// pages renders the page of every command, by file name.
func pages(t *testing.T) map[string][]byte {
	root := newRootCmd(&App{Env: func(string) string { return "" }, In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	root.DisableAutoGenTag = true
	made := map[string][]byte{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		if isTopic(cmd) {
			made[name+".7"] = topicPage(name, cmd)
			return
		}
		var page bytes.Buffer
		header := doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: manDate(), Source: "daolease", Manual: "daolease manual"}
		if err := doc.GenMan(cmd, &header, &page); err != nil {
			t.Fatal(err)
		}
		made[name+".1"] = withExitStatus(linted(page.Bytes()), cmd)
		if more := seeAlso()[cmd.Name()]; len(more) > 0 {
			text := bytes.TrimRight(made[name+".1"], "\n")
			for _, page := range more {
				text = fmt.Appendf(text, ", \\fB%s\\fP", page)
			}
			made[name+".1"] = append(text, '\n')
		}
		if cmd == root {
			// The pages of the formats, and of how to hold, are written by hand.
			made[name+".1"] = append(bytes.TrimRight(made[name+".1"], "\n"),
				", \\fBdaolease-concepts(7)\\fP, \\fBdaolease-files(7)\\fP, \\fBdaolease-config(7)\\fP, \\fBdaolease-holding(7)\\fP, \\fBdaolease-exit-codes(7)\\fP, \\fBdaolease-json(5)\\fP, \\fBdaolease-ledger(5)\\fP, \\fBdaolease-stream(5)\\fP, \\fBdaolease.yaml(5)\\fP\n"...)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	return made
}

// seeAlso are the pages that the reader of a command's wants next.
func seeAlso() map[string][]string {
	return map[string][]string{
		"hold":    {"daolease-propose(1)", "daolease-renew(1)", "daolease-release(1)", "daolease-fence(1)", "daolease-judge(1)", "daolease-holding(7)", "daolease-exit-codes(7)", "flock(1)"},
		"fence":   {"daolease-hold(1)", "daolease-propose(1)", "daolease-concepts(7)", "daolease-holding(7)", "daolease-exit-codes(7)", "flock(1)"},
		"propose": {"daolease-hold(1)", "daolease-renew(1)", "daolease-release(1)", "daolease-why(1)", "daolease-holding(7)", "daolease-json(5)"},
		"renew":   {"daolease-hold(1)", "daolease-release(1)", "daolease-holding(7)", "daolease-json(5)", "crontab(5)"},
		"release": {"daolease-propose(1)", "daolease-revoke(1)", "daolease-holding(7)"},
		"judge":   {"daolease-check(1)", "daolease-inspect(1)", "daolease-recover(1)", "daolease-concepts(7)", "daolease.yaml(5)", "daolease-json(5)", "daolease-ledger(5)"},
		"inspect": {"daolease-why(1)", "daolease-log(1)", "daolease-timeline(1)", "daolease-json(5)"},
		"why":     {"daolease-inspect(1)", "daolease-log(1)", "daolease-timeline(1)"},
		"log":     {"daolease-inspect(1)", "daolease-why(1)", "daolease-json(5)", "daolease-stream(5)"},
		"check":   {"daolease-judge(1)", "daolease.yaml(5)", "daolease-json(5)"},
		"init":    {"daolease-check(1)", "daolease-judge(1)", "daolease-hold(1)", "daolease-files(7)", "daolease-config(7)", "daolease.yaml(5)"},
	}
}

// topicPage is the page of a topic: its text as help prints it.
func topicPage(name string, cmd *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH \"%s\" \"7\" \"%s\" \"daolease\" \"daolease manual\"\n", strings.ToUpper(name), manDate().Format("2006-01-02"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n", strings.ReplaceAll(name, "-", "\\-"), cmd.Short)
	for line := range strings.Lines(cmd.Long + "\n") {
		line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		b.WriteString(line)
	}
	b.WriteString(".fi\n.SH SEE ALSO\n\\fBdaolease(1)\\fP\n")
	return b.Bytes()
}

// linted is a generated page as mandoc has no objection to it: with options as tagged paragraphs, not behind tabs, and
// the date in full.
func linted(page []byte) []byte {
	text := strings.Replace(string(page), `"`+manDate().Format("Jan 2006")+`"`, `"`+manDate().Format("2006-01-02")+`"`, 1)
	text = regexp.MustCompile(`(?m)^(?:\.PP\n)?(.+\n)\t`).ReplaceAllString(text, ".TP\n$1")
	return []byte(text)
}

// withExitStatus puts EXIT STATUS where a reader looks for it: before SEE ALSO.
func withExitStatus(page []byte, cmd *cobra.Command) []byte {
	var section strings.Builder
	section.WriteString(".SH EXIT STATUS\n")
	for _, line := range exitStatus(cmd) {
		code, meaning, _ := strings.Cut(line, " ")
		fmt.Fprintf(&section, ".TP\n%s\n%s\n", code, strings.TrimSpace(meaning))
	}
	before, after, found := bytes.Cut(page, []byte(".SH SEE ALSO"))
	if !found {
		return append(page, section.String()...)
	}
	return []byte(string(before) + section.String() + ".SH SEE ALSO" + string(after))
}

func TestManPagesAreCurrent(t *testing.T) {
	const dir = "../man"
	want := pages(t)
	for name, page := range want {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, page, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, page) {
			t.Errorf("%s is not what the command tree says (go test ./cmd -run TestManPages -update writes it anew): %v", path, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "daolease*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if want[filepath.Base(path)] == nil {
			if *update {
				_ = os.Remove(path)
				continue
			}
			t.Errorf("%s is the page of no command", path)
		}
	}
}

// Every command shows an example and its exit codes.
func TestEveryCommandShowsHow(t *testing.T) {
	var visit func(cmd *cobra.Command, words []string)
	visit = func(cmd *cobra.Command, words []string) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" || isTopic(cmd) {
			return
		}
		var out bytes.Buffer
		app := &App{Env: func(string) string { return "" }, In: strings.NewReader(""), Out: &out, Err: &out}
		if code := app.Run(context.Background(), append(words, "--help")); code != 0 {
			t.Errorf("%v --help: exit %d", words, code)
		}
		if !cmd.HasSubCommands() && cmd.Example == "" {
			t.Errorf("%v has no example", words)
		}
		if !cmd.HasSubCommands() && !strings.Contains(out.String(), "Exit status:") {
			t.Errorf("%v --help says nothing of its exit status", words)
		}
		for _, sub := range cmd.Commands() {
			visit(sub, append(append([]string{}, words...), sub.Name()))
		}
	}
	visit(newRootCmd(&App{Env: func(string) string { return "" }, In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}), nil)
}
