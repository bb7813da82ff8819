package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/daolease/daolease/pkg/judge"
)

// hear begins to take the signals that are for a judge. That is done before its first word is said, because
// whoever hears it may answer with one.
func hear(loops bool) chan os.Signal {
	signals, wanted := make(chan os.Signal, 4), []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if loops {
		wanted = append(wanted, hangup()...)
	}
	signal.Notify(signals, wanted...)
	return signals
}

// suspend stops cleanly: nothing new starts, what runs gets up to its timeout, what has ended is recorded. A
// second signal kills what runs, as failures.
func (s *sitting) suspend(ctx context.Context) error {
	s.procs.stop()
	if n := s.procs.busy(); n > 0 {
		s.teller.news("stopping: what runs (%s) gets up to its timeout; a second signal kills it", counted(n, "procedure"))
	}
	for s.procs.busy() > 0 {
		select {
		case <-s.procs.ended:
			if err := s.settle(ctx); err != nil {
				return err
			}
		case sig := <-s.signals:
			if !isHangup(sig) {
				s.killAll()
			}
		}
	}
	return s.settle(ctx)
}

// errKilled is why a procedure was stopped before it had ended.
var errKilled = errors.New("the judge was told a second time to stop")

// settle records what has ended.
func (s *sitting) settle(ctx context.Context) error {
	report := s.judge.Settle(ctx)
	s.teller.report(s.judge, &report)
	s.metrics.settled(&report)
	s.procs.recorded(&report)
	s.writeMetrics()
	if report.Err != nil {
		return s.comp.stops(report.Err)
	}
	if report.Outcome == judge.Aborted {
		return fail(exitFailure, "", "stopping: %s", report.Abort)
	}
	return nil
}

// onSignals has a signal end a run of single passes: the first lets procedures run to their timeouts, the
// second kills them.
func (s *sitting) onSignals() (undo func()) {
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-s.signals:
				if s.procs.isStopping() {
					s.killAll()
				}
				s.procs.stop()
			case <-over:
				return
			}
		}
	}()
	return func() { close(over) }
}
