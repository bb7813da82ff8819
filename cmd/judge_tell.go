package cmd

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// teller says on stderr what a judge does: conclusions, conditions when they begin and when they end, and damage
// once a minute a medium. What others can bring about as often as they like is rationed, so that nobody can flood
// the log.
type teller struct {
	app   *App
	comp  *Composition // its configuration may be another after a pass
	quiet bool         // within a hold: only what is wrong is said
	// byHand says that a lease was taken back by hand.
	byHand func(lease string) bool

	mu      sync.Mutex
	lasting map[string]bool
	dropped map[string]*damage // by medium
	rations map[string]*ration // by what they are of
}

// damage is what was dropped on one medium and not said yet.
type damage struct {
	next  int64 // running clock from which it may be said again, ms
	count int
	first judge.Drop
}

// maxLasting bounds what is remembered of what was said.
const maxLasting = 10_000

func newTeller(c *Composition) *teller {
	return &teller{app: c.app, comp: c, byHand: func(string) bool { return false }, lasting: map[string]bool{}, dropped: map[string]*damage{}, rations: map[string]*ration{}}
}

// say writes one line.
func (t *teller) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.app.say("judge: "+format, args...)
}

// news writes one line of what goes as it should.
func (t *teller) news(format string, args ...any) {
	if !t.quiet {
		t.say(format, args...)
	}
}

// once says that a condition has begun.
func (t *teller) once(key, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lasting[key] || len(t.lasting) >= maxLasting {
		return
	}
	t.lasting[key] = true
	kind, most := rationOf(key)
	t.rationed(kind, most, format, args...)
}

// over says that a condition has ended, if it was said that it had begun.
func (t *teller) over(key, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lasting[key] {
		delete(t.lasting, key)
		kind, most := rationOf(key)
		t.rationed(kind, most, format, args...)
	}
}

func (t *teller) began(j *judge.Judge) {
	switch j.Began() {
	case judge.First:
		t.news("incarnation %d, the first", j.Incarnation())
	case judge.Threaded:
		t.news("incarnation %d goes on with the ledger", j.Incarnation())
	case judge.Recovered:
		t.say("incarnation %d: the ledger was recovered (a reboot, a moved folder or a damaged end), so all evidence is unknown until it is renewed", j.Incarnation())
	}
	if j.LostGrants() {
		t.say("the grantor's stream had a gap: nothing is granted until daolease recover")
	}
}

// report says what a pass came to.
func (t *teller) report(j *judge.Judge, r *judge.Report) {
	if r.Outcome != judge.Settled {
		t.conditions(r)
		t.damages(r)
	}
	for _, id := range r.Granted {
		if row, live := j.Row(id); live {
			t.done("granted", []slog.Attr{slog.String("lease", id), slog.String("subject", row.Subject.Text()), slog.String("holder", row.Holder)},
				"granted %s on %q to %s for %v", escape(id), shortened(row.Subject.Text()), escape(row.Holder), row.Duration)
		}
	}
	t.refusals(r)
	for _, c := range r.Reclaims {
		attrs := []slog.Attr{
			slog.String("lease", c.Lease), slog.String("subject", c.Subject), slog.String("cause", string(c.Cause)), slog.Int("attempt", c.Attempt),
		}
		switch subject := shortened(c.Subject); {
		case c.OK && t.byHand(c.Lease):
			t.done("reclaimed", attrs, "%q of lease %s (%s) was taken back by hand%s", subject, c.Lease, c.Cause, afterFailures(try{Count: c.Attempt}))
		case c.OK:
			t.done("reclaimed", attrs, t.takenBack(&c), subject, c.Lease, c.Cause)
		default:
			t.event("reclaim failed", append(attrs, slog.String("error", c.Error)), "lease %s stays pending (%s): attempt %d to take back %q: %s", c.Lease, c.Cause, c.Attempt, subject, c.Error)
		}
	}
	for _, e := range r.Lapsed {
		t.done("lapsed", []slog.Attr{slog.String("lease", e.Lease), slog.String("cause", string(e.Cause))}, "lapsed %s by %s", escape(e.Lease), e.Cause)
	}
	t.unsaid()
}

// takenBack is how it is said that a subject is free, of the subject, the lease and the cause. Where no procedure is
// configured none has run, and only the record is to follow.
func (t *teller) takenBack(c *judge.Reclaim) string {
	if rule, found := t.comp.Config.rule(lease.StringSubject(c.Subject)); found && len(rule.Reclaim) == 0 {
		return "no procedure is to take back %q of lease %s (%s): its end is only recorded"
	}
	return "took back %q of lease %s (%s)"
}

func (t *teller) conditions(r *judge.Report) {
	for _, name := range r.Gaps {
		why := r.Causes[name]
		if why == "" {
			why = "what was read last is no longer there"
		}
		t.seldom("a gap on "+name, why)
	}
	if r.Unwatched != nil && r.Outcome == judge.OK { // the next completed pass says it in full
		// A machine that is a little late is no news; the report has it all the same.
		k := t.comp.Config
		if late, err := k.Units.Count(*r.Unwatched); err != nil || late >= k.baseUp(k.Cadence) {
			t.news("nobody watched for %v beyond the cadence; every lease is owed its part of it", *r.Unwatched)
		}
	}
	truncated := map[string]bool{}
	for _, name := range r.Truncated {
		truncated["truncated "+name] = true
		t.once("truncated "+name, "%s has more to read than one pass may; silence of its author is not concluded meanwhile", name)
	}
	failed := map[string]bool{}
	for _, f := range r.Failed {
		failed["failed "+f.Medium] = true
		t.once("failed "+f.Medium, "%s: %s", f.Medium, f.Error)
	}
	if r.Abort != "" {
		_, full := t.comp.fullWords()
		t.once("abort", "a pass was aborted: %s%s", r.Abort, briefWords("; ", full))
	}
	if r.Outcome == judge.OK { // another has not looked everywhere
		t.ended("truncated ", truncated, "is read to its end again")
		t.ended("failed ", failed, "answers again")
		t.over("abort", "passes are completed again")
	}
}

// ended says of each condition of a kind that is over.
func (t *teller) ended(kind string, still map[string]bool, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.lasting {
		if strings.HasPrefix(key, kind) && !still[key] {
			delete(t.lasting, key)
			of, most := rationOf(key)
			t.rationed(of, most, "%s %s", strings.TrimPrefix(key, kind), what)
		}
	}
}

// damageGap is the least time between two lines about the same medium's damage.
const damageGap = time.Minute

// damages says what was dropped: the first of each medium at once, the rest counted.
func (t *teller) damages(r *judge.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range r.Drops {
		m := t.dropped[d.Medium]
		if m == nil {
			if len(t.dropped) >= maxLasting {
				continue
			}
			m = &damage{}
			t.dropped[d.Medium] = m
		}
		if m.count == 0 {
			m.first = d
		}
		m.count++
	}
	now := t.app.Clock.Running()
	for name, m := range t.dropped {
		if m.count == 0 || now < m.next {
			continue
		}
		more := ""
		if m.count > 1 {
			more = " (and more)"
		}
		t.app.say("judge: %s: dropped the line at %v: %s%s", name, m.first.Position, m.first.Reason, more)
		m.count, m.next = 0, now+damageGap.Milliseconds()
	}
}
