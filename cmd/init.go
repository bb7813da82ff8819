package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/hooks"
	"github.com/daolease/daolease/pkg/lease"
)

type initOptions struct {
	subject, reclaim string
	duration         spanFlag
}

func (o *initOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.subject, "subject", "*", "the subjects to grant: one, or a `glob`")
	addSpan(f, &o.duration, "duration", "how long a `span` a lease lasts unrenewed (default 30s)", false)
	f.StringVar(&o.reclaim, "reclaim", "hooks/free-dir", "the `command` that takes a subject back, or none")
}

func newInitCmd(app *App) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:     "init [DIR]",
		GroupID: groupGrantor,
		Short:   "Make a composition that works as it stands",
		Long: `init makes a composition in DIR, which is made where it is missing, or in the working folder: a commented
daolease.yaml, the folders, and an example of a reclaim procedure that only says what it would do. It never
overwrites anything.`,
		Example: `  daolease init locks
  daolease init /srv/locks --subject '/srv/shared/*' --duration 1min --reclaim 'hooks/free-dir'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return runInit(cmd.Context(), app, o, dir)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func runInit(_ context.Context, app *App, o *initOptions, dir string) error {
	if app.dirFlag != "" {
		return usagef("write daolease init "+shellQuote(app.dirFlag), "init takes the folder as a word, not with -C")
	}
	dir, err := app.absolute(dir)
	if err != nil {
		return err
	}
	text, err := o.config()
	if err != nil {
		return err
	}
	config, err := parseConfig(configFile(dir), text)
	if err != nil {
		return usagef("see daolease init --help", "no such configuration can be made: %w", err)
	}
	switch there, err := compositionIn(dir); {
	case err != nil:
		return err
	case there != "":
		return fail(exitComposition, "change it there, or name another folder", "%s is there already", configFile(there))
	}
	made, err := app.makeComposition(dir, config, text)
	if err != nil {
		return fail(exitFailure, "name a folder in which you may write", "%s cannot be made: %w", configFile(dir), reasonOf(err))
	}
	c := newComposition(app, made, config)
	c.sayNext(o)
	return nil
}

// absolute is a path on the command line as an absolute one.
func (a *App) absolute(path string) (string, error) {
	if path == "" {
		return "", usagef("", "the folder's name is empty")
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	cwd, err := a.Cwd()
	if err != nil {
		return "", fail(exitFailure, "", "the working folder cannot be told: %w", err)
	}
	return filepath.Join(cwd, path), nil
}

// makeComposition writes everything, the configuration last: only with it a folder is a composition.
func (a *App) makeComposition(dir string, config *Config, text []byte) (string, error) {
	if err := a.makeFolders(dir); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	c := newComposition(a, dir, config)
	if err := c.makeGrantor(); err != nil {
		return "", err
	}
	if err := a.makeFolder(c.hooksDir(), 0o755); err != nil {
		return "", err
	}
	if err := a.createFile(filepath.Join(c.hooksDir(), "free-dir"), []byte(exampleHook), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, a.createFile(configFile(dir), text, 0o644)
}

// makeFolders makes a folder and those above it that are missing.
func (a *App) makeFolders(dir string) error {
	if fi, err := os.Stat(dir); err == nil && !fi.IsDir() {
		return fmt.Errorf("%s is no folder", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := a.makeFolders(filepath.Dir(dir)); err != nil {
		return err
	}
	return a.makeFolder(dir, 0o755)
}

// createFile makes a file that must not be there yet, with exactly this mode. One that could not be filled is
// taken away again.
func (a *App) createFile(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := a.fill(f, text, mode); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncFolder(filepath.Dir(path))
}

// sayNext tells what to do next, and what would keep a judge from starting.
func (c *Composition) sayNext(o *initOptions) {
	var b strings.Builder
	at := "daolease -C " + shellQuote(c.Dir)
	fmt.Fprintf(&b, "made %s\n", escape(configFile(c.Dir)))
	uid := c.app.UID
	if fi, err := os.Stat(c.grantorDir()); err == nil && hasOwners {
		uid, _ = ownerOf(fi) // root makes a composition for whose folder it is in
	}
	for _, f := range c.checkGrantorSide(uid) {
		fmt.Fprintf(&b, "before a judge runs: %s\n", escape(f.String()))
	}
	if words := strings.Fields(o.reclaim); o.reclaim != "none" && len(words) > 0 {
		program, err := findProgram(c.Dir, words[0])
		if err == nil {
			err = hooks.Check(program, uid)
		}
		if err != nil {
			fmt.Fprintf(&b, "before a judge runs: %s\n", oneLine(err.Error()))
		}
	}
	subject := o.subject
	if strings.ContainsAny(subject, `*?[\`) {
		subject = "build"
		if _, found := c.Config.rule(lease.StringSubject(subject)); !found {
			subject = "SUBJECT"
		}
	}
	b.WriteString("next:\n" + aligned(at, [][2]string{
		{"check", "is all as a judge wants it?"},
		{"judge", "run the judge, in a terminal or a service of its own"},
		{"hold " + shellQuote(subject) + " -- CMD", "hold a lease while CMD runs"},
		{"propose " + shellQuote(subject), "or ask for one,"},
		{"renew", "and renew it before its duration is over"},
		{"inspect", "who holds what"},
	}))
	_, _ = c.app.Err.Write([]byte(b.String())) // as everywhere, a failing stderr is nobody's concern
}

// aligned is command lines, each with what it is for, below one another.
func aligned(at string, lines [][2]string) string {
	width := 0
	for _, line := range lines {
		width = max(width, cellWidth(line[0]))
	}
	var b strings.Builder
	for _, line := range lines {
		pad := strings.Repeat(" ", width-cellWidth(line[0]))
		fmt.Fprintf(&b, "  %s %s%s  # %s\n", at, line[0], pad, line[1])
	}
	return b.String()
}

// leastInit is the least duration for which init makes a configuration: below, a judge hardly keeps up.
const leastInit = time.Second

// config writes the configuration. A short duration gets a cadence and a tolerance that it leaves room for.
func (o *initOptions) config() ([]byte, error) {
	duration, cadence, tolerance := 30*time.Second, time.Second, 2*time.Second
	if o.duration.Given {
		duration = o.duration.D
	}
	if duration < leastInit {
		return nil, usagef("", "a duration of %s is under %s", formatSpan(duration), formatSpan(leastInit))
	}
	if duration < 10*time.Second {
		cadence, tolerance = duration.Truncate(time.Second)/10, duration.Truncate(time.Second)/5
	}
	subject, err := encodeJSON(o.subject, "")
	if err != nil {
		return nil, err
	}
	reclaim, err := reclaimWords(o.reclaim)
	if err != nil {
		return nil, err
	}
	return configFor(formatSpan(cadence), formatSpan(tolerance), strings.TrimSpace(string(subject)),
		formatSpan(duration), formatSpan(max(duration, 15*time.Minute)), reclaim), nil
}

// reclaimWords is a procedure's words as YAML.
func reclaimWords(command string) (string, error) {
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return "", usagef("write none for no procedure", "the command of --reclaim is empty")
	case command == "none":
		return command, nil
	}
	text, err := encodeJSON(words, "")
	return strings.TrimSpace(string(text)), err
}

const exampleHook = `#!/bin/sh
# An example of a reclaim procedure. The judge runs it when a lease has ended, in the folder of the composition,
# before it records that. It must be idempotent: it may run again after a crash. Exit 0 means taken back; with
# anything else it is tried again later. The whole lease is JSON on stdin.
#
# Names come in as variables and are data: quote them, and never eval them.

echo "lease $DAOLEASE_LEASE of $DAOLEASE_HOLDER on \"$DAOLEASE_SUBJECT\" has ended: $DAOLEASE_CAUSE (attempt $DAOLEASE_ATTEMPT)"

# To take back a working folder, for subjects such as /srv/shared/a:
#
#   case $DAOLEASE_SUBJECT in
#   /srv/shared/*) rm -rf -- "$DAOLEASE_SUBJECT/work" ;;
#   esac
`
