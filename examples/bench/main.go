// Command bench measures daolease and prints a table of ratios. Both sides of a ratio are measured in this run, so
// that it says something on a slow or busy machine too; the absolute figures beside it are this machine's.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
)

// bench is one run.
type bench struct {
	ctx  context.Context
	full bool
	dir  string // for everything that is built and written
	out  *tabwriter.Writer

	served int // servers with a folder of their own
}

// part is one of the things that are measured.
type part struct {
	name string
	run  func(*bench) error
}

func parts() []part {
	return []part{
		{"inside", (*bench).inside}, {"servers", (*bench).servers}, {"processes", (*bench).processes},
		{"reclaim", (*bench).reclaims}, {"rest", (*bench).rest},
		{"memory", (*bench).memory}, {"past", (*bench).past},
	}
}

func main() {
	names := os.Args[1:]
	full := len(names) > 0 && names[0] == "full"
	if full {
		names = names[1:]
	}
	wanted := parts()
	if len(names) > 0 {
		wanted = slices.DeleteFunc(wanted, func(p part) bool { return !slices.Contains(names, p.name) })
	}
	if len(wanted) < len(names) {
		fmt.Fprint(os.Stderr, "usage: examples/bench/run [full] [PART…]\nparts:")
		for _, p := range parts() {
			fmt.Fprint(os.Stderr, " ", p.name)
		}
		fmt.Fprintln(os.Stderr)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, full, wanted)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, full bool, wanted []part) error {
	dir, err := os.MkdirTemp("", "daolease-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, full: full, dir: dir, out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	if err := b.build(); err != nil {
		return err
	}
	b.row("what", "measured", "against", "ratio")
	b.row("----", "--------", "-------", "-----")
	for _, p := range wanted {
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return b.out.Flush()
}

// row adds a line of the table.
func (b *bench) row(what, measured, against, ratio string) {
	fmt.Fprintf(b.out, "%s\t%s\t%s\t%s\n", what, measured, against, ratio)
}

// skip says what is not measured here.
func (b *bench) skip(what string, why any) { b.row(what, "-", fmt.Sprint("skipped: ", why), "-") }
