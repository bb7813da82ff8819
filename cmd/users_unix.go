//go:build unix

package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// userDB asks getent at a fixed path, which knows directory services too, else reads the file of users.
type userDB struct {
	getent   string
	passwd   string
	patience time.Duration // for getent
}

func systemUsers() userNames {
	return userDB{getent: "/usr/bin/getent", passwd: "/etc/passwd", patience: 5 * time.Second}
}

// getentUnknown is getent's exit code for a key that is not there.
const getentUnknown = 2

func (u userDB) name(uid int) (string, bool, error) {
	if uid < 0 {
		return "", false, errors.New("no such number of a user")
	}
	if _, err := os.Stat(u.getent); errors.Is(err, fs.ErrNotExist) {
		return u.fromFile(uid)
	}
	ctx, cancel := context.WithTimeout(context.Background(), u.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, u.getent, "passwd", strconv.Itoa(uid))
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == getentUnknown {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("%s passwd %d: %w", u.getent, uid, err)
	}
	for line := range strings.Lines(string(out)) {
		if name, is := nameInLine(line, uid); is {
			return name, true, nil
		}
	}
	return "", false, fmt.Errorf("%s passwd %d answered something else", u.getent, uid)
}

func (u userDB) fromFile(uid int) (string, bool, error) {
	f, err := os.Open(u.passwd)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, is := nameInLine(lines.Text(), uid); is {
			return name, true, nil
		}
	}
	return "", false, lines.Err()
}

// nameInLine reads a line of the file of users: name, password, number, and more.
func nameInLine(line string, uid int) (string, bool) {
	fields := strings.SplitN(strings.TrimRight(line, "\n"), ":", 4)
	if len(fields) < 4 || fields[0] == "" || fields[2] != strconv.Itoa(uid) {
		return "", false
	}
	return fields[0], true
}

func (u userDB) current() (string, error) {
	name, known, err := u.name(os.Geteuid())
	if err == nil && !known {
		err = errors.New("the user has no name")
	}
	return name, err
}
