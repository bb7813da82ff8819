package cmd

import (
	"context"
	"fmt"
	"time"
)

// What can be told of a lock without taking it.
const (
	lockHeld    = "held"
	lockFree    = "free"
	lockUnknown = "unknown"
)

// judgeState says whether a judge passes here. Its ticks say so, where the clock of their boot is this
// machine's; under ticks: external, where ticks are not the judge's, the ledger does.
func (s *survey) judgeState(ctx context.Context) judgeState {
	state := judgeState{Lock: probeLock(s.comp.judgeLock())}
	if mark, err := s.comp.readMark(); err == nil {
		state.Incarnation, state.PID, state.Host = mark.Incarnation, mark.PID, mark.Host
	}
	if s.view != nil {
		state.Incarnation = max(state.Incarnation, s.view.Incarnation())
	}
	a, err := s.comp.judgeAdapter()
	if err == nil {
		err = a.catchUp(ctx)
	}
	switch {
	case err != nil:
		state.Text = fmt.Sprintf("whether a judge passes cannot be told: %v", err)
	case s.comp.Config.external():
		s.byLedger(&state, a)
	default:
		s.byTicks(&state, a)
	}
	state.Text += s.whoJudges(state)
	return state
}

// byTicks judges by the newest tick: every pass begins with one.
func (s *survey) byTicks(state *judgeState, a *adapter) {
	if a.greatest == 0 {
		state.say(false, "no judge has passed here yet")
		return
	}
	state.NewestTick = s.reading(a.greatest)
	clock := s.comp.app.Clock
	elapsed, same := a.marked.elapsed(clock.Running(), clock.BootID())
	if !same {
		state.Text = "the newest tick is of another boot or another machine, so whether a judge passes cannot be told from its age"
		return
	}
	ago := time.Duration(elapsed) * time.Millisecond
	state.Ago = s.reading(s.comp.Config.baseUp(ago))
	switch recent := ago <= vigilCadences*s.comp.Config.Cadence; {
	case recent && state.Lock == lockFree:
		state.say(true, "a judge passed %s ago", formatAge(ago))
		return
	case recent:
		state.say(true, "a judge is passing: its newest tick is %s old", formatAge(ago))
		return
	}
	state.say(false, "no judge has passed here for %s, more than three cadences of %s", formatAge(ago), formatSpan(s.comp.Config.Cadence))
}

// byLedger judges by the reading of the last completed pass, which only the ledger says.
func (s *survey) byLedger(state *judgeState, a *adapter) {
	if a.greatest > 0 {
		state.NewestTick = s.reading(a.greatest)
	}
	k := s.comp.Config
	if s.view != nil && s.report.Unwatched != nil {
		if late, err := k.Units.Count(*s.report.Unwatched); err == nil && late > 2*k.baseUp(k.Cadence) {
			state.say(false, "no judge has passed here for %s of the tick stream, more than three cadences", formatSpan(k.span(late)+k.Cadence))
			return
		}
	}
	if state.Lock == lockHeld && s.view != nil {
		state.say(true, "a judge is passing, as far as the tick stream tells, which is not its own")
		return
	}
	state.Text = "whether a judge passes cannot be told: the tick stream is not its own"
}

func (j *judgeState) say(passing bool, format string, args ...any) {
	j.Passing, j.Text = &passing, fmt.Sprintf(format, args...)
}

// whoJudges says whose lock it is, or that nobody has it.
func (s *survey) whoJudges(state judgeState) string {
	switch {
	case state.Lock == lockHeld && state.PID > 0:
		return fmt.Sprintf(" (incarnation %d, pid %d on %s)", state.Incarnation, state.PID, state.Host)
	case state.Lock == lockHeld && state.Passing != nil && !*state.Passing:
		return "; a process has judge.lock all the same"
	case state.Lock == lockFree && state.Incarnation > 0:
		return fmt.Sprintf(" (incarnation %d; no process has judge.lock)", state.Incarnation)
	}
	return ""
}

// formatAge is a span for people in a precision that fits.
func formatAge(d time.Duration) string {
	if d >= 10*time.Second {
		return formatSpan(d.Truncate(time.Second))
	}
	if d >= time.Second {
		return formatSpan(d.Truncate(100 * time.Millisecond))
	}
	return formatSpan(d)
}
