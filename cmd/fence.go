package cmd

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

type fenceOptions struct {
	state string
	show  bool
	wait  spanFlag
}

func (o *fenceOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.state, "state", "", "the `file` that keeps the highest token honoured, beside the resource")
	f.BoolVar(&o.show, "show", false, "print the highest token honoured, 0 before the first; admit nothing")
	addSpan(f, &o.wait, "wait", "how long a `span` to wait while another has the lock (default: inf)", true)
	cmd.MarkFlagsMutuallyExclusive("show", "wait")
}

func newFenceCmd(app *App) *cobra.Command {
	o := &fenceOptions{}
	cmd := &cobra.Command{
		Use:     "fence [TOKEN] --state FILE [-- CMD...]",
		GroupID: groupAnyone,
		Short:   "The guard at the resource: admit no token that is older than one honoured",
		Long: `fence is called where the resource is, by whatever changes it. A lease bounds its holder's attention, and not its
access: a holder that was paused past its bound may still write when it wakes. The tokens of leases only rise, so
the resource can tell: fence admits a TOKEN (default: $DAOLEASE_TOKEN) that is at least as high as the highest
honoured, and no lower one.

Under the lock of FILE.lock it first has the new highest on disk in FILE, and then executes CMD in its own place
(the same process, the same id) with the lock inherited, so that check and act are one: nobody with another token
comes between. What CMD leaves running in the background keeps the lock too, unless it closes the descriptor.
Without CMD the token is only checked and noted, and another may be honoured a moment later.

FILE holds the highest token in decimal digits and a newline, and nothing else. It is replaced by rename, so that a
crash at any point leaves the old or the new, and never admits an older token. Where FILE is missing this is the
first use, which is said. Anything else in it, an empty file included, admits nobody: write the highest token that
is known to have been honoured into it, after looking at the resource. A link is followed, and the lock lies beside
what it names; a device, a FIFO or a folder is refused. Neither file may be removed while the resource is in use.
fence needs no composition, and asks nobody: it may run where daolease knows no other file.

Without CMD a stale token exits 3, and a lock not had in time 5. With CMD these are 122 and 124, and every other
code is CMD's own, or that of a failure of fence: 1 and 2 as ever, 126 for a CMD that cannot be executed, 127 for
one that is not found.`,
		Example: `  daolease fence --state /srv/reports.fence -- mv report.new /srv/reports/monthly
  daolease fence 7 --state /srv/reports.fence --wait 5s -- sh -c 'cat >>/srv/reports/log'
  daolease fence --show --state /srv/reports.fence`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFence(cmd.Context(), app, o, args, cmd.ArgsLenAtDash())
		},
	}
	o.addFlags(cmd)
	return cmd
}

// runFence reads the words: dash is how many of them stand before --, or negative where there is none.
func runFence(ctx context.Context, app *App, o *fenceOptions, words []string, dash int) error {
	var argv []string
	if dash >= 0 {
		if words, argv = words[:dash], words[dash:]; len(argv) == 0 {
			return usagef("", "a command is wanted after --")
		}
	}
	switch {
	case o.state == "":
		return usagef("it lies beside the resource, on the same disk: --state FILE", "--state is wanted: the file that keeps the highest token honoured")
	case o.show && (len(words) > 0 || argv != nil):
		return usagef("", "--show admits nothing: it takes neither TOKEN nor CMD")
	case len(words) > 1:
		return usagef("a command stands after --: daolease fence TOKEN --state FILE -- CMD", "more than one TOKEN: %q", words)
	}
	g, err := newGuard(app, filepath.Clean(o.state))
	if err != nil {
		return err
	}
	if o.show {
		return g.show()
	}
	token, err := app.readToken(words)
	if err != nil {
		return err
	}
	return g.guard(ctx, o, token, argv)
}

// readToken reads the token on the command line, for which DAOLEASE_TOKEN stands in.
func (a *App) readToken(words []string) (int64, error) {
	text, from := a.Env("DAOLEASE_TOKEN"), "$DAOLEASE_TOKEN"
	if len(words) > 0 {
		text, from = words[0], "TOKEN"
	}
	if text == "" {
		return 0, usagef("a lease's token is in $DAOLEASE_TOKEN under daolease hold, and in propose -o env; a grant written by hand bears none",
			"a TOKEN is wanted, or $DAOLEASE_TOKEN")
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 || n > lease.Limit {
		return 0, usagef("", "%s %q is no token: a positive integer of at most 2^52", from, text)
	}
	return int64(n), nil
}

// guard is the state of one resource: the highest token honoured, in a file that is changed under a lock.
type guard struct {
	app  *App
	file string
}

// newGuard is the guard of a file's state. A link is followed, since by another name the file would have another lock.
// Nothing is made beside what is no file.
func newGuard(app *App, file string) (guard, error) {
	n, err := followed(file)
	if err == nil {
		return guard{app: app, file: n.path}, nil
	}
	return guard{}, fail(exitFailure, "nobody is admitted; --state names a regular file, or one that is not there yet", "--state %s: %w", file, reasonOf(err))
}

// highest is the highest token honoured. first says that there is no file: none has been.
func (g guard) highest() (token int64, first bool, err error) {
	if fi, err := os.Lstat(g.file); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		// It was none before there was the lock.
		return 0, false, fail(exitFailure, "name the file itself", "%s is a link", g.file)
	}
	token, err = readTokenFile(g.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, fail(exitFailure, "nobody is admitted; write the highest token that is known to have been honoured into it, and a newline", "%w", err)
	}
	return token, false, nil
}

func (g guard) show() error {
	token, first, err := g.highest()
	if err != nil {
		return err
	}
	if first {
		g.app.say("no token has been honoured yet: there is no %s", g.file)
	}
	return g.app.print(tokenLine(token))
}

// guard admits the token and has the command take this process's place, or refuses.
func (g guard) guard(ctx context.Context, o *fenceOptions, token int64, argv []string) error {
	stale, late := exitNothingHeld, exitTimeout
	if argv != nil {
		stale, late = exitLeaseLost, exitWaitedOut
	}
	lock, err := g.lock(ctx, &o.wait)
	if errors.Is(err, stream.ErrLocked) {
		return fail(late, "", "another had %s.lock for %s", g.file, formatSpan(o.wait.D))
	}
	if err != nil {
		return fail(exitFailure, "--state FILE wants a folder that is there and can be written to", "the lock of %s: %w", g.file, reasonOf(err))
	}
	defer stream.UnlockFile(lock)
	highest, first, err := g.highest()
	if err != nil {
		return err
	}
	if token < highest {
		return fail(stale, "its lease is over: propose anew", "token %d is stale: %d has been honoured at %s", token, highest, g.file)
	}
	if first {
		g.app.say("first use: no token has been honoured yet, there is no %s", g.file)
	}
	if err := g.honour(token, highest); err != nil {
		return fail(exitFailure, "", "token %d cannot be noted, so it is not admitted: %w", token, err)
	}
	if argv == nil {
		return nil
	}
	return g.app.replaceProcess(lock, argv)
}

func (g guard) lock(ctx context.Context, wait *spanFlag) (*os.File, error) {
	most := time.Duration(math.MaxInt64)
	if wait.Given {
		most = wait.D
	}
	return stream.LockFile(ctx, g.file+".lock", most, g.share)
}

// share gives a lock file that was just made to those who may write its folder: they can replace the state, so they
// must be able to lock it. Nobody else may: whoever can open a file can lock it.
func (g guard) share(lock *os.File) error {
	if err := g.app.adopt(lock); err != nil {
		return err
	}
	folder, err := os.Stat(filepath.Dir(g.file))
	if err != nil {
		return err
	}
	writers := folder.Mode().Perm() & 0o022
	if writers == 0 {
		return nil
	}
	return lock.Chmod(0o600 | writers | writers<<1)
}

// honour answers when it is on disk that the token was honoured. One that is as high as the highest is written
// already, but maybe by a process that was killed before it had synced.
func (g guard) honour(token, highest int64) error {
	if token > highest {
		mode := fs.FileMode(0o644)
		if fi, err := os.Stat(g.file); err == nil {
			mode = fi.Mode().Perm()
		}
		return g.app.replaceFile(g.file, tokenLine(token), mode)
	}
	f, err := os.OpenFile(g.file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(g.file))
}
