package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// commands is what makes every command but help and completion, by name, in the order of SPEC 9.
func commands() []commandMaker {
	return []commandMaker{
		{"init", newInitCmd},
		{"holder", newHolderCmd},
		{"propose", newProposeCmd},
		{"grant", newGrantCmd},
		{"refuse", newRefuseCmd},
		{"renew", newRenewCmd},
		{"release", newReleaseCmd},
		{"hold", newHoldCmd},
		{"revoke", newRevokeCmd},
		{"inspect", newInspectCmd},
		{"why", newWhyCmd},
		{"timeline", newTimelineCmd},
		{"log", newLogCmd},
		{"tick", newTickCmd},
		{"fence", newFenceCmd},
		{"check", newCheckCmd},
		{"judge", newJudgeCmd},
		{"recover", newRecoverCmd},
		{"demo", newDemoCmd},
		{"version", newVersionCmd},
	}
}

type commandMaker struct {
	name string
	make func(*App) *cobra.Command
}

// The groups of the help text: who uses a command.
const (
	groupHolder  = "holder"
	groupGrantor = "grantor"
	groupAnyone  = "anyone"
)

// newTreeFor makes the tree that one command line needs. Where that names a command the tree has no other: to make
// them all takes a twentieth of the time of a renewal. What speaks of other commands (help, completion, a word that
// is none) gets the whole.
func newTreeFor(app *App, args []string) *cobra.Command {
	for _, c := range commands() {
		if !slices.Contains(args, c.name) {
			continue
		}
		root := newBareRoot(app)
		root.CompletionOptions.DisableDefaultCmd = true
		root.AddCommand(c.make(app))
		refuseBare(root)
		// cobra itself tells whether it is that word by which the command is named, and not the value of a flag.
		if named, _, err := root.Find(args); err == nil && named != root {
			return root
		}
	}
	return newRootCmd(app)
}

// newRootCmd makes a fresh tree with everything in it. A tree is executed once: cobra keeps flags and contexts of a
// former run.
func newRootCmd(app *App) *cobra.Command {
	root := newBareRoot(app)
	for _, c := range commands() {
		root.AddCommand(c.make(app))
	}
	root.AddCommand(otherVerbs()...)
	root.AddCommand(topics()...)
	root.SetCompletionCommandGroupID(groupAnyone)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	completeBlanks(app, root)
	completions(app, root)
	refuseBare(root)
	return root
}

// newBareRoot makes the root of a tree, with the flags that every command has.
func newBareRoot(app *App) *cobra.Command {
	root := &cobra.Command{
		Use:   "daolease",
		Short: "Leases over plain files: a grant lapses unless it is renewed",
		Long: `daolease keeps leases over plain files.

A lease is a grant that lapses unless it is renewed. Facts are JSON lines on append-only files. The judge
runs where the resource is: it reads them, takes back what has fallen silent, and records that afterwards.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if shown, _ := cmd.Flags().GetBool("version"); shown {
				return app.printVersion()
			}
			return cmd.Help()
		},

		DisableSuggestions:         true, // they come as a hint, on a line of their own
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(app.In)
	root.SetOut(app.Out)
	root.SetErr(app.Err)
	// Not cobra's own flag: to say more than it does takes a template, and with those in the program the linker
	// keeps every method of every type, which makes each command start slower.
	root.Flags().BoolP("version", "v", false, "version for daolease")
	root.PersistentFlags().StringVarP(&app.dirFlag, "dir", "C", "", "the composition's `folder` (default: $DAOLEASE_DIR, else found upward)")
	root.PersistentFlags().StringVar(&app.asFlag, "as", "", "the holder's `name` (default: $DAOLEASE_AS, else USER@HOST)")
	root.AddGroup(
		&cobra.Group{ID: groupHolder, Title: "For holders:"},
		&cobra.Group{ID: groupGrantor, Title: "For the grantor, on the machine that has the resource:"},
		&cobra.Group{ID: groupAnyone, Title: "For anyone:"},
	)
	root.SetHelpCommand(newHelpCmd())
	addExitStatus(root)
	return root
}

// refuseBare makes every command that only groups others refuse to be run alone or with an unknown word: cobra
// would print help and exit 0, and a script would take that for success.
func refuseBare(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			cmd.Args, cmd.RunE = cobra.NoArgs, oneIsWanted
		}
	}
}

func oneIsWanted(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef(seeHelp(cmd), "%s: one of %s is wanted", cmd.CommandPath(), strings.Join(names, ", "))
}

// newHelpCmd is help that exits 2 where there is nothing of that name, as cobra's own does not.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Help about any command, and on concepts, files, config and exit-codes",
		Example: "  daolease help propose\n  daolease help concepts",
		GroupID: groupAnyone,
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef(seeHelp(cmd.Root()), "no help on %q", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// otherVerbs are the words that users of other tools try first. Each answers with the right one and exits 2,
// whatever follows it.
func otherVerbs() []*cobra.Command {
	right := [...][2]string{
		{"lock", "daolease hold SUBJECT -- CMD holds a lease around a command; daolease propose SUBJECT asks for one"},
		{"acquire", "daolease propose SUBJECT asks for a lease; daolease hold SUBJECT -- CMD holds one around a command"},
		{"run", "daolease hold SUBJECT -- CMD holds a lease around a command"},
		{"unlock", "daolease release LEASE gives a lease back"},
		{"status", "daolease inspect shows who holds what"},
		{"list", "daolease inspect shows who holds what; daolease holder list shows the holders"},
		{"keep-alive", "daolease renew renews once; daolease hold SUBJECT -- CMD keeps renewing"},
		{"transfer", "a lease passes to nobody else: daolease release gives it back, and the other holder proposes anew"},
		{"delegate", "nobody renews for another: daolease hold SUBJECT --while LEASE -- CMD keeps one's own lease while another's is renewed, in a chain in which each grants with a judge of its own"},
	}
	cmds := make([]*cobra.Command, 0, len(right))
	for _, verb := range right {
		cmds = append(cmds, &cobra.Command{
			Use: verb[0], Hidden: true, DisableFlagParsing: true,
			Short: "Not a command of daolease: " + verb[1],
			RunE:  func(*cobra.Command, []string) error { return usagef(verb[1], "daolease has no %q", verb[0]) },
		})
	}
	return cmds
}

// markEntered makes every command note that it was entered: an error before that is one of usage.
func markEntered(root *cobra.Command) *bool {
	entered := new(bool)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if run := cmd.RunE; run != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				*entered = true
				if err := emptyFlag(cmd); err != nil {
					return err
				}
				return run(cmd, args)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return entered
}
