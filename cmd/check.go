package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/hooks"
)

type checkOptions struct {
	live   bool
	every  spanFlag
	output outputFlag
}

func (o *checkOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.live, "live", false, "also: is a judge passing, does a reclaim keep failing, what waits for an answer")
	addSpan(cmd.Flags(), &o.every, "renew-every", "size for holders that renew every `span`, not at a third of the duration", false)
	addOutput(cmd, &o.output, []string{"table", "json", "jsonl", "yaml"})
}

func newCheckCmd(app *App) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:     "check",
		GroupID: groupAnyone,
		Short:   "Check the composition, permissions, hooks, sizing, and every fact",
		Long: `check looks for what is wrong with a composition: its configuration, who owns and can write what, the hooks, the
media with every fact on them, and the judge's ledger. It says with numbers what the durations mean, and compares
them with the attribute caches of network mounts. With --live it also says whether a judge is passing, whether a
reclaim keeps failing, and which proposals wait for an answer. With --renew-every it is a problem if renewals that far
apart come too late for a lease that lasts as long as is granted unasked, and advice if none of them may be missed.

A problem is something that does not work, or will not be read; it has check exit 10. Advice has not. check changes
nothing, and creates no file.`,
		Example: `  daolease check
  daolease check --renew-every 1min  # is a cron job often enough?
  daolease check --live -o json      # for monitoring`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.every.Given && o.every.D <= 0 {
				return usagef("as in: daolease check --renew-every 10s", "--renew-every: nobody renews every 0s")
			}
			c, err := find(app)
			if err != nil {
				return err
			}
			app.Users = remembered(app.Users)
			return c.whileReading(runCheck(cmd.Context(), c, o))
		},
	}
	o.addFlags(cmd)
	return cmd
}

// The severities of a checkFinding.
const (
	isProblem = "problem"
	isAdvice  = "advice"
)

// checkFinding is one thing that check found: where, what it means, and what mends it.
type checkFinding struct {
	Severity string `json:"severity"`
	Place    string `json:"place"`
	Meaning  string `json:"meaning"`
	Remedy   string `json:"remedy,omitempty"`
}

// checkReport is what check answers.
type checkReport struct {
	Composition string         `json:"composition"`
	Problems    int            `json:"problems"`
	Advice      int            `json:"advice"`
	Findings    []checkFinding `json:"findings"`
	Sizing      []sizing       `json:"sizing"`
}

// checker gathers what is found.
type checker struct {
	comp   *Composition
	uid    int // the judge's user
	mounts string
	every  time.Duration // how often holders renew; 0: at a third of the duration
	report checkReport
}

func newChecker(c *Composition) *checker {
	k := &checker{comp: c, uid: c.app.UID, mounts: "/proc/self/mountinfo"}
	if fi, err := os.Stat(c.grantorDir()); err == nil && hasOwners {
		k.uid, _ = ownerOf(fi)
	}
	k.report = checkReport{Composition: c.Dir, Findings: []checkFinding{}, Sizing: []sizing{}}
	return k
}

func runCheck(ctx context.Context, c *Composition, o *checkOptions) error {
	k := newChecker(c)
	k.every = o.every.D
	if err := k.run(ctx, o.live); err != nil {
		return err
	}
	if err := k.show(&o.output); err != nil {
		return err
	}
	if k.report.Problems > 0 {
		return exitWith(exitFound)
	}
	return nil
}

// run does every check. An error is the machine's.
func (k *checker) run(ctx context.Context, live bool) error {
	k.permissions()
	k.hooks()
	if err := k.holders(); err != nil {
		return err
	}
	if err := k.media(ctx); err != nil {
		return err
	}
	if err := k.ledger(ctx); err != nil {
		return err
	}
	k.sizing()
	k.network()
	if live {
		return k.live(ctx)
	}
	return nil
}

func (k *checker) problem(place, remedy, format string, args ...any) {
	k.report.Problems++
	k.found(isProblem, place, remedy, fmt.Sprintf(format, args...))
}

func (k *checker) advice(place, remedy, format string, args ...any) {
	k.report.Advice++
	k.found(isAdvice, place, remedy, fmt.Sprintf(format, args...))
}

func (k *checker) found(severity, place, remedy, meaning string) {
	k.report.Findings = append(k.report.Findings, checkFinding{severity, place, meaning, remedy})
}

// permissions checks what a judge must not run on (SPEC 4).
func (k *checker) permissions() {
	for _, f := range k.comp.checkGrantorSide(k.uid) {
		k.problem(f.Path, f.Mend, "%s: no judge starts on it", f.Wrong)
	}
	if _, err := os.Stat(k.comp.grantorDir()); errors.Is(err, fs.ErrNotExist) {
		k.advice(k.comp.grantorDir(), "run daolease judge, which makes it", "is missing: no judge has run here")
	}
	if app := k.comp.app; app.UID == 0 && k.uid != 0 {
		k.advice(k.comp.grantorDir(), "sudo -u "+shellQuote(app.sudoName(k.uid))+" daolease judge", "belongs to %s: it was checked as that user's, and no judge of root's starts on it", app.userLabel(k.uid))
	}
}

// hooks finds and checks the program of every procedure (SPEC 10).
func (k *checker) hooks() {
	for i := range k.comp.Config.Subjects {
		r := &k.comp.Config.Subjects[i]
		if len(r.Reclaim) == 0 {
			continue
		}
		program, err := findProgram(k.comp.Dir, r.Reclaim[0])
		if err == nil {
			err = hooks.Check(program, k.uid)
		}
		k.hook(k.keyPlace(ruleKey(i, "reclaim")), program, err)
	}
}

func (k *checker) hook(place, program string, err error) {
	checked := new(hooks.CheckError)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission) && k.comp.app.UID != k.uid:
		k.advice(place, "run check as the judge's user", "the hook %s cannot be seen by you", program)
	case errors.As(err, &checked):
		k.problem(place, cmp.Or(checked.Fix, "write the path of a program, or none"), "hook %s %s: no judge starts with it", checked.Path, checked.Why)
	default:
		k.problem(place, "write the path of a program, or none", "%v: no judge starts with it", err)
	}
}

// keyPlace is where a key of the configuration stands.
func (k *checker) keyPlace(key string) string {
	return fmt.Sprintf("%s:%d", k.comp.Config.file, lineOf(k.comp.Config.lines, key))
}

// show prints the report.
func (k *checker) show(o *outputFlag) error {
	r := &k.report
	if o.data() {
		var data any = r
		if o.form == "jsonl" {
			data = r.Findings
		}
		text, err := encode(o.form, data)
		if err != nil {
			return err
		}
		return k.comp.app.print(text)
	}
	var buf bytes.Buffer
	for _, f := range r.Findings {
		fmt.Fprintf(&buf, "%-8s %s: %s\n", f.Severity, escape(f.Place), oneLine(f.Meaning))
		if f.Remedy != "" {
			fmt.Fprintf(&buf, "         remedy: %s\n", oneLine(f.Remedy))
		}
	}
	for _, s := range r.Sizing {
		buf.WriteString("sizing   " + oneLine(s.Text) + "\n")
	}
	fmt.Fprintf(&buf, "%s: %s\n", escape(r.Composition), r.summary())
	return k.comp.app.print(buf.Bytes())
}

func (r *checkReport) summary() string {
	if r.Problems == 0 && r.Advice == 0 {
		return "nothing is wrong"
	}
	return fmt.Sprintf("%s, %d of advice", counted(r.Problems, "problem"), r.Advice)
}
