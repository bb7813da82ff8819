package judge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// op is a kind of step.
type op struct {
	name   string
	weight int
	do     func(s *sim, r *rand.Rand)
}

// ops are the kinds of steps, and how often they come.
var ops = []op{
	{"pass", 60, func(s *sim, r *rand.Rand) { s.now += 1 + r.Int64N(s.cadence); s.onePass() }},
	{"passes", 12, (*sim).quietPasses},
	{"wait", 10, func(s *sim, r *rand.Rand) { s.now += r.Int64N(2 * s.cadence) }},
	{"jump", 4, func(s *sim, r *rand.Rand) { s.now += r.Int64N(300) }},
	{"holder", 50, (*sim).holderTurn},
	{"propose", 12, (*sim).proposes},
	{"withdraw", 3, (*sim).withdraws},
	{"release", 8, (*sim).releases},
	{"renew", 10, (*sim).renewsAnyway},
	{"forge", 8, (*sim).forges},
	{"junk", 3, (*sim).junk},
	{"grant by hand", 8, (*sim).grantsByHand},
	{"grant again", 2, (*sim).grantsAgain},
	{"record by hand", 3, (*sim).recordsByHand},
	{"revoke", 5, (*sim).revokes},
	{"between", 6, (*sim).between},
	{"midway", 8, (*sim).later},
	{"append fault", 8, (*sim).spoilsAppends},
	{"read fault", 8, (*sim).spoilsReads},
	{"lose", 5, (*sim).loses},
	{"resolver", 3, func(s *sim, r *rand.Rand) { s.down = r.IntN(2) == 0 }},
	{"kill", 9, (*sim).kills},
	{"reboot", 5, (*sim).reboots},
	{"cut", 4, (*sim).cuts},
	{"usurp", 3, (*sim).usurps},
	{"compare", 6, func(s *sim, _ *rand.Rand) { s.compares() }},
}

func (s *sim) do(st step) {
	s.say("- %s", ops[st.op].name)
	ops[st.op].do(s, rand.New(rand.NewPCG(st.seed, 3)))
}

// quietPasses are passes in a row, with ticks of every size up to a cadence.
func (s *sim) quietPasses(r *rand.Rand) {
	for range 2 + r.IntN(12) {
		s.now += 1 + r.Int64N(s.cadence)
		s.onePass()
	}
}

func (s *sim) anyHolder(r *rand.Rand) string { return simHolders[r.IntN(len(simHolders))] }

// anyLease is one that was granted, mostly a young one; nil: there is none.
func (s *sim) anyLease(r *rand.Rand) *simLease {
	if len(s.leases) == 0 {
		return nil
	}
	ids := sorted(s.leases)
	slices.SortStableFunc(ids, func(a, b string) int { return s.leases[b].said - s.leases[a].said })
	return s.leases[ids[r.IntN(1+r.IntN(len(ids)))]]
}

// forges writes what its author may not say, or says it where it counts for nothing.
func (s *sim) forges(r *rand.Rand) {
	l := s.anyLease(r)
	if l == nil {
		return
	}
	author := s.anyHolder(r)
	if author == l.holder {
		return
	}
	medium := append([]string{author}, s.mixed...)[r.IntN(1+len(s.mixed))]
	if len(s.mixed) > 0 && r.IntN(2) == 0 { // a stranger on a medium of many: it must register nothing
		for _, id := range sorted(s.leases) {
			if l := s.leases[id]; l.cause == "" && l.holder != author {
				s.utter(s.mixed[r.IntN(len(s.mixed))], author, lease.Renewal, id, "")
			}
		}
	} else if r.IntN(3) == 0 {
		s.utter(medium, author, lease.Release, l.id, "")
	} else {
		s.utter(medium, author, lease.Renewal, l.id, "")
	}
}

func (s *sim) junk(r *rand.Rand) {
	name := []string{"a", "b", grantor, "ticks", "policy"}[r.IntN(5)]
	s.write(name, []string{"junk", "", `{"dao.lease/event":"dao.lease/renewal"}`, `{"x":1}`, "\x00"}[r.IntN(5)])
	if name == "ticks" && s.newest > 5 {
		s.tick(s.newest - 5)
	}
}

// grantsByHand: with a token or without, with a cap or without, on a subject of its own.
func (s *sim) grantsByHand(r *rand.Rand) {
	s.byHand++
	f := lease.GrantTerms{
		Lease: fmt.Sprint("H", s.byHand), Subject: lease.StringSubject(fmt.Sprint("/hand", r.IntN(3))),
		Holder: s.anyHolder(r), Duration: ms(5 + r.Int64N(60)),
	}
	if r.IntN(2) == 0 {
		f.Max = ms(10 + r.Int64N(80))
	}
	if r.IntN(3) == 0 {
		f.Token = s.token + 1 + r.Int64N(3)
	}
	g, err := lease.NewGrant(lease.DefaultUnits(), f)
	if err != nil {
		panic(err)
	}
	s.onGrantors(g)
	s.grantedNow(g, s.readable())
}

// grantsAgain repeats a line of the grantor's stream: that establishes nothing.
func (s *sim) grantsAgain(r *rand.Rand) {
	if grants := s.of(lease.Grant); len(grants) > 0 {
		s.onGrantors(grants[r.IntN(len(grants))])
	}
}

// onGrantors writes a fact by hand on the grantor's stream, on a line of its own.
func (s *sim) onGrantors(f lease.Fact) {
	if s.torn {
		s.write(grantor, "\x00")
	}
	s.write(grantor, string(f.Encode()))
}

// recordsByHand writes a lapsed that ends nothing, for a lease that has none.
func (s *sim) recordsByHand(r *rand.Rand) {
	if l := s.anyLease(r); l != nil && l.lapsed == 0 && s.disk.begun {
		f, _ := lease.NewLapsed(l.id, lease.ByRelease, "")
		s.onGrantors(f)
		l.lapsed++
	}
}

func (s *sim) revokes(r *rand.Rand) {
	l := s.anyLease(r)
	if l == nil {
		return
	}
	l.revoked = true
	if s.judge != nil && !s.life.ended && r.IntN(2) == 0 {
		l.revokeRead = s.judge.Revoke(l.id, "told to", r.IntN(3) == 0) || l.revokeRead
		return
	}
	s.write("policy", fmt.Sprintf(`{"daolease/revoke":%q,"daolease/reason":"because","daolease/reclaimed":%t}`, l.id, r.IntN(3) == 0))
}

// between is what a program does between passes.
func (s *sim) between(r *rand.Rand) {
	if s.judge == nil {
		return
	}
	switch r.IntN(4) {
	case 0:
		s.judge.Grant(s.t.Context(), judge.Terms{Subject: subject("/g"), Holder: s.anyHolder(r), Duration: ms(40)})
	case 1:
		name := s.holders[r.IntN(len(s.holders))]
		s.judge.Detach(name)
		s.judge.Attach(name, s.dress(name, s.life))
	case 2:
		s.checked(s.judge.Settle(s.t.Context()))
	case 3:
		_ = s.judge.Flush(s.t.Context()) // may fail: faults are ordered
	}
	s.buried()
}

// later has something happen in the middle of the next pass. Readings go on meanwhile only where a second
// tick comes after all that was read.
func (s *sim) later(r *rand.Rand) {
	what := []func(*sim, *rand.Rand){(*sim).holderTurn, (*sim).renewsAnyway, (*sim).releases, (*sim).proposes, (*sim).forges, (*sim).grantsByHand, (*sim).withdraws}[r.IntN(7)]
	passes := r.Int64N(s.cadence)
	s.mids = append(s.mids, mid{at: 1 + r.IntN(14), do: func() {
		if s.stamped {
			s.now += passes
		}
		what(s, r)
	}})
	slices.SortStableFunc(s.mids, func(a, b mid) int { return a.at - b.at })
}

func (s *sim) spoilsAppends(r *rand.Rand) {
	s.torn = true
	faults := []stream.AppendFault{stream.Full, stream.Lost, stream.Unanswered, stream.Torn, stream.Intact}
	name := []string{"ledger", grantor}[r.IntN(2)]
	for range 1 + r.IntN(3) {
		s.scripts[name].Append(faults[r.IntN(len(faults))])
	}
	if r.IntN(4) == 0 {
		s.stampFails += r.IntN(3)
	}
}

func (s *sim) spoilsReads(r *rand.Rand) {
	names := append([]string{"ticks", grantor, "policy"}, s.holders...)
	name := names[r.IntN(len(names))]
	f := stream.ReadFault{After: r.IntN(3), State: []stream.State{stream.OK, stream.Transport, stream.Gap}[r.IntN(3)]}
	if f.State == stream.Gap && (name == grantor || name == "policy") {
		return
	}
	if f.State == stream.Gap && name != "ticks" && r.IntN(2) == 0 {
		f.Recover = stream.Newest
	}
	for range r.IntN(3) {
		s.scripts[name].Read(stream.ReadFault{After: -1})
	}
	s.scripts[name].Read(f)
	if f.Recover == stream.Newest {
		s.spoiled[name] = true
		for _, x := range s.said {
			x.lost = x.lost || x.medium == name
		}
	}
}

// loses has a medium begin anew: a gap. Of the grantor's stream that is rare, since nothing is granted after it.
func (s *sim) loses(r *rand.Rand) {
	names := append([]string{"ticks", grantor}, s.holders...)
	name := names[r.IntN(len(names))]
	if len(s.mixed) > 0 && r.IntN(2) == 0 {
		name = s.mixed[r.IntN(len(s.mixed))]
		s.write(name, "junk") // what is empty has nothing to lose
	}
	if name == grantor && r.IntN(4) > 0 {
		return
	}
	s.say("%s is lost", name)
	s.media[name].Lose()
	if name == grantor {
		s.grantorLost, s.token = true, 0
		clear(s.answers)
		for _, l := range s.leases {
			l.lapsed = 0
		}
	}
	for _, x := range s.said {
		x.lost = x.lost || x.medium == name
	}
	if name == "ticks" {
		s.tick(s.now)
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
