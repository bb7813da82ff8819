package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

type recoverOptions struct {
	inventory  string
	tokenAbove int64
	print      bool
	output     outputFlag
}

func (o *recoverOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.inventory, "inventory", "", "who is to hold what afterwards: JSON lines in `FILE`, - for stdin")
	f.Int64Var(&o.tokenAbove, "token-above", 0, "`N`: no lease has ever borne a higher token")
	f.BoolVar(&o.print, "print", false, "draft an inventory from what can be read; change nothing")
	addOutput(cmd, &o.output, []string{"table", "json"})
	cmd.MarkFlagsMutuallyExclusive("print", "inventory")
	cmd.MarkFlagsMutuallyExclusive("print", "token-above")
}

func newRecoverCmd(app *App) *cobra.Command {
	o := &recoverOptions{}
	cmd := &cobra.Command{
		Use:     "recover",
		GroupID: groupGrantor,
		Short:   "Begin anew after the ledger was lost",
		Long: `recover is for a ledger that is lost: missing, damaged, or of a restored backup. It takes back every subject
that the grantor's stream shows as granted and not lapsed, and every subject of the inventory; records the
former as lapsed by policy; grants the inventory afresh, under new ids and higher tokens; and writes the
ledger last, so that nothing else grants or judges until it is done. Interrupted, it is run again.

An inventory is JSON lines with subject, holder, duration and, optionally, max:

    {"subject":"build","holder":"alice","duration":{"s":30}}

--print drafts one. Where the grantor's stream is lost too, or is a backup's, --token-above has to say which
token no lease has exceeded: a fenced resource refuses lower ones.`,
		Example: `  daolease recover --print > inventory     # then look at it
  daolease recover --inventory inventory
  daolease recover                         # take everything back, grant nothing`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.tokenAbove < 0 || o.tokenAbove > lease.Limit {
				return usagef("daolease recover --print says which is the highest to be seen", "--token-above: %d is no token, which is at most 2^52", o.tokenAbove)
			}
			c, err := find(app)
			if err != nil {
				return err
			}
			if o.print {
				return c.whileReading(printInventory(cmd.Context(), app, c))
			}
			return runRecover(cmd.Context(), app, c, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// inventoryLine is one line of an inventory.
type inventoryLine struct {
	Subject  lease.Subject  `json:"subject"`
	Holder   string         `json:"holder"`
	Duration lease.Duration `json:"duration"`
	Max      lease.Duration `json:"max,omitzero"`
}

// readInventory reads an inventory whole before anything is done. A line that is none is exit 2, by number.
func (o *recoverOptions) readInventory(app *App, c *Composition) ([]judge.Terms, error) {
	var in io.Reader
	switch o.inventory {
	case "":
		return nil, nil
	case "-":
		in = app.In
	default:
		f, err := os.Open(o.inventory)
		if err != nil {
			return nil, usagef("", "%w", err)
		}
		defer f.Close()
		in = f
	}
	var terms []judge.Terms
	lines := bufio.NewReader(in)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			t, wrong := c.inventoryTerms(line)
			if wrong != nil {
				return nil, usagef(`{"subject":"build","holder":"alice","duration":{"s":30}} is how a line looks`, "line %d of the inventory: %w", number, wrong)
			}
			terms = append(terms, t)
		}
		if errors.Is(err, io.EOF) {
			return terms, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the inventory: %w", err)
		}
	}
}

func (c *Composition) inventoryTerms(line []byte) (judge.Terms, error) {
	var l inventoryLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return judge.Terms{}, err
	}
	if err := c.holderName(l.Holder); err != nil {
		return judge.Terms{}, fmt.Errorf("holder %q: %w", l.Holder, err)
	}
	if err := c.Config.admissible(l.Subject); err != nil {
		return judge.Terms{}, err
	}
	terms := judge.Terms{Subject: l.Subject, Holder: l.Holder, Duration: l.Duration, Max: l.Max, Note: "recovered"}
	// What a grant would refuse is refused here, before anything is taken back.
	_, err := lease.NewGrant(c.Config.Units, lease.GrantTerms{
		Lease: "x", Subject: l.Subject, Holder: l.Holder, Duration: l.Duration, Max: l.Max, Token: 1,
	})
	return terms, err
}

func runRecover(ctx context.Context, app *App, c *Composition, o *recoverOptions) error {
	if err := c.readyForJudge(); err != nil {
		return err
	}
	inventory, err := o.readInventory(app, c)
	if err != nil {
		return err
	}
	lock, err := c.lockJudge(ctx)
	if err != nil {
		return err
	}
	defer lock.release()
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	if err := c.wantToken(ctx, cfg, o); err != nil {
		return err
	}
	before, err := c.readMark()
	if err != nil {
		return err
	}
	if err := c.keepLostLedger(); err != nil {
		return err
	}
	teller := newTeller(c)
	procs := newProcedures(ctx, c, teller)
	done, err := judge.Recover(ctx, cfg, judge.Recovery{
		Inventory: inventory, TokenAbove: o.tokenAbove, Incarnation: before.Incarnation, Reclaim: procs.all,
	})
	if err != nil {
		return fmt.Errorf("the recovery is not done, run it again: %w", err)
	}
	return app.sayRecovered(o, teller, &done)
}

// wantToken makes sure of a tick to begin from, and demands --token-above where what can be read does not say
// how high tokens have risen.
func (c *Composition) wantToken(ctx context.Context, cfg judge.Config, o *recoverOptions) error {
	a, err := c.judgeAdapter()
	if err != nil {
		return err
	}
	if _, err := a.tick(ctx, 0); err != nil {
		return err
	}
	if o.tokenAbove > 0 {
		return nil
	}
	_, token, found, err := judge.Unrecorded(ctx, cfg)
	if err != nil {
		return err
	}
	const hint = "daolease recover --token-above N, with an N that no lease of this composition has exceeded"
	if !found && cfg.Expected {
		return usagef(hint, "the grantor's stream is lost too, so how high tokens have risen cannot be read")
	}
	if _, err := judge.Observe(ctx, cfg); errors.Is(err, judge.ErrPlace) {
		return usagef(hint, "this folder is a copy or a restored backup, so tokens may have risen above %d, the highest to be seen here", token)
	}
	return nil
}

// keepLostLedger keeps what is left of the ledger under another name, for whoever wants to know what happened.
func (c *Composition) keepLostLedger() error {
	lost := c.path("grantor", "ledger.jsonl.lost")
	ledger := c.path("grantor", "ledger.jsonl")
	if _, err := os.Lstat(ledger); err != nil {
		return nil // nothing is left of it
	}
	if err := os.Remove(lost); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(ledger, lost); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// all runs the procedures of these tasks, some at a time, and waits for them.
func (p *procedures) all(ctx context.Context, tasks []judge.Task) []error {
	errs := make([]error, len(tasks))
	room := make(chan struct{}, p.config.Reclaim.Parallel)
	var running sync.WaitGroup
	var ended atomic.Int64
	progress := p.comp.app.startProgress()
	defer progress.clear()
	for i, t := range tasks {
		room <- struct{}{}
		running.Go(func() {
			defer func() {
				progress.at("taking back: %d of %d", ended.Add(1), len(tasks))
				<-room
			}()
			rule, found := p.config.rule(t.Subject)
			if !found {
				errs[i] = fmt.Errorf("no entry of subjects in %s matches %q", configFile(p.comp.Dir), shortened(t.Subject.Text()))
				return
			}
			errs[i] = p.run(ctx, t, rule)
		})
	}
	running.Wait()
	return errs
}

// sayRecovered tells what was done; what could not be taken back is exit 11.
func (a *App) sayRecovered(o *recoverOptions, t *teller, done *judge.Restored) error {
	granted := []leaseView{}
	for _, f := range done.Granted {
		granted = append(granted, viewOfFact(f))
		t.say("granted %s on %q to %s for %v, token %d", f.Lease, shortened(f.Subject.Text()), f.Holder, f.Duration, f.Token)
	}
	for _, e := range done.Recorded {
		t.say("took back and recorded %s", e.Lease)
	}
	if o.output.form == "json" {
		text, err := encodeJSON(struct {
			*judge.Restored
			Granted []leaseView `json:"granted"`
		}{done, granted}, "")
		if err == nil {
			err = a.print(text)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range done.Failed {
		t.say("could not take back %q (lease %s of %s): %s", f.Subject, f.Lease, f.Holder, f.Error)
	}
	if len(done.Failed) > 0 {
		return fail(exitNotReclaimed, "mend its hook; the judge goes on trying for the leases, and daolease grant serves the rest",
			"the ledger is begun anew, but without what could not be taken back, which was not granted: %s", counted(len(done.Failed), "subject"))
	}
	t.say("the ledger is begun anew: daolease judge goes on with it")
	return nil
}

// printInventory drafts an inventory of what the media show.
func printInventory(ctx context.Context, app *App, c *Composition) error {
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	rows, token, found, err := judge.Unrecorded(ctx, cfg)
	if errors.Is(err, judge.ErrNoTick) {
		hint := "daolease judge begins with one; where none has ever run there is nothing to recover"
		if c.Config.external() {
			hint = "whoever owns time appends ticks: daolease tick"
		}
		return fail(exitFailure, hint, "%w", err)
	}
	if err != nil {
		return err
	}
	var text []byte
	for _, r := range rows {
		line := inventoryLine{Subject: r.Subject, Holder: r.Holder, Duration: r.Duration}
		if r.Max != nil {
			line.Max = *r.Max
		}
		encoded, err := json.Marshal(line)
		if err != nil {
			return err
		}
		text = append(append(text, encoded...), '\n')
	}
	if !found {
		app.say("there is no grantor's stream to be read: what was granted, and how high tokens have risen, only people can tell")
	} else {
		app.say("granted and not recorded as lapsed, which is no evidence of being held: %s. The highest token to be seen is %d", counted(len(rows), "lease"), token)
	}
	return app.print(text)
}
