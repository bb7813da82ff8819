// Command daolease keeps leases over plain files: grants that lapse unless they are renewed.
package main

import (
	"os"

	"github.com/daolease/daolease/cmd"
)

func main() { os.Exit(cmd.Main()) }
