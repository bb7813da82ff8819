package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// schedule is a random life of a composition, told by a seed. What must always hold is checked on the way.
type schedule struct {
	*world
	rand   *rand.Rand
	now    int64
	ids    int
	faults bool
	byHand []string // lapsed records written by hand
}

func newSchedule(t *testing.T, seed uint64, faults bool) *schedule {
	s := &schedule{world: newWorld(t, "a", "b", "mixed"), rand: rand.New(rand.NewPCG(seed, 1)), now: 1, faults: faults}
	s.cfg.Resolver = signed{"mixed"}
	s.cfg.Rules = freely()
	s.cfg.Tolerance, s.cfg.Parallel = ms(2), 3
	s.cfg.Retry = judge.Retry{Initial: 3, Max: 20}
	s.cfg.Retention = int64(s.rand.IntN(2)) * 20000
	if s.rand.IntN(2) == 0 {
		s.cfg.DrainBudget = 6
	}
	if s.rand.IntN(2) == 0 {
		s.cfg.Stamp = func(context.Context) error { s.now++; s.tick(s.now); return nil }
	}
	s.hooks.do = s.procedure
	s.around = s.watch
	s.start()
	return s
}

// procedure reports at random; before it is asked, its pending state must be on disk, and no success.
func (s *schedule) procedure(t judge.Task) (judge.Progress, error) {
	on, live := judge.OnDisk(context.Background(), s.media["ledger"], lease.DefaultUnits(), t.Lease)
	if !live || !on.Pending() || on.Reclaimed {
		s.t.Errorf("the procedure of %s runs while on disk it is %+v, live %t", t.Lease, on, live)
	}
	switch s.rand.IntN(4) {
	case 0:
		return judge.Failed, errors.New("no luck \xff")
	case 1:
		return judge.Running, nil
	}
	return judge.Done, nil
}

// watch holds every record against the ledger.
func (s *schedule) watch(name string, m stream.Medium) stream.Medium {
	if name != grantor {
		return m
	}
	return &onAppend{m, func(values [][]byte) {
		for _, v := range values {
			f, err := lease.Decode(v, lease.DefaultUnits())
			if err != nil || f.Kind != lease.Lapsed {
				continue
			}
			on, live := judge.OnDisk(context.Background(), s.media["ledger"], lease.DefaultUnits(), f.Lease)
			if !live || !on.Reclaimed {
				s.t.Errorf("lapsed of %s is written while on disk it is %+v, live %t", f.Lease, on, live)
			}
		}
	}}
}

func (s *schedule) anyLease() string { return fmt.Sprint("L", 1+s.rand.IntN(s.ids+3)) }

func (s *schedule) holder() string { return []string{"a", "b"}[s.rand.IntN(2)] }

// where is a medium that a holder can write.
func (s *schedule) where(holder string) string {
	if s.rand.IntN(3) == 0 {
		return "mixed"
	}
	return holder
}

// step is one thing that happens.
func (s *schedule) step() {
	h := s.holder()
	switch s.rand.IntN(16) {
	case 0, 1:
		s.propose(s.where(h), fmt.Sprint("p", s.rand.IntN(40)), fmt.Sprint("/s", s.rand.IntN(6)), `"author":"`+h+`"`)
	case 2:
		s.withdraw(s.where(h), fmt.Sprint("p", s.rand.IntN(40)), "/s")
	case 3, 4, 5:
		id := s.anyLease()
		if row, live := s.judge.Row(id); live {
			h = row.Holder
		}
		s.write(s.where(h), fmt.Sprintf(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q,"author":%q}`, id, h))
	case 6:
		id := s.anyLease()
		s.write(s.where(h), fmt.Sprintf(`{"dao.lease/status":"dao.lease/released","dao.lease/lease":%q,"author":%q}`, id, h))
	case 7:
		s.ids++
		s.grant(fmt.Sprint("H", s.ids), "/h", h, 5+s.rand.Int64N(60), fmt.Sprintf(`"dao.lease/max":{"ms":%d}`, 20+s.rand.Int64N(100)))
	case 8:
		s.grant(s.anyLease(), "/t", h, 30, fmt.Sprintf(`"daolease/token":%d`, s.rand.IntN(60)), fmt.Sprintf(`"dao.lease/proposal":"p%d"`, s.rand.IntN(40)))
	case 9:
		s.recordByHand()
	case 10:
		s.write([]string{"a", "b", "mixed", grantor, "ticks"}[s.rand.IntN(5)], "junk", `{"dao.lease/event":"dao.lease/renewal"}`)
	case 11:
		s.write("policy", fmt.Sprintf(`{"daolease/revoke":%q,"daolease/reason":"because","daolease/reclaimed":%t}`, s.anyLease(), s.rand.IntN(2) == 0))
	case 12:
		s.media[[]string{"a", "b", "mixed"}[s.rand.IntN(3)]].Lose()
	case 13:
		s.fault()
	case 14:
		s.judge.Revoke(s.anyLease(), "told to", s.rand.IntN(2) == 0)
	case 15:
		s.between(h)
	}
}

// between is what a program does between passes.
func (s *schedule) between(h string) {
	switch s.rand.IntN(4) {
	case 0:
		s.judge.Grant(s.t.Context(), judge.Terms{Subject: lease.StringSubject("/g"), Holder: h, Duration: ms(40)})
	case 1:
		s.judge.Detach(h)
		s.judge.Attach(h, s.dressed(h))
	case 2:
		s.judge.Settle(s.t.Context())
	case 3:
		s.judge.Flush(s.t.Context())
	}
}

func (s *schedule) recordByHand() {
	id := s.anyLease()
	mentions := func(f lease.Fact) bool { return f.Lease == id }
	if slices.ContainsFunc(s.of(lease.Lapsed), mentions) || !slices.ContainsFunc(s.of(lease.Grant), mentions) {
		return
	}
	s.byHand = append(s.byHand, id)
	s.lapsed(id)
}

func (s *schedule) fault() {
	if !s.faults {
		return
	}
	appends := []stream.AppendFault{stream.Full, stream.Lost, stream.Unanswered, stream.Torn, stream.Intact}
	name := []string{"ledger", grantor, "a", "mixed", "ticks"}[s.rand.IntN(5)]
	if s.rand.IntN(2) == 0 || name == "ledger" {
		s.scripts[name].Append(appends[s.rand.IntN(len(appends))], appends[s.rand.IntN(len(appends))])
		return
	}
	states := []stream.State{stream.OK, stream.Transport, stream.Gap}
	fault := stream.ReadFault{After: s.rand.IntN(3), State: states[s.rand.IntN(3)]}
	if name == grantor && fault.State == stream.Gap && s.rand.IntN(8) > 0 {
		return // after that nothing is granted any more
	}
	s.scripts[name].Read(fault)
}

// round is some steps, a tick, and a pass.
func (s *schedule) round() judge.Report {
	for range s.rand.IntN(6) {
		s.step()
	}
	s.now += s.rand.Int64N(25)
	s.tick(s.now)
	r := s.judge.Pass(s.t.Context())
	if r.Err != nil {
		s.t.Fatalf("no other judge was there: %v", r.Err)
	}
	s.ids = max(s.ids, len(s.of(lease.Grant)))
	s.wantOneRecordEach()
	return r
}

// wantOneRecordEach: the judge writes one lapsed a lease, and none for one that it has found.
func (s *schedule) wantOneRecordEach() {
	s.t.Helper()
	records := map[string]int{}
	for _, f := range s.of(lease.Lapsed) {
		if records[f.Lease]++; records[f.Lease] > 1 && !s.granted(f.Lease) {
			s.t.Errorf("lease %s has %d lapsed", f.Lease, records[f.Lease])
		}
	}
}

// granted says that an id was granted by hand more than once, so that it may end more than once.
func (s *schedule) granted(id string) bool {
	n := 0
	for _, f := range s.of(lease.Grant) {
		if f.Lease == id {
			n++
		}
	}
	return n > 1
}

// wantReplayed holds the ledger in memory against what would be read back.
func (s *schedule) wantReplayed() {
	s.t.Helper()
	if !judge.Journaled(s.judge) {
		return
	}
	got, _, _, err := judge.Replayed(s.t.Context(), s.media["ledger"], s.judge)
	if err != nil {
		s.t.Fatal(err)
	}
	if want := judge.Dump(s.judge); got != want {
		s.t.Fatalf("read back:\n%s\nin memory:\n%s", got, want)
	}
}

func TestScheduleWithFaults(t *testing.T) {
	for seed := range lives(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSchedule(t, seed, true)
			for range 20 {
				s.round()
				s.wantReplayed()
				if s.rand.IntN(8) == 0 {
					s.again()
				}
			}
		})
	}
}

// again lets another judge begin as after a kill. What lived lives on until its lapsed is on the stream.
func (s *schedule) again() {
	s.t.Helper()
	before := s.live()
	for _, script := range s.scripts {
		script.Clear()
	}
	lost := s.judge.LostGrants()
	s.start()
	if s.judge.Began() != judge.Threaded && s.judge.Began() != judge.Recovered {
		s.t.Fatalf("began %v", s.judge.Began())
	}
	for r := s.pass(); r.Outcome == judge.Cut; r = s.pass() {
	}
	for _, id := range before {
		if _, live := s.judge.Row(id); !live && !lost && !slices.ContainsFunc(s.of(lease.Lapsed), func(f lease.Fact) bool { return f.Lease == id }) {
			s.t.Errorf("lease %s was lost: live were %v", id, before)
		}
	}
	s.wantOneRecordEach()
}
