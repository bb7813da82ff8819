package cmd

import (
	"errors"
	"os/user"
	"strings"
)

type userDB struct{}

func systemUsers() userNames { return userDB{} }

func (userDB) name(int) (string, bool, error) {
	return "", false, errors.New("this system does not number its users")
}

// current leaves out the domain.
func (userDB) current() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username[strings.LastIndex(u.Username, `\`)+1:], nil
}
