package judge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// begins has a judge's process begin on the media as they are. It may not get through: faults are ordered.
func (s *sim) begins() bool {
	s.life = &life{}
	s.last = map[string]int{}
	s.forgetLife(s.lostTail)
	cfg := s.cfg
	cfg.Boot = fmt.Sprint("boot", s.boot)
	cfg.Ticks, cfg.Facts, cfg.Policy = s.dress("ticks", s.life), s.dress(grantor, s.life), s.dress("policy", s.life)
	cfg.Ledger = s.dress("ledger", s.life).(stream.Rewriter)
	cfg.Reclaimer = &simProcedures{s, s.life, map[string]string{}}
	cfg.Media = stream.NewSet(nil)
	for _, name := range s.holders {
		cfg.Media.Add(name, s.dress(name, s.life))
	}
	var err error
	s.judge, err = judge.New(s.t.Context(), cfg)
	switch {
	case err == nil:
		s.lostTail = false
		if n := s.judge.Incarnation(); n <= s.incarnation {
			s.fail("incarnation %d follows %d", n, s.incarnation)
		}
		s.incarnation = s.judge.Incarnation()
		s.say("incarnation %d begins: %d", s.incarnation, s.judge.Began())
		if now, _ := s.judge.Now(); now < int64(s.disk.now) {
			s.fail("now fell to %d from %v", now, s.disk.now)
		}
	case !errors.Is(err, stream.ErrTransport) && !errors.Is(err, stream.ErrFull):
		s.fail("no judge can begin: %v", err)
	default:
		s.judge = nil
	}
	return err == nil
}

// onePass is a tick and a pass of the judge, which begins if there is none.
func (s *sim) onePass() judge.Report {
	s.tick(s.now)
	if s.judge == nil && !s.begins() {
		return judge.Report{}
	}
	s.before, s.reads, s.at = len(s.said), 0, 0
	clear(s.last)
	for _, l := range s.leases {
		l.seen = true
	}
	was, _ := s.judge.Now()
	r := s.judge.Pass(s.t.Context())
	s.say("pass: %s %s, granted %v, renewed %v, unknown %v, pending %v, cut %v", r.Outcome, r.Abort, r.Granted, r.Renewed, r.Unknown, r.Pending, r.Truncated)
	s.mids = nil
	if now, _ := s.judge.Now(); now < was {
		s.fail("now fell from %d to %d", was, now)
	}
	s.checked(r)
	s.buried()
	return r
}

// tick appends one, of which the model knows.
func (s *sim) tick(reading int64) {
	s.newest = max(s.newest, reading)
	s.world.tick(reading)
}

// checked holds a report against the model. What is released, revoked or past its cap is concluded by any
// completed pass.
func (s *sim) checked(r judge.Report) {
	if s.life.ended {
		return
	}
	if r.Err != nil {
		s.fail("no other judge was there: %v", r.Err)
	}
	if r.Outcome != judge.OK {
		return
	}
	s.kept()
	for _, id := range sorted(s.leases) {
		l := s.leases[id]
		if l.seen && l.latest == 0 {
			l.latest = s.now
		}
		late := l.max > 0 && l.latest > 0 && s.at-l.latest > l.max
		if l.seen && l.cause == "" && !l.undead && !s.grantorLost && (l.releaseRead || l.revokeRead || late) {
			s.fail("%s is not concluded by a completed pass: released %t, revoked %t, past its cap %t", id, l.releaseRead, l.revokeRead, late)
		}
	}
}

// buried lets a process that was killed be gone.
func (s *sim) buried() {
	if s.life.ended {
		s.say("the judge is dead")
		s.judge = nil
	}
}

// kills has the judge die at one of its next effects, or now.
func (s *sim) kills(r *rand.Rand) {
	if s.judge == nil {
		return
	}
	s.torn = true
	s.life.left, s.life.how = r.IntN(7), []stream.AppendFault{stream.Lost, stream.Unanswered, stream.Torn}[r.IntN(3)]
	s.say("the judge is to die at effect %d", s.life.left)
	if s.life.left == 0 {
		s.life.ended = true
		s.buried()
	}
}

// reboots kills the judge with its machine: what of the ledger was not synced may be gone.
func (s *sim) reboots(r *rand.Rand) {
	if s.life == nil {
		return
	}
	s.boot++
	s.life.ended = true
	s.buried()
	if r.IntN(2) > 0 {
		s.leaves(s.disk.sure)
	}
	s.resume = s.disk.groups > 0 // else nothing is known that could be made unknown
}

// leaves has only the first lines of the ledger be left.
func (s *sim) leaves(lines int) {
	s.say("of the ledger %d of %d lines are left", lines, len(s.disk.lines))
	old := s.disk
	s.disk = newDisk()
	s.media["ledger"] = stream.NewMemory("ledger")
	for _, line := range old.lines[:lines] {
		s.media["ledger"].AppendRaw(line)
	}
	s.disk.land(old.lines[:lines], true)
	s.disk.passes, s.disk.marked = nil, false
	s.lostTail = true
}

// cuts kills the judge, and takes from the end of its ledger what had been on disk: a damaged one, of which the
// pieces show. What has left may be there again then. A pass that was completed stays, and with it that this judge
// is not the first.
func (s *sim) cuts(r *rand.Rand) {
	if s.life == nil || !s.disk.begun {
		return
	}
	least, d := 0, newDisk()
	for least < len(s.disk.lines) && !d.any {
		least++
		d.land(s.disk.lines[least-1:least], true)
	}
	s.life.ended = true
	s.buried()
	s.resume, s.incarnation = true, 0
	s.leaves(least + r.IntN(len(s.disk.lines)-least+1))
	s.media["ledger"].AppendRaw([]byte("a piece"))
	for id, l := range s.leases {
		l.undead = l.undead || l.gone()
		l.succeeded = l.gone() || s.disk.whole[id].succeeded
	}
}

// usurps has a second judge begin while the first is still there. The first must stop, and have no effect.
func (s *sim) usurps(*rand.Rand) {
	if s.judge == nil || s.life.ended {
		return
	}
	s.scripts["ledger"].Clear()
	s.scripts[grantor].Clear()
	first, old := s.judge, s.life
	old.left, s.stampFails = 0, 0
	if !s.begins() {
		old.ended = true
		return
	}
	told := false
	for range 4 {
		s.now++
		s.tick(s.now)
		r := first.Pass(s.t.Context())
		s.say("a usurped pass: %s %s, cut %v", r.Outcome, r.Abort, r.Truncated)
		// One that still has ticks to read concludes nothing, and so need not notice yet.
		if told = told || judge.Usurped(r.Err) || r.Outcome == judge.Cut; r.Outcome == judge.OK {
			s.fail("a usurped judge completes a pass")
		}
	}
	_, err := first.Grant(s.t.Context(), judge.Terms{Subject: subject("/g"), Holder: "a", Duration: ms(40)})
	if err == nil || !told {
		s.fail("a usurped judge was not told to stop, or grants: %v", err)
	}
	old.ended = true
}

// compares holds the ledger in memory against what would be read back.
func (s *sim) compares() {
	if s.judge == nil || s.life.ended || !judge.Journaled(s.judge) {
		return
	}
	got, _, _, err := judge.Replayed(s.t.Context(), s.media["ledger"], s.judge)
	if want := judge.Dump(s.judge); err != nil || got != want {
		s.fail("%v, read back:\n%s\nin memory:\n%s", err, got, want)
	}
}

// end lets everybody but the judge fall silent, and nothing go wrong any more: within its bound every lease
// lapses, be it by passes a cadence apart or by few that are far apart.
func (s *sim) end() {
	s.say("- the end")
	s.calm, s.down, s.enough, s.mids, s.stampFails = true, false, 0, nil, 0
	for _, script := range s.scripts {
		script.Clear()
	}
	if s.life != nil {
		s.life.left = 0
	}
	read := false
	for range 300 {
		s.now += s.cadence // at which every medium is read, with hints or without
		if r := s.onePass(); r.Outcome == judge.OK && len(r.Truncated) == 0 {
			read = true
			break
		}
	}
	if !read && s.failure == "" {
		s.fail("300 passes, and something is still unread")
	}
	longest := int64(0)
	for _, l := range s.leases {
		longest = max(longest, l.duration)
	}
	if far := s.draw("the end", 0).IntN(2) == 0; far {
		for range 6 + s.tolerance/s.cadence { // each counts for half a duration, or a cadence
			s.now += 3 * (longest + s.cadence)
			s.onePass()
		}
	} else {
		for until := s.now + longest + s.tolerance + 2*s.cadence + 15; s.now <= until; s.now += s.cadence {
			s.onePass()
		}
	}
	s.onePass()
	s.compares()
	for _, id := range sorted(s.leases) {
		if l := s.leases[id]; l.lapsed == 0 && !s.grantorLost && s.failure == "" {
			s.fail("%s is silent, and has not lapsed: %+v", id, *l)
		}
	}
	if rows := s.judge.Rows(); len(rows) > 0 {
		s.fail("still live at the end: %+v", rows)
	}
}
