package cmd

import "context"

// runHold needs process groups and signals, and so does not work here.
func runHold(context.Context, *App, *holdOptions, string, []string) error {
	return fail(exitHoldFailed, "daolease propose, renew and release work here", "hold does not work on this system: it has no process groups")
}
