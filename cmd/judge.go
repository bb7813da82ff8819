package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
)

type judgeOptions struct {
	once, step, dryRun bool
	adopt, ledger      bool
	poll               bool
	metrics, logFormat string
	told               chan os.Signal // not nil: within a hold, which says what signals would say
	output             outputFlag
}

func (o *judgeOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.once, "once", false, "pass until the grantor's stream is read to its end, wait for the procedures, and end")
	f.BoolVar(&o.step, "step", false, "one pass for each line on stdin, one JSON report for each on stdout")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what a pass now would conclude, and why; change nothing")
	f.BoolVar(&o.adopt, "adopt", false, "the folder was moved while no judge ran: go on with its ledger")
	f.BoolVar(&o.ledger, "ledger", false, "with --step: every live lease in each report")
	f.BoolVar(&o.poll, "poll", false, "do not watch the folders for events")
	f.StringVar(&o.metrics, "metrics-file", "", "replace this `file` by Prometheus metrics after each pass")
	f.StringVar(&o.logFormat, "log-format", "text", "`form` of what is said on stderr: text, json")
	_ = cmd.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	addOutput(cmd, &o.output, []string{"table", "json"})
	cmd.MarkFlagsMutuallyExclusive("once", "step", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("adopt", "dry-run")
}

// loops says that passes follow each other until a signal.
func (o *judgeOptions) loops() bool { return !o.once && !o.step && !o.dryRun }

func newJudgeCmd(app *App) *cobra.Command {
	o := &judgeOptions{}
	cmd := &cobra.Command{
		Use:     "judge",
		GroupID: groupGrantor,
		Short:   "Run passes: read the facts, conclude, take back, record",
		Long: `judge runs where the resource is. Each pass reads the facts, concludes which leases have ended (release,
cap, policy or silence), takes their subjects back with the hooks of the configuration, and only then records
them as lapsed. It runs until SIGTERM or SIGINT; a second one kills running procedures. SIGHUP has it read the
configuration again.

Under systemd it says when it is ready (after its first pass), after each pass that it is not stuck, and when it
stops: Type=notify, or notify-reload, and WatchdogSec= of at least two cadences fit.

It is woken by what others write. Where those who hold leases write more than some eight times a second, it no longer
watches their folders, and reads them once a cadence: a release there is then heard up to a cadence later.

What it says on stderr, --log-format json says as one object a line: daolease-json(5) has the keys. A metrics file
that cannot be written is said and hinders nothing; with --once the exit is 1 then, though the pass is recorded.

One judge runs a composition. A daolease hold that judges meanwhile (--judge) is waited for: it gives way once the
procedures that it runs have ended.`,
		Example: `  daolease judge                     # until it is told to stop
  * * * * * daolease -C /srv/locks judge --once    # from cron
  daolease judge --dry-run           # what would it do now?
  daolease judge --log-format json --metrics-file /var/lib/node_exporter/daolease.prom`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.ledger && !o.step {
				return usagef("daolease inspect shows the ledger", "--ledger goes with --step")
			}
			if o.loops() {
				app.sayAside()
			}
			switch o.logFormat {
			case "text":
			case "json":
				app.logJSON()
			default:
				return usagef("the forms are text, json", "--log-format: %q is no form", o.logFormat)
			}
			if o.metrics != "" && o.dryRun {
				return usagef("", "--dry-run makes no pass, so there is nothing to measure")
			}
			if err := o.metricsFile(); err != nil {
				return err
			}
			c, err := find(app)
			if err != nil {
				return err
			}
			if o.dryRun {
				return c.whileReading(dryRun(cmd.Context(), app, c, o))
			}
			return runJudge(cmd.Context(), app, c, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// metricsFile refuses a file of metrics that cannot be replaced at each pass.
func (o *judgeOptions) metricsFile() error {
	if o.metrics == "" {
		return nil
	}
	if _, err := followed(o.metrics); errors.Is(err, errNotReplaced) || errors.Is(err, errLinkToNothing) {
		return usagef("the file is replaced after each pass: name one that is regular, or not there yet", "--metrics-file %s: %w", o.metrics, err)
	}
	return nil
}

func runJudge(ctx context.Context, app *App, c *Composition, o *judgeOptions) error {
	s, err := sit(ctx, c, o)
	if err != nil {
		return err
	}
	defer s.rise()
	switch {
	case o.once:
		return s.once(ctx, app, o)
	case o.step:
		return s.step(ctx, app, o)
	}
	return s.loop(ctx)
}

// once passes until a pass is not cut, and waits for its procedures up to their timeouts.
func (s *sitting) once(ctx context.Context, app *App, o *judgeOptions) error {
	s.procs.wait = -1
	defer s.onSignals()()
	report := s.pass(ctx)
	for report.Outcome == judge.Cut && s.cameOn() && !s.procs.isStopping() {
		report = s.pass(ctx)
	}
	if o.output.form == "json" {
		text, err := encodeJSON(report, "")
		if err == nil {
			err = app.print(text)
		}
		if err != nil {
			return err
		}
	}
	return s.verdict(&report)
}

// verdict is the exit code of judge --once.
func (s *sitting) verdict(r *judge.Report) error {
	switch {
	case r.Err != nil:
		return s.comp.stops(r.Err)
	case r.Outcome == judge.Aborted:
		return fail(exitFailure, "", "the pass was aborted: %s", r.Abort)
	case r.Outcome == judge.Cut:
		return fail(exitFailure, "", "the grantor's stream was not read to its end: who wrote the next line cannot be told now, or it was stopped")
	case r.Outcome == judge.Idle:
		s.teller.say("idle: no tick yet, so nothing was done")
	}
	for _, w := range r.Pending {
		if !w.Reclaimed {
			return fail(exitNotReclaimed, "daolease inspect "+w.Lease+" shows the attempts and the last error",
				"lease %s (%s) has not been taken back", w.Lease, w.Cause)
		}
	}
	if s.metrics != nil && s.metrics.unwritten {
		return fail(exitFailure, "--metrics-file wants a folder that is there and can be written to",
			"the pass is completed and recorded, but its metrics are not in %s", s.metrics.path)
	}
	return nil
}

// step runs one pass for each line of stdin, so that a caller's own loop drives the judge.
func (s *sitting) step(ctx context.Context, app *App, o *judgeOptions) error {
	s.procs.wait = -1
	defer s.onSignals()()
	lines := readLines(app.In)
	for !s.procs.isStopping() {
		select {
		case <-s.procs.stopped:
			continue
		case err := <-lines:
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("reading stdin: %w", err)
			}
		}
		report := s.pass(ctx)
		if o.ledger {
			report.Ledger = s.judge.Rows()
		}
		text, err := json.Marshal(report)
		if err != nil {
			return err
		}
		if err := app.print(append(text, '\n')); err != nil {
			return err
		}
		if report.Err != nil {
			return s.comp.stops(report.Err)
		}
	}
	return s.settle(ctx)
}

// readLines answers nil for each whole line, then the error that ends them. The reading goes on in a goroutine
// of its own, because a signal must be heeded while no line comes.
func readLines(from io.Reader) <-chan error {
	lines := make(chan error)
	go func() {
		for in := bufio.NewReader(from); ; {
			err := skipLine(in)
			lines <- err
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// skipLine reads to the end of a line of any length.
func skipLine(in *bufio.Reader) error {
	for {
		_, err := in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// dryRun prints what a pass now would conclude.
func dryRun(ctx context.Context, app *App, c *Composition, o *judgeOptions) error {
	j, err := c.observe(ctx)
	if err != nil {
		return err
	}
	reading, err := c.peek(ctx, j)
	if err != nil {
		return err
	}
	report, list := j.Conclude(ctx, reading)
	if report.Outcome == judge.Aborted {
		return fail(exitFailure, "", "reading the media: %s", report.Abort)
	}
	return app.show(&o.output, list, "nothing is due", func(bool) table {
		t := table{Header: []string{"LEASE", "SUBJECT", "HOLDER", "CAUSE", "WHY"}}
		for _, d := range list {
			t.Rows = append(t.Rows, []string{d.Lease, subjectText(d.Subject), d.Holder, string(d.Cause), d.Why})
		}
		return t
	})
}

// peek is the reading that a tick would have now, 0 where time has not begun.
func (c *Composition) peek(ctx context.Context, j *judge.Judge) (int64, error) {
	a, err := c.judgeAdapter()
	if err != nil {
		return 0, err
	}
	now, _ := j.Now()
	reading, err := a.peek(ctx, now)
	if errors.Is(err, errNoReading) {
		return 0, nil
	}
	return reading, err
}
