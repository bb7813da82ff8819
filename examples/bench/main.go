// Command bench measures daolease and prints a table of ratios. Both sides of a ratio are measured in this run, so
// that it says something on a slow or busy machine too; the absolute figures beside it are this machine's.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
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

func main() {
	if len(os.Args) > 2 || len(os.Args) == 2 && os.Args[1] != "full" {
		fmt.Fprintln(os.Stderr, "usage: examples/bench/run [full]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, len(os.Args) == 2)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, full bool) error {
	dir, err := os.MkdirTemp("", "daolease-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, full: full, dir: dir, out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	b.row("what", "measured", "against", "ratio")
	b.row("----", "--------", "-------", "-----")
	for _, part := range []func() error{b.build, b.inside, b.processes, b.reclaims} {
		if err := part(); err != nil {
			return err
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
