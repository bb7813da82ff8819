package cmd

import (
	"context"
	"math"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/hooks"
	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// sitting is one incarnation of a judge on a composition: the judge, and what it acts through.
type sitting struct {
	comp    *Composition
	judge   *judge.Judge
	lock    *judgeLock
	adapter *adapter
	wall    *wallNoter
	procs   *procedures
	hall    *hall
	teller  *teller
	metrics *metrics  // nil: nobody asked for them
	notify  *notifier // nil: systemd did not ask
	heap    heap

	facts, policy *stream.File
	killAll       context.CancelFunc // kills every running procedure
	signals       chan os.Signal

	tickAt int64         // raw clock of the newest tick, ms
	tick   int64         // its reading, base units
	still  bool          // no tick could be appended last: time stands still
	allAt  int64         // raw clock of the last pass that read all media, ms
	due    int64         // the first reading at which anything can be due
	drain  time.Time     // since when the holders' media are being read
	cutAt  stream.Cursor // on the grantor's stream, after the last pass that was cut
}

// sit begins an incarnation: the lock, the ledger, the mark in judge.lock (SPEC 6).
func sit(ctx context.Context, c *Composition, o *judgeOptions) (*sitting, error) {
	if err := c.readyForJudge(); err != nil {
		return nil, err
	}
	lock, err := c.lockFor(ctx, o)
	if err != nil {
		return nil, err
	}
	kill, killAll := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &sitting{comp: c, lock: lock, killAll: func() { killAll(errKilled) }, teller: newTeller(c), signals: o.told}
	if s.teller.quiet = o.told != nil; !s.teller.quiet {
		s.signals = hear(o.loops())
		if o.loops() {
			s.notify = newNotifier(c.app)
		}
	}
	if o.metrics != "" {
		s.metrics = newMetrics(o.metrics)
	}
	s.procs = newProcedures(kill, c, s.teller)
	if s.metrics != nil {
		s.metrics.byHand = s.procs.byHand
	}
	if err := s.begin(ctx, o); err != nil {
		s.rise()
		return nil, err
	}
	return s, nil
}

// readyForJudge refuses a composition on which no judge may act, and makes the folders that are missing.
func (c *Composition) readyForJudge() error {
	if err := c.callerIsGrantor(); err != nil {
		return err
	}
	uid := c.app.UID
	if err := refuseFindings(exitComposition, c.checkGrantorSide(uid)); err != nil {
		return err
	}
	if err := c.Config.assemble(c.Dir, uid); err != nil {
		return err
	}
	return c.makeGrantor()
}

func (s *sitting) begin(ctx context.Context, o *judgeOptions) error {
	c := s.comp
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return err
	}
	cfg.Adopt, cfg.Reclaimer = o.adopt, s.procs
	cfg.Accept = c.accept
	if !c.Config.external() {
		cfg.Stamp = s.appendTick
		cfg.Draining, cfg.Enough = s.beginDraining, s.readEnough
	}
	s.hall, cfg.Hinted = newHall(c, &cfg, s.teller, o), o.loops()
	s.facts, s.policy = cfg.Facts.(*stream.File), cfg.Policy.(*stream.File)
	if s.adapter, err = c.judgeAdapter(); err != nil {
		return err
	}
	s.adapter.boot = sync.OnceValue(s.adapter.boot) // it lasts as long as this process
	wall, err := c.wall()
	if err != nil {
		return err
	}
	s.wall = newWallNoter(c.Config, wall, c.app.Clock)
	if s.judge, err = judge.New(ctx, cfg); err != nil {
		return ledgerError(err)
	}
	s.hall.ask(s.judge)
	if err := s.markIncarnation(o.told != nil); err != nil {
		return err
	}
	if err := hooks.Sweep(c.runDir(), s.judge.Subjects(), c.identity(nil)); err != nil {
		s.teller.say("run files: %v", err)
	}
	s.teller.began(s.judge)
	return nil
}

func (s *sitting) markIncarnation(yields bool) error {
	host, err := s.comp.app.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	return s.lock.write(mark{Incarnation: s.judge.Incarnation(), PID: os.Getpid(), Host: host, Yields: yields})
}

// accept refuses a configuration that has no room for a live lease (SPEC 8).
func (c *Composition) accept(e judge.Entry) error {
	return c.Config.carries(e.Lease, e.Subject, e.Duration, e.Max)
}

// appendTick reads the clock into the tick stream. Where there is no room for a tick time stands still: nothing
// lapses because the judge could not write, and what was heard meanwhile waits for a stamp.
func (s *sitting) appendTick(ctx context.Context) error {
	if s.comp.Config.external() {
		return nil
	}
	now, _ := s.judge.Now()
	reading, err := s.adapter.tick(ctx, now)
	if s.still = err != nil; s.still {
		_, full := s.comp.fullWords()
		s.teller.once("ticks", "no tick could be appended: %v%s", err, briefWords("; ", full))
		return err
	}
	s.teller.over("ticks", "ticks are appended again")
	s.tick, s.tickAt = reading, s.adapter.at
	return nil
}

// beginDraining and readEnough bound how long one pass reads the holders' media: half the tolerance, at
// least 100 ms.
func (s *sitting) beginDraining() { s.drain = time.Now() }

func (s *sitting) readEnough() bool {
	return time.Since(s.drain) >= max(s.comp.Config.Tolerance/2, 100*time.Millisecond)
}

// pass runs one pass with what belongs around it, and says what happened.
func (s *sitting) pass(ctx context.Context) judge.Report {
	_ = s.appendTick(ctx) // said; the pass goes on at the old reading
	s.hall.attend(s.judge, s.comp.Config.external() || s.tick >= s.due)
	began, running, due := time.Now(), s.comp.app.Clock.Running(), s.due
	report := s.judge.Pass(ctx)
	if s.measure(&report, time.Since(began), due); report.All {
		s.allAt = running
	}
	s.due = s.firstDue(&report)
	s.hall.ease(s.judge, len(report.Renewed))
	s.teller.report(s.judge, &report)
	s.procs.recorded(&report)
	if reading, ticked := s.judge.Now(); ticked && !s.comp.Config.external() {
		if err := s.wall.note(ctx, reading); err != nil {
			s.teller.once("wall", "the time of day could not be noted: %v", err)
		}
	}
	if report.Outcome == judge.OK {
		s.evict(ctx)
		all, _ := s.judge.Count()
		s.heap.suit(all)
	}
	s.writeMetrics()
	if s.notify != nil {
		s.notify.passed(s.judge.Count())
	}
	return report
}

// measure counts a pass: how long it took, and how long after something was due it came.
func (s *sitting) measure(r *judge.Report, took time.Duration, due int64) {
	if s.metrics == nil {
		return
	}
	k := s.comp.Config
	count := func(d *lease.Duration) int64 {
		if d == nil {
			return 0
		}
		n, _ := k.Units.Count(*d) // the judge reports none that cannot be counted
		return n
	}
	now := count(r.Now)
	s.metrics.unwatched(k.span(count(r.Unwatched)))
	s.metrics.passed(r, took, k.span(max(0, now-due)), k.span(now))
}

// firstDue is the first reading at which anything can be due, as a pass leaves it.
func (s *sitting) firstDue(r *judge.Report) int64 {
	if r.NextDue == nil {
		return math.MaxInt64
	}
	due, err := s.comp.Config.Units.Count(*r.NextDue)
	if err != nil {
		return 0
	}
	return due
}

// evict bounds the grantor's stream and the policy medium, never past the cursors that are on disk.
func (s *sitting) evict(ctx context.Context) {
	k := s.comp.Config.Retention
	for _, m := range []struct {
		file *stream.File
		name string
		most byteSize
	}{{s.facts, mediumGrantor, k.Grantor}, {s.policy, "policy", k.Ticks}} {
		size, err := m.file.Size(ctx)
		if m.most == 0 || err != nil || size <= int64(m.most) {
			continue
		}
		if err := s.judge.Flush(ctx); err != nil {
			return // the next pass says so
		}
		if _, err := m.file.Evict(ctx, s.judge.CursorOf(m.name)); err != nil {
			s.teller.once("evicting "+m.name, "evicting %s: %v", m.file.Path(), err)
		}
	}
}

// loop passes until it is told to stop: on events, at the next moment anything can be due, when a procedure
// ends, and at least twice a cadence.
func (s *sitting) loop(ctx context.Context) error {
	for {
		began := time.Now()
		report := s.pass(ctx)
		if report.Err != nil {
			return s.comp.stops(report.Err)
		}
		sig, err := s.rest(ctx, began, &report)
		switch {
		case err != nil:
			return err
		case sig == nil:
		case isHangup(sig):
			s.notify.reloading()
			s.reload()
			s.notify.reloaded()
		default:
			s.notify.stopping()
			return s.suspend(ctx)
		}
	}
}

// rise ends the incarnation: its procedures, its watchers and its lock.
func (s *sitting) rise() {
	signal.Stop(s.signals)
	s.killAll()
	if s.hall != nil {
		s.hall.close()
	}
	s.heap.restore()
	s.lock.release()
}
