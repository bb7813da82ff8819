package cmd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// userNames tells the names of users by their numbers.
type userNames interface {
	// name is the name of a user; known is false for a number that has none. An error means that it cannot be
	// told now.
	name(uid int) (name string, known bool, err error)
	// current is the name of the user that this process is, for a default only.
	current() (string, error)
}

// rememberedUsers asks for each name once. It is for a command that is over soon.
type rememberedUsers struct {
	userNames
	known map[int]func() (string, bool, error)
}

func remembered(u userNames) userNames {
	return &rememberedUsers{u, map[int]func() (string, bool, error){}}
}

func (r *rememberedUsers) name(uid int) (string, bool, error) {
	if r.known[uid] == nil {
		name, known, err := r.userNames.name(uid)
		r.known[uid] = func() (string, bool, error) { return name, known, err }
	}
	return r.known[uid]()
}

// nameOf is the name of a user, uid-N for a number that has none (SPEC 4).
func (a *App) nameOf(uid int) (string, error) {
	name, known, err := a.Users.name(uid)
	if err != nil {
		return "", err
	}
	// A user who is called like another's number must not pass for that other.
	if !known || looksLikeNumber(name) {
		return fmt.Sprintf("uid-%d", uid), nil
	}
	return name, nil
}

func looksLikeNumber(name string) bool {
	digits, is := strings.CutPrefix(name, "uid-")
	return is && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// bears says that a holder's or grantor's name is a user's: the user's name, alone or followed by @ and
// anything (SPEC 4).
func bears(name, user string) bool {
	if user == "" {
		return false
	}
	rest, is := strings.CutPrefix(name, user)
	return is && (rest == "" || rest[0] == '@')
}

// callerName is the name of the user who calls.
func (a *App) callerName() (string, error) {
	if a.UID < 0 {
		return a.Users.current()
	}
	return a.nameOf(a.UID)
}

// holderName is which holder one is (SPEC 8): --as, DAOLEASE_AS, else USER@HOST. A name that cannot be one is
// exit 2.
func (a *App) holderName() (string, error) {
	name := a.asFlag
	if name == "" {
		name = a.Env("DAOLEASE_AS")
	}
	if name == "" {
		return a.defaultName()
	}
	if err := lease.ValidName(name); err != nil {
		return "", usagef("letters, digits and . _ @ - make a name", "%w", err)
	}
	return name, nil
}

func (a *App) defaultName() (string, error) {
	const hint = "say which holder you are with --as NAME"
	user, err := a.callerName()
	if err != nil {
		return "", fail(exitFailure, hint, "your name cannot be told: %w", err)
	}
	host, err := a.Hostname()
	if err != nil {
		return "", fail(exitFailure, hint, "the name of this machine cannot be told: %w", err)
	}
	name := plainName(user + "@" + host)
	if err := lease.ValidName(name); err != nil {
		return "", usagef(hint, "your name and host make no name: %w", err)
	}
	return name, nil
}

// plainName makes a name of what may have other characters in it.
func plainName(text string) string {
	text = regexp.MustCompile(`[^A-Za-z0-9._@-]`).ReplaceAllString(text, "-")
	text = strings.TrimLeft(text, "._@-")
	return text[:min(len(text), 64)]
}
