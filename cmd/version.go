package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version, the Go release it was built with, and the system it was built for.",
		Example: "  daolease version",
		GroupID: groupAnyone,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return app.printVersion()
		},
	}
}

func (a *App) printVersion() error { return a.print(fmt.Appendf(nil, "daolease %s\n", version())) }

// version is that of the main module as the build noted it.
func version() string {
	number := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		number = info.Main.Version
	}
	return fmt.Sprintf("%s %s %s/%s", number, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
