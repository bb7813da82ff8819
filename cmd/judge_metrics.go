package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// metrics is what a judge has done since its start, as Prometheus reads it from a file (node_exporter's textfile
// collector, for one). Nothing in it names a lease, a subject or a holder: the number of lines is bounded. A nil
// one counts nothing.
type metrics struct {
	path      string
	unwritten bool                    // the last attempt failed
	byHand    func(lease string) bool // it was taken back by hand

	outcomes map[string]uint64
	lapsed   map[string]uint64
	dropped  map[string]uint64
	buckets  []uint64 // passes that took at most passBounds
	seconds  float64
	counts   map[string]uint64
	stalled  float64 // seconds that nobody watched, beyond the cadence
	lag      float64 // seconds by which the last pass that concluded anything came after it was due
	last     judge.Report
	done     float64 // the reading of the last completed pass, in seconds
}

// passBounds are the upper bounds of the histogram of how long passes take, in seconds.
func passBounds() []float64 { return []float64{.001, .005, .025, .1, .5, 1, 5, 30} }

// The reasons for which a line is dropped (SPEC 2), as labels. Beyond what a report names, none is known.
const (
	dropUndecodable  = "undecodable"
	dropDefective    = "defective"
	dropDamaged      = "damaged"
	dropInadmissible = "inadmissible"
	dropUnlisted     = "unlisted"
)

func newMetrics(path string) *metrics {
	m := &metrics{
		path: path, outcomes: map[string]uint64{}, lapsed: map[string]uint64{}, dropped: map[string]uint64{},
		buckets: make([]uint64, len(passBounds())), counts: map[string]uint64{},
		byHand: func(string) bool { return false },
	}
	for _, outcome := range []judge.Outcome{judge.OK, judge.Idle, judge.Cut, judge.Aborted} {
		m.outcomes[string(outcome)] = 0
	}
	for _, cause := range []lease.Cause{lease.ByRelease, lease.ByCap, lease.ByPolicy, lease.BySilence} {
		m.lapsed[string(cause)] = 0
	}
	for _, reason := range []string{dropUndecodable, dropDefective, dropDamaged, dropInadmissible, dropUnlisted} {
		m.dropped[reason] = 0
	}
	return m
}

// passed counts a pass that took this long, by the seconds after something was due.
func (m *metrics) passed(r *judge.Report, took time.Duration, late time.Duration, reading time.Duration) {
	if m == nil {
		return
	}
	m.outcomes[string(r.Outcome)]++
	m.seconds += took.Seconds()
	for i, bound := range passBounds() {
		if took.Seconds() <= bound {
			m.buckets[i]++
		}
	}
	if len(r.Lapsed)+len(r.Pending) > 0 {
		m.lag = late.Seconds()
	}
	if r.Outcome == judge.OK {
		m.done = reading.Seconds()
	}
	m.settled(r)
}

// settled counts what a report says, of a pass or of what was settled after one.
func (m *metrics) settled(r *judge.Report) {
	if m == nil {
		return
	}
	m.last = *r
	for name, n := range map[string]int{
		"granted": len(r.Granted), "refused": len(r.Refused), "renewed": len(r.Renewed), "released": len(r.Released),
		"unknown": len(r.Unknown), "gaps": len(r.Gaps),
	} {
		m.counts[name] += uint64(n)
	}
	if r.Unwatched != nil {
		m.counts["stalls"]++
	}
	for _, c := range r.Reclaims {
		switch {
		case !c.OK:
			m.counts["hooks failed"]++
		case m.byHand(c.Lease):
			m.counts["by hand"]++
		default:
			m.counts["hooks ok"]++
		}
	}
	for _, e := range r.Lapsed {
		m.lapsed[string(e.Cause)]++
	}
	for _, d := range r.Drops {
		m.dropped[dropReason(d.Reason)]++
	}
	m.dropped[dropUnlisted] += uint64(r.Dropped - len(r.Drops))
}

// unwatched adds what nobody watched.
func (m *metrics) unwatched(d time.Duration) {
	if m != nil {
		m.stalled += d.Seconds()
	}
}

func dropReason(text string) string {
	kind, _, named := strings.Cut(text, ": ")
	switch {
	case named && (kind == dropUndecodable || kind == dropDefective):
		return kind
	case strings.HasPrefix(text, "a line "): // as the file medium says what is no value
		return dropDamaged
	}
	return dropInadmissible
}

// text is the metrics as Prometheus reads them.
func (m *metrics) text(live, pending int) []byte {
	var b strings.Builder
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP daolease_%s %s\n# TYPE daolease_%[1]s %[3]s\n", name, help, kind)
	}
	one := func(name, kind, help string, value any) {
		metric(name, kind, help)
		fmt.Fprintf(&b, "daolease_%s %v\n", name, value)
	}
	by := func(name, help, label string, values map[string]uint64) {
		metric(name, "counter", help)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "daolease_%s{%s=%q} %d\n", name, label, key, values[key])
		}
	}
	metric("leases", "gauge", "Leases in the judge's ledger.")
	fmt.Fprintf(&b, "daolease_leases{state=\"live\"} %d\ndaolease_leases{state=\"pending\"} %d\n", live-pending, pending)
	by("lapses_total", "Leases recorded as lapsed, by cause.", "cause", m.lapsed)
	by("dropped_lines_total", "Lines that establish nothing, by reason.", "reason", m.dropped)
	by("hook_runs_total", "Reclaim procedures that reported, by result; by_hand: taken back by hand instead.", "result",
		map[string]uint64{"ok": m.counts["hooks ok"], "failed": m.counts["hooks failed"], "by_hand": m.counts["by hand"]})
	by("passes_total", "Passes, by outcome.", "outcome", m.outcomes)
	for _, c := range [][3]string{
		{"granted", "granted_total", "Leases granted or seeded."}, {"refused", "refused_total", "Proposals refused."},
		{"renewed", "renewals_total", "Leases renewed, once a pass."}, {"released", "releases_total", "Leases whose release was read."},
		{"unknown", "unknown_total", "Leases whose evidence became unknown."}, {"gaps", "gaps_total", "Gaps on media."},
		{"stalls", "stalls_total", "Intervals between completed passes longer than the cadence."},
	} {
		one(c[1], "counter", c[2], m.counts[c[0]])
	}
	one("unwatched_seconds_total", "counter", "Time that nobody watched, beyond the cadence.", m.stalled)
	one("truncated_media", "gauge", "Media that the last pass did not read to their ends.", len(m.last.Truncated))
	one("unreadable_media", "gauge", "Media that the last pass could not read.", len(m.last.Failed))
	one("conclusion_lag_seconds", "gauge", "How long after it was due the last conclusion came.", m.lag)
	one("last_completed_pass_reading_seconds", "gauge", "Reading (running time, no time of day) of the last completed pass.", m.done)
	one("incarnation", "gauge", "Number of this start of the judge.", m.last.Incarnation)
	m.histogram(&b, metric)
	return []byte(b.String())
}

func (m *metrics) histogram(b *strings.Builder, metric func(name, kind, help string)) {
	metric("pass_duration_seconds", "histogram", "How long passes took.")
	total := uint64(0)
	for _, n := range m.outcomes {
		total += n
	}
	for i, bound := range passBounds() {
		fmt.Fprintf(b, "daolease_pass_duration_seconds_bucket{le=\"%v\"} %d\n", bound, m.buckets[i])
	}
	fmt.Fprintf(b, "daolease_pass_duration_seconds_bucket{le=\"+Inf\"} %d\n", total)
	fmt.Fprintf(b, "daolease_pass_duration_seconds_sum %v\ndaolease_pass_duration_seconds_count %d\n", m.seconds, total)
}

// reasonOf is an error without the name of the file that it is about.
func reasonOf(err error) error {
	if about := new(fs.PathError); errors.As(err, &about) {
		return about.Err
	}
	return err
}

// write replaces the file at once, so that whoever reads it has the old or the new. It is not synced: after a
// crash the next pass writes it anew.
func (m *metrics) write(app *App, text []byte) error {
	file, err := followed(m.path)
	if err != nil {
		return err
	}
	return app.replaceNamed(file, text, false)
}

// writeMetrics writes what has been counted. That it cannot be written is said, and hinders nothing; judge --once says
// it by its exit status too.
func (s *sitting) writeMetrics() {
	if s.metrics == nil {
		return
	}
	live, pending := s.judge.Count()
	err := s.metrics.write(s.comp.app, s.metrics.text(live, pending))
	if s.metrics.unwritten = err != nil; err != nil {
		s.teller.once("metrics", "the metrics could not be written to %s: %v", s.metrics.path, reasonOf(err))
		return
	}
	s.teller.over("metrics", "the metrics are written again")
}
