package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// callerIsGrantor refuses a caller who is neither root nor the user whose grantor/ it is (exit 4).
func (c *Composition) callerIsGrantor() error {
	for _, dir := range []string{c.grantorDir(), c.Dir} {
		fi, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fail(exitComposition, "", "%w", err)
		}
		return c.callerOwns(fi, "the grantor's side", "")
	}
	return fail(exitComposition, initHint, "%s is gone", c.Dir)
}

// callerIsHolder refuses a caller who is neither root nor the user whose folder it is, and a folder whose facts
// would not be read (exit 4). The folder has to be there.
func (c *Composition) callerIsHolder(name string) error {
	if err := c.holderName(name); err != nil {
		return usagef("choose another name with --as NAME", "%q cannot be a holder's name: %w", name, err)
	}
	fi, err := os.Lstat(c.holderDir(name))
	if err != nil {
		return fail(exitComposition, "", "%w", err)
	}
	if err := c.callerOwns(fi, fmt.Sprintf("holder %q", name), name); err != nil {
		return err
	}
	return refuseFindings(exitRefused, c.checkHolderSide(name))
}

// callerOwns refuses a caller who is neither root nor the owner, with the line that works where that is meant. as is
// the holder that one wants to be, or empty.
func (c *Composition) callerOwns(fi fs.FileInfo, what, as string) error {
	owner, _ := ownerOf(fi)
	if !hasOwners || c.app.UID == 0 || c.app.UID == owner {
		return nil
	}
	hint := c.sudoLine(owner, as)
	if as != "" && owner == 0 {
		// The line would have one act as a holder that root is, and not do what is one's own task.
		hint = fmt.Sprintf("ask %s, whose holder it is, or be another holder with --as", c.app.userLabel(owner))
	}
	return fail(exitRefused, hint, "%s belongs to %s, and you are %s", what, c.app.userLabel(owner), c.app.userLabel(c.app.UID))
}

// sudoLine is this command line as the owner has to give it. Sudo drops the environment, and another user has
// another default name, so folder and holder are spelled out.
func (c *Composition) sudoLine(owner int, as string) string {
	words := []string{"sudo", "-u", c.app.sudoName(owner), c.app.Program, "-C", c.Dir}
	if as != "" {
		words = append(words, "--as", as)
	}
	words = append(words, withoutGlobals(c.app.args)...)
	for i, w := range words {
		words[i] = shellQuote(w)
	}
	return strings.Join(words, " ")
}

// withoutGlobals leaves out -C, --dir and --as, which the line spells out itself. What follows -- is a
// command's own.
func withoutGlobals(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return append(kept, args[i:]...)
		case a == "-C" || a == "--dir" || a == "--as":
			i++
		case strings.HasPrefix(a, "--dir=") || strings.HasPrefix(a, "--as=") || strings.HasPrefix(a, "-C"):
		default:
			kept = append(kept, a)
		}
	}
	return kept
}

// sudoName is how sudo is told a user.
func (a *App) sudoName(uid int) string {
	if name, known, err := a.Users.name(uid); err == nil && known {
		return name
	}
	return "#" + strconv.Itoa(uid)
}

// userLabel names a user for people.
func (a *App) userLabel(uid int) string {
	if name, known, err := a.Users.name(uid); err == nil && known {
		return name
	}
	return fmt.Sprintf("uid %d", uid)
}
