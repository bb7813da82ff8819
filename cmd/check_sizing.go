package cmd

import (
	"fmt"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// sizing is what the durations of one entry of subjects mean in numbers. Spans are as facts carry them.
type sizing struct {
	Match      string         `json:"match"`
	Duration   lease.Duration `json:"duration"`
	RenewEvery lease.Duration `json:"renew_every"` // a third, unless it was asked for another
	Missed     int            `json:"missed"`      // renewals that may be missed in a row
	SilentPast lease.Duration `json:"silent_past"` // after the last renewal: duration and tolerance
	TakenBy    lease.Duration `json:"taken_by"`    // the latest at which a passing judge concludes it: a cadence later
	Text       string         `json:"text"`
}

// missedRenewals is how many renewals in a row a holder can miss that renews just under a third, as hold does: the
// next one still comes before its bound.
const missedRenewals = 2

// missed is the same of a holder that renews every so often: the next one has to come before the bound, not at it.
func missed(duration, every time.Duration) int {
	return max(0, int((duration-time.Millisecond)/every)-1)
}

// third is how often a lease of this duration is renewed, at most once in what a span can tell.
func third(duration time.Duration) time.Duration { return max(duration/3, time.Millisecond) }

// sizing says what the durations mean, and advises where they fit badly.
func (k *checker) sizing() {
	for i := range k.comp.Config.Subjects {
		r := &k.comp.Config.Subjects[i]
		k.report.Sizing = append(k.report.Sizing, k.sizeOf(r))
		k.adviseOn(r)
	}
	c := k.comp.Config
	if c.Tolerance == 0 {
		k.advice(k.keyPlace("tolerance"), "set tolerance to the longest that an append takes to be seen, at least 100ms",
			"with a tolerance of 0s a renewal that is on its way when a duration ends comes too late")
	}
}

func (k *checker) sizeOf(r *SubjectRule) sizing {
	c := k.comp.Config
	span := func(d time.Duration) lease.Duration { return c.durationOf(c.baseUp(d)) }
	past, every, survived := r.Duration+c.Tolerance, third(r.Duration), missedRenewals
	if k.every > 0 {
		every = k.every
	}
	if k.every > 0 || every > r.Duration/3 {
		survived = missed(r.Duration, every)
	}
	return sizing{
		Match: r.Match, Duration: span(r.Duration), RenewEvery: span(every), Missed: survived,
		SilentPast: span(past), TakenBy: span(past + c.Cadence),
		Text: fmt.Sprintf("%s: with %s a holder renews every %s and survives %s; one that died is concluded silent %s to %s after its last renewal",
			r.Match, formatSpan(r.Duration), formatSpan(every), counted(survived, "missed renewal"), formatSpan(past), formatSpan(past+c.Cadence)),
	}
}

// adviseOn compares an entry's durations with cadence and tolerance.
func (k *checker) adviseOn(r *SubjectRule) {
	c := k.comp.Config
	least := 2*c.Cadence + c.Tolerance
	place := func(name string) string {
		if name == "longest" && !c.given(ruleKey(r.Index, name)) {
			name = "duration" // whose default it is
		}
		return k.keyPlace(ruleKey(r.Index, name))
	}
	switch {
	case k.every > 0 && k.every >= r.Duration:
		k.tooSeldom(r, place("duration"))
	case k.every > 0 && 2*k.every >= r.Duration:
		k.advice(place("duration"), fmt.Sprintf("raise it to %s, so that two renewals in a row may be missed, or renew every %s", formatSpan(3*k.every+time.Second), formatSpan(third(r.Duration))),
			"%s: renewing every %s is not often enough for a lease of %s: it has to be less than half of it, or one missed renewal loses the lease", r.Match, formatSpan(k.every), formatSpan(r.Duration))
	}
	switch auto := r.Answer == "auto"; {
	case auto && r.Longest < least:
		k.problem(place("longest"), fmt.Sprintf("raise it to %s or more, or lower cadence and tolerance", formatSpan(least)),
			"%s: no proposal is ever granted: the longest, %s, is under twice the cadence and the tolerance, %s", r.Match, formatSpan(r.Longest), formatSpan(least))
	case auto && r.Duration < least:
		k.problem(place("duration"), fmt.Sprintf("raise it to %s or more, or lower cadence and tolerance", formatSpan(least)),
			"%s: a proposal that asks for no duration is refused: %s is under twice the cadence and the tolerance, %s", r.Match, formatSpan(r.Duration), formatSpan(least))
	case r.Duration < 3*c.Cadence:
		k.advice(place("duration"), fmt.Sprintf("raise it to %s, or lower the cadence to %s", formatSpan(3*c.Cadence), formatSpan(third(r.Duration))),
			"%s: with %s a holder renews every %s, more often than the judge passes (%s), which gains nothing", r.Match, formatSpan(r.Duration), formatSpan(third(r.Duration)), formatSpan(c.Cadence))
	}
	if r.Duration >= least && r.Duration < 2*c.Tolerance {
		k.advice(place("duration"), fmt.Sprintf("raise it to %s, or lower the tolerance", formatSpan(2*c.Tolerance)),
			"%s: most of the time until silence is tolerance: %s beside a duration of %s", r.Match, formatSpan(c.Tolerance), formatSpan(r.Duration))
	}
	if r.Max > 0 && r.Max < r.Duration {
		k.advice(place("max"), "raise max, or lower duration",
			"%s: the cap of %s ends every lease before its duration of %s has passed", r.Match, formatSpan(r.Max), formatSpan(r.Duration))
	}
}

// tooSeldom says that a holder which renews so seldom loses every lease before its first renewal.
func (k *checker) tooSeldom(r *SubjectRule, place string) {
	remedy := fmt.Sprintf("renew every %s, a third of the duration, or raise that to %s, so that two renewals in a row may be missed",
		formatSpan(third(r.Duration)), formatSpan(3*k.every+time.Second))
	if k.every < r.Longest {
		remedy += fmt.Sprintf("; or ask for more, up to %s, with --duration", formatSpan(r.Longest))
	}
	k.problem(place, remedy, "%s: every renewal comes too late: a lease of %s that is renewed every %s is lost before the first",
		r.Match, formatSpan(r.Duration), formatSpan(k.every))
}
