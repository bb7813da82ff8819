package cmd

import (
	"errors"
	"io/fs"
	"os/exec"

	"github.com/daolease/daolease/pkg/hooks"
)

// lookPath finds a program as a shell would: on PATH, and where there is none on a fixed path.
func (a *App) lookPath(word string) (string, error) {
	if a.Env("PATH") == "" {
		path, err := hooks.LookPath(word)
		if err != nil {
			return "", exec.ErrNotFound
		}
		return path, nil
	}
	path, err := exec.LookPath(word)
	if errors.Is(err, exec.ErrDot) {
		return path, nil // whoever has the working folder on PATH means it
	}
	return path, err
}

// notExecuted is a command that did not start: 127 for one that is not found, 126 for any other, as shells do.
func notExecuted(word string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fail(exitNoCommand, "", "%q is not found", word)
	}
	return fail(exitCannotExec, "", "%q cannot be executed: %w", word, err)
}
