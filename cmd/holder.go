package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func newHolderCmd(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "holder",
		GroupID: groupGrantor,
		Short:   "Folders for the holders of other users",
		Long: `A holder is a folder in holders/ that belongs to the user who holds. Whoever may make one gets it with their
first proposal; for others the grantor makes it here.`,
		Example: `  daolease holder add alice --user alice
  daolease holder list`,
	}
	cmd.AddCommand(newHolderAddCmd(app), newHolderListCmd(app), newHolderRemoveCmd(app))
	return cmd
}

func newHolderAddCmd(app *App) *cobra.Command {
	owner := ""
	cmd := &cobra.Command{
		Use:     "add NAME",
		Short:   "Make a holder's folder",
		Long:    `add makes the folder of a holder and gives it to a user. It may be repeated.`,
		Example: "  daolease holder add alice --user alice",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return runHolderAdd(app, args[0], owner)
		},
	}
	cmd.Flags().StringVar(&owner, "user", "", "the `user` whose folder it is (default: whose holders/ is)")
	return cmd
}

func runHolderAdd(app *App, name, owner string) error {
	c, err := findAsGrantor(app)
	if err != nil {
		return err
	}
	if err := c.mayHold(name); err != nil {
		return err
	}
	uid, gid := -1, -1
	if owner != "" {
		if uid, gid, err = lookupUser(owner); err != nil {
			return err
		}
	}
	if err := c.mayGive(name, uid); err != nil {
		return err
	}
	made := c.makeHolder
	if owner == "" {
		made = c.makeOwnHolder
	}
	if err := made(name); err != nil {
		return err
	}
	if err := c.give(name, uid, gid); err != nil {
		return err
	}
	return refuseFindings(exitRefused, c.checkHolderSide(name))
}

// lookupUser is the number of a user, given by name or number, and that of the user's group.
func lookupUser(who string) (uid, gid int, err error) {
	if !hasOwners {
		return 0, 0, usagef("leave --user out", "files have no such owners here")
	}
	u, err := user.Lookup(who)
	if err != nil {
		if _, bad := strconv.Atoi(strings.TrimPrefix(who, "#")); bad != nil {
			return 0, 0, usagef("", "there is no user %q", who)
		}
		if u, err = user.LookupId(strings.TrimPrefix(who, "#")); err != nil {
			return 0, 0, usagef("", "there is no user with the number %q", who)
		}
	}
	if uid, err = strconv.Atoi(u.Uid); err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	if err != nil {
		return 0, 0, fail(exitFailure, "", "user %q: %w", who, err)
	}
	return uid, gid, nil
}

// mayGive refuses to give a folder to another user where only root can, and, under owner, to one whose name the
// holder does not bear: nobody would be the author of its facts.
func (c *Composition) mayGive(name string, uid int) error {
	if uid < 0 {
		return nil
	}
	if c.app.UID != 0 && uid != c.app.UID {
		return fail(exitRefused, c.sudoLine(0, ""), "only root can give a folder to %s", c.app.userLabel(uid))
	}
	if !c.Config.byOwner() {
		return nil
	}
	owner, err := c.app.nameOf(uid)
	if err != nil {
		return fail(exitFailure, "", "the name of uid %d cannot be told now: %w", uid, err)
	}
	if !bears(name, owner) {
		return usagef("name the holder "+owner+", or "+owner+"@ and anything", "under attribution: owner a folder of %s is that of no holder %q", owner, name)
	}
	return nil
}

// give makes a holder's folder the user's. One that is another user's already, with what is in it, stays so.
func (c *Composition) give(name string, uid, gid int) error {
	f, err := openFolder(c.holderDir(name))
	if err != nil {
		return fail(exitRefused, "", "%w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return fail(exitFailure, "", "%w", err)
	}
	have, _ := ownerOf(fi)
	if uid < 0 || have == uid {
		return nil
	}
	if names, err := f.Readdirnames(1); err == nil && len(names) > 0 {
		return fail(exitRefused, "daolease holder remove "+shellQuote(name)+" takes it away first",
			"holder %q is there already, and belongs to %s", name, c.app.userLabel(have))
	}
	if err := errors.Join(f.Chown(uid, gid), f.Chmod(0o755)); err != nil {
		return fail(exitFailure, "", "%w", err)
	}
	return nil
}

// holderRow is a holder as holder list shows it.
type holderRow struct {
	Holder string `json:"holder"`
	User   string `json:"user"`
	Path   string `json:"path"`
	Wrong  string `json:"wrong"` // why its facts are not read; empty when they are
}

func newHolderListCmd(app *App) *cobra.Command {
	o := &outputFlag{}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "The holders that have a folder",
		Long:    `list shows the holders that have a folder, whose it is, and why one's facts would not be read.`,
		Example: "  daolease holder list -o json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runHolderList(app, o) },
	}
	addOutput(cmd, o, listForms())
	return cmd
}

func runHolderList(app *App, o *outputFlag) error {
	c, err := find(app)
	if err != nil {
		return err
	}
	names, junk, err := c.holderNames()
	if err != nil {
		return fail(exitFailure, "", "%w", err)
	}
	for _, j := range junk {
		app.say("%s is no holder's folder: %s", c.path("holders", j.Name), j.Why)
	}
	app.Users = remembered(app.Users)
	rows := []holderRow{}
	for _, name := range names {
		rows = append(rows, c.holderRow(name))
	}
	return app.show(o, rows, "no holder has a folder yet", func(wide bool) table {
		t := table{Header: []string{"HOLDER", "USER", "WRONG"}}
		for _, r := range rows {
			t.Rows = append(t.Rows, []string{r.Holder, r.User, r.Wrong})
		}
		if wide {
			t.Header = append(t.Header, "PATH")
			for i, r := range rows {
				t.Rows[i] = append(t.Rows[i], r.Path)
			}
		}
		return t
	})
}

func (c *Composition) holderRow(name string) holderRow {
	row := holderRow{Holder: name, Path: c.holderDir(name)}
	if fi, err := os.Lstat(row.Path); err == nil && hasOwners {
		uid, _ := ownerOf(fi)
		row.User = c.app.userLabel(uid)
	}
	if found := c.checkHolderSide(name); len(found) > 0 {
		row.Wrong = found[0].String()
	}
	return row
}

func newHolderRemoveCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Take a holder's folder away",
		Long:    `remove takes a holder's folder away with all that is in it, unless a lease of that holder's is live.`,
		Example: "  daolease holder remove alice",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runHolderRemove(cmd.Context(), app, args[0])
		},
	}
}

func runHolderRemove(ctx context.Context, app *App, name string) error {
	c, err := findAsGrantor(app)
	if err != nil {
		return err
	}
	if err := c.mayHold(name); err != nil {
		return err
	}
	fi, err := os.Lstat(c.holderDir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitNothingHeld, "daolease holder list shows the holders", "there is no holder %q", name)
	}
	if err != nil {
		return fail(exitFailure, "", "%w", err)
	}
	if owner, _ := ownerOf(fi); hasOwners && app.UID != 0 && owner != app.UID {
		return fail(exitRefused, c.sudoLine(0, ""), "the folder of %q belongs to %s", name, app.userLabel(owner))
	}
	return c.removeIdle(ctx, name)
}

// removeIdle removes a holder's folder under the append lock of the grantor's stream, so that nothing is granted
// to the holder meanwhile.
func (c *Composition) removeIdle(ctx context.Context, name string) error {
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	_, release, err := cfg.Facts.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	j, err := concluded(ctx, cfg)
	if err != nil {
		return err
	}
	for _, row := range j.Rows() {
		if row.Holder == name {
			return fail(exitRefused, "revoke it first, or wait until it has lapsed", "holder %q has the live lease %s on %s", name, row.Lease, shortened(subjectText(row.Subject)))
		}
	}
	if err := os.RemoveAll(c.holderDir(name)); err != nil {
		return fail(exitFailure, "", "%w", fmt.Errorf("removing the folder of %q: %w", name, err))
	}
	return nil
}
