package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func newTickCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:     "tick [READING]",
		GroupID: groupGrantor,
		Short:   "Append a tick, where ticks are external",
		Long: `tick appends one tick to the judge's tick stream or, with --as, to that of a holder. It is for compositions with
ticks: external, where whoever appends ticks owns time. A READING is 5ms, 3s or any unit of the table, or the
JSON of a duration. Without one it is what the machine's clock says. The reading is printed.`,
		Example: `  daolease tick 5s
  daolease tick '{"ms":5000}' --as alice`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runTick(cmd.Context(), app, args) },
	}
}

func runTick(ctx context.Context, app *App, args []string) error {
	c, err := find(app)
	if err != nil {
		return err
	}
	if !c.Config.external() {
		return usagef("set ticks: external in daolease.yaml to own time yourself", "under ticks: host the machine's clock is read by who needs it, and tick is refused")
	}
	a, err := c.tickAdapter(app.asFlag)
	if err != nil {
		return err
	}
	var reading lease.Duration
	if len(args) == 0 {
		reading, err = a.ownTick(ctx)
	} else if reading, err = c.readReading(args[0]); err == nil {
		err = a.appendReading(ctx, reading)
	}
	if err != nil {
		return err
	}
	return app.print([]byte(reading.String() + "\n"))
}

// tickAdapter is the adapter of the judge's tick stream, or of a holder's.
func (c *Composition) tickAdapter(holder string) (*adapter, error) {
	if holder == "" {
		if err := c.callerIsGrantor(); err != nil {
			return nil, err
		}
		if err := c.makeGrantor(); err != nil {
			return nil, fail(exitFailure, "", "%w", err)
		}
		return c.judgeAdapter()
	}
	if err := c.makeOwnHolder(holder); err != nil {
		return nil, err
	}
	if err := c.callerIsHolder(holder); err != nil {
		return nil, err
	}
	return c.holderAdapter(holder)
}

// ownTick appends what the machine's clock says.
func (a *adapter) ownTick(ctx context.Context) (lease.Duration, error) {
	if _, has := a.units.Magnitude("ms"); !has {
		return lease.Duration{}, usagef("give a READING", "the table of units has no ms, so the machine's clock cannot be told in it")
	}
	own := *a
	own.external = false
	n, err := own.tick(ctx, 0)
	if err != nil {
		return lease.Duration{}, err
	}
	one, _ := a.units.Magnitude("ms")
	return lease.Duration{Unit: "ms", N: n / one}, nil
}

// appendReading appends a tick with this reading, unless it is older than one that is there.
func (a *adapter) appendReading(ctx context.Context, reading lease.Duration) error {
	fact, err := lease.NewTick(a.units, reading, "", 0, false)
	if err != nil {
		return usagef("", "%s is no reading: %w", reading, err)
	}
	n, err := a.units.Count(reading)
	if err != nil {
		return usagef("", "%w", err)
	}
	under, release, err := a.medium.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := a.catchUp(ctx); err != nil {
		return err
	}
	if n < a.greatest {
		return fail(exitRefused, "readings never decrease", "%s is older than %s, which the stream has already", reading, a.units.Of(a.greatest))
	}
	_, err = under.Append(ctx, stream.How{}, fact.Encode())
	return err
}

// readReading reads a reading: a JSON duration, a number with a unit of the table, or a sum of spans.
func (c *Composition) readReading(word string) (lease.Duration, error) {
	d, err := c.parseReading(word)
	if err == nil && d.N <= 0 {
		err = errors.New("readings begin above 0")
	}
	if err == nil {
		_, err = lease.NewTick(c.Config.Units, d, "", 0, false)
	}
	if defective := new(lease.Defective); errors.As(err, &defective) {
		err = errors.New(strings.TrimPrefix(defective.Error(), "defective: dao.lease/reading: "))
	}
	if err != nil {
		return d, usagef("write "+c.Config.Units.Of(5).String()+" or its JSON", "%q is no reading: %w", word, err)
	}
	return d, nil
}

func (c *Composition) parseReading(word string) (d lease.Duration, err error) {
	if strings.HasPrefix(strings.TrimSpace(word), "{") {
		return d, d.UnmarshalJSON([]byte(word))
	}
	unit := strings.TrimLeft(word, "0123456789")
	if _, has := c.Config.Units.Magnitude(unit); has && unit != word {
		n, err := strconv.ParseInt(strings.TrimSuffix(word, unit), 10, 64)
		if err != nil {
			return d, fmt.Errorf("the number is too great")
		}
		return lease.Duration{Unit: unit, N: n}, nil
	}
	span, err := parseSpan(word)
	if err != nil {
		return d, err
	}
	return c.Config.duration(span)
}
