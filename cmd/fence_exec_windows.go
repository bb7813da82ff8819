package cmd

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// replaceProcess runs a command as if it were this process, which nothing can be here: it waits, under the lock, and
// ends as the command did.
func (a *App) replaceProcess(_ *os.File, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Environ(), os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return exitWith(exit.ExitCode())
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fail(exitNoCommand, "", "there is no program %q", argv[0])
	}
	return fail(exitCannotExec, "", "%q cannot be run: %w", argv[0], err)
}
