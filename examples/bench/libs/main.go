// Command libs does nothing either, but imports the four libraries that daolease is built on.
package main

import (
	"fmt"

	_ "github.com/fsnotify/fsnotify"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/viper"
)

func main() { fmt.Println("hello") }
