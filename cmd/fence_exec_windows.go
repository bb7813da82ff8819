package cmd

import (
	"errors"
	"os"
	"os/exec"
)

// replaceProcess runs a command as if it were this process, which nothing can be here: it waits, under the lock, and
// ends as the command did.
func (a *App) replaceProcess(_ *os.File, argv []string) error {
	path, err := a.lookPath(argv[0])
	if err != nil {
		return notExecuted(argv[0], err)
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Environ(), os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exitWith(exit.ExitCode())
	}
	if err != nil {
		return notExecuted(argv[0], err)
	}
	return nil
}
