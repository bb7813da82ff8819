package cmd

import (
	"time"

	"github.com/spf13/cobra"
)

// The exit codes of hold that are its own, above those that commands use (SPEC 9).
const (
	exitLeaseLost  = 122 // the lease was lost, and CMD stopped
	exitHeldByElse = 123 // not obtained: refused
	exitWaitedOut  = 124 // not obtained: timed out waiting
	exitHoldFailed = 125 // hold itself failed
	exitCannotExec = 126 // CMD is no program that can be executed
	exitNoCommand  = 127 // there is no CMD
)

type holdOptions struct {
	duration, wait, grace, linger spanFlag
	noWait, asJSON, judge         bool
	alive, progress, note         string
	while, whileDir               string
	or                            []string // other grantors' compositions
	otherCode                     int      // -E
	hasOther                      bool     // -E was given
}

func (o *holdOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.noWait, "no-wait", "n", false, "do not wait while another holds it: exit 123")
	addSpan(f, &o.wait, "wait", "wait at most so long a `span` (default: inf)", true)
	addSpan(f, &o.duration, "duration", "how long a `span` the lease shall last unrenewed (default: as the grantor gives)", false)
	addSpan(f, &o.grace, "grace", "the `span` between TERM and KILL (default: a sixth of the duration, at most 5s)", false)
	f.StringVar(&o.alive, "alive", "", "renew only while this `command`, a line for sh, exits 0 within the renewal interval")
	f.StringVar(&o.progress, "progress", "", "renew only while this `file` has changed within the renewal interval")
	f.StringVar(&o.while, "while", "", "renew only while this `lease`, of whichever holder, is renewed within its duration")
	f.StringVar(&o.whileDir, "while-dir", "", "the composition `folder` of --while (default: the same)")
	addSpan(f, &o.linger, "linger", "wait at most so long a `span` for the record of the lease's end (default: 2s)", false)
	f.BoolVar(&o.judge, "judge", false, "while no judge runs, run its passes in this process (the judge's user only)")
	f.IntVarP(&o.otherCode, "conflict-exit-code", "E", 0, "exit with this `code` instead of 123 or 124")
	f.StringVar(&o.note, "note", "", "a `text` for people")
	f.BoolVar(&o.asJSON, "json", false, "SUBJECT is a JSON value")
	addOr(f, &o.or)
	cmd.MarkFlagsMutuallyExclusive("no-wait", "wait")
	cmd.MarkFlagsMutuallyExclusive("or", "judge")
}

// lingerDefault is how long the record of a lease's end is awaited where nothing is said.
const lingerDefault = 2 * time.Second

func newHoldCmd(app *App) *cobra.Command {
	o := &holdOptions{}
	cmd := &cobra.Command{
		Use:     "hold SUBJECT [flags] -- CMD...",
		GroupID: groupHolder,
		Short:   "Hold a lease around a command",
		Long: `hold asks for a lease, waits while another holds it, runs CMD under it, and gives it back when CMD ends. It
renews the lease at a third of its duration, as long as CMD lives; what --alive and --progress ask for must be so
too. A renewal that fails is tried again.

CMD runs in a process group of its own, which has the terminal if hold had it. DAOLEASE_LEASE, DAOLEASE_SUBJECT,
DAOLEASE_TOKEN, DAOLEASE_DIR and DAOLEASE_AS are in its environment; hand the token to daolease fence at the
resource. Signals that hold gets are forwarded to the group. When CMD ends, what it left in its group is stopped.

The whole group is gone by the lease's bound. It gets TERM early enough for the grace, and KILL a moment before the
bound, on hold's own clock, whatever the files do; exit 122. Where the grantor has recorded that the lease has ended
it gets KILL at once. A process that left the group (setsid) goes on, and is said; so is one that cannot be killed. If
hold is killed with KILL, so is CMD itself, where the system can do that (Linux); what CMD started goes on, and the
lease lapses by silence. A hold that is stopped alone (STOP) looks at the bound first when it is continued, and not
before: what must be exclusive is fenced.

Nobody renews for another, but a lease can depend on another: with --while it is renewed only while that one's holder
is seen to renew it, so that a chain of leases, each with a judge of its own, ends from its far end. Nothing is asked
for before the first such renewal; where there is none within the duration of that lease: exit 125.

With --or other grantors are asked, in their order, when one cannot be reached, does not answer within 10 s and its
share of what is left of --wait, or refuses. When a lease is lost, CMD's group is ended first; then the grantors after
the one that had granted it are asked for a fresh lease, and CMD is started anew under that: one at a time, each under
one lease. When there is none left, exit 122.

With --judge no daemon is needed on a single machine: while no judge runs, one of the holds runs its passes, and gives
way to a daolease judge that is started. Only what is wrong is said of them.`,
		Example: `  daolease hold build -- make
  daolease hold /srv/shared/a --wait 1min -- rsync -a src/ /srv/shared/a/
  daolease hold report -n -E 0 -- ./report    # whoever comes second has nothing to do
  daolease hold area --while "$worker" --while-dir sub -- ./manage
  daolease hold nightly --judge -- ./backup   # no judge is needed
  daolease hold db --alive 'pg_isready -q' --duration 1min -- ./serve`,
		Args: holdArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.hasOther = cmd.Flags().Changed("conflict-exit-code")
			if err := o.wrong(); err != nil {
				return err
			}
			return runHold(cmd.Context(), app, o, args[0], args[1:])
		},
	}
	o.addFlags(cmd)
	return cmd
}

// wrong is what is wrong with the options, whatever the composition is.
func (o *holdOptions) wrong() error {
	switch {
	case o.otherCode < 0 || o.otherCode > 255:
		return usagef("", "-E %d is no exit code: it is 0 to 255", o.otherCode)
	case o.whileDir != "" && o.while == "":
		return usagef("", "--while-dir is about --while")
	case o.wait.Given && o.wait.D <= 0:
		return usagef("-n does not wait while another holds it", "--wait 0s: no answer comes within no time")
	}
	return nil
}

// holdArgs wants one SUBJECT, then -- and a command. Without the -- flags of the command would be taken for flags
// of hold.
func holdArgs(cmd *cobra.Command, args []string) error {
	const hint = "daolease hold SUBJECT [flags] -- CMD..."
	switch dash := cmd.ArgsLenAtDash(); {
	case dash < 0:
		return usagef(hint, "a command is wanted after --")
	case dash != 1:
		return usagef(hint, "one SUBJECT is wanted before --, and %d words are there", dash)
	case len(args) < 2:
		return usagef(hint, "there is no command after --")
	}
	return nil
}
