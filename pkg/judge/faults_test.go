package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// overdue is a world with one lease that a pass at 200 finds silent.
func overdue(t *testing.T) *world {
	w := newWorld(t, "a")
	w.cfg.Cadence = ms(100)
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 50)
	w.okAt(2)
	return w
}

var everyAppendFault = map[string]stream.AppendFault{
	"full": stream.Full, "not taken effect": stream.Lost, "taken effect": stream.Unanswered, "torn": stream.Torn,
}

// A ledger that takes nothing stops what must be on disk first. Freed, each due lease is recorded once.
func TestLedgerThatTakesNothing(t *testing.T) {
	for name, fault := range everyAppendFault {
		for failures := 1; failures < 8; failures++ {
			t.Run(fmt.Sprint(name, "/", failures), func(t *testing.T) {
				w := overdue(t)
				w.scripts["ledger"].Append(times(fault, failures)...)
				for i := range failures {
					r := w.passAt(int64(200 + i))
					if i == 0 && (r.Outcome != judge.Aborted || len(w.hooks.asked) > 0) {
						t.Fatalf("%s, and procedures ran for %v", r.Outcome, w.hooks.leases())
					}
				}
				w.okAt(300)
				w.okAt(301)
				w.wantEndedOnce("L")
			})
		}
	}
}

func times(fault stream.AppendFault, n int) []stream.AppendFault {
	faults := make([]stream.AppendFault, n)
	for i := range faults {
		faults[i] = fault
	}
	return faults
}

// wantEndedOnce: one procedure that succeeded, one lapsed, and the lease is gone; also after a restart.
func (w *world) wantEndedOnce(id string) {
	w.t.Helper()
	w.wantLive()
	w.start()
	w.okAt(1000)
	w.wantLive()
	if records := w.of(lease.Lapsed); len(records) != 1 || records[0].Lease != id {
		w.t.Fatalf("records %+v", records)
	}
	wantList(w.t, "procedures", w.hooks.leases(), id)
}

// The success cannot be written: no lapsed before it is, and the procedure does not run again.
func TestSuccessThatCannotBeJournaledIsNotRecordedYet(t *testing.T) {
	for name, fault := range everyAppendFault {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= 6; n++ {
				w := overdue(t)
				w.scripts["ledger"].Append(stream.Intact)
				w.scripts["ledger"].Append(times(fault, n)...)
				for i := range n + 1 {
					w.passAt(int64(200 + i))
					on, live := judge.OnDisk(t.Context(), w.media["ledger"], lease.DefaultUnits(), "L")
					if len(w.of(lease.Lapsed)) > 0 && live && !on.Reclaimed {
						t.Fatal("recorded, and the success is not on disk")
					}
				}
				w.scripts["ledger"].Clear()
				w.okAt(300)
				w.wantEndedOnce("L")
			}
		})
	}
}

func TestGrantorsStreamThatTakesNothing(t *testing.T) {
	for name, fault := range everyAppendFault {
		for failures := 1; failures < 6; failures++ {
			t.Run(fmt.Sprint(name, "/", failures), func(t *testing.T) {
				w := overdue(t)
				w.scripts[grantor].Append(times(fault, failures)...)
				for i := range failures + 2 {
					w.passAt(int64(200 + i))
				}
				w.wantEndedOnce("L")
			})
		}
	}
}

func TestFullGrantorsStreamIsCarriedOn(t *testing.T) {
	w := overdue(t)
	w.cfg.Rules = freely()
	w.start()
	w.scripts[grantor].Append(stream.Full, stream.Full)
	w.propose("a", "p", "/other", `"dao.lease/duration":{"ms":500}`)
	r := w.passAt(200)
	if r.Outcome != judge.OK || len(r.Failed) != 2 || r.Failed[0].Medium != grantor || len(r.Reclaims) != 1 {
		t.Fatalf("%+v", r)
	}
	if len(r.Pending) != 1 || !r.Pending[0].Reclaimed {
		t.Fatalf("pending %+v", r.Pending)
	}
	r = w.okAt(201)
	wantList(t, "lapsed", ended(r), "L by silence")
	if len(r.Granted) != 1 || len(r.Reclaims) != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestAnswersThatDidNotAnswerOkAreGivenOnce(t *testing.T) {
	for name, fault := range everyAppendFault {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a", "b")
			w.cfg.Rules = freely()
			w.start()
			w.okAt(1)
			w.propose("a", "p", "/s", `"dao.lease/duration":{"ms":500}`)
			w.propose("b", "p", "/t")
			w.propose("b", "short", "/t", `"dao.lease/duration":{"ms":1}`)
			w.scripts[grantor].Append(fault)
			w.passAt(2)
			w.pass()
			w.okAt(3)
			grants, refusals := w.of(lease.Grant), w.of(lease.Refusal)
			if len(grants) != 2 || len(refusals) != 1 || len(w.live()) != 2 {
				t.Fatalf("grants %+v, refusals %+v", grants, refusals)
			}
			if grants[0].Token >= grants[1].Token {
				t.Fatalf("tokens %d, %d", grants[0].Token, grants[1].Token)
			}
		})
	}
}

// The record did not answer, and somebody else wrote behind it: Settle reads nothing, and yet no second one
// is written.
func TestNoSecondRecordWhenTheFirstDidNotAnswer(t *testing.T) {
	w := overdue(t)
	w.scripts[grantor].Append(stream.Unanswered)
	if r := w.passAt(200); r.Outcome != judge.Aborted {
		t.Fatal(r.Outcome)
	}
	w.grant("M", "/s", "a", 5000)
	if r := w.judge.Settle(t.Context()); r.Outcome != judge.Settled || r.Err != nil {
		t.Fatalf("%+v", r)
	}
	if n := len(w.of(lease.Lapsed)); n != 1 {
		t.Fatalf("%d records", n)
	}
	r := w.okAt(201)
	w.wantLive("M")
	if r.Dropped > 0 {
		t.Fatalf("its own record was counted: %+v", r.Drops)
	}
}

// Several records, the stream having moved, and the second of them fails.
func TestRecordsBehindForeignLinesAreEachWrittenOnce(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Cadence = ms(1000)
	w.start()
	w.okAt(1)
	for _, id := range []string{"A", "B", "C"} {
		w.grant(id, "/"+id, "a", 50)
	}
	w.okAt(2)
	w.hooks.do = func(judge.Task) (judge.Progress, error) {
		w.write(grantor, `{"hello":"by hand"}`)
		return judge.Done, nil
	}
	w.scripts[grantor].Append(stream.Intact, stream.Intact, stream.Full)
	if r := w.passAt(200); r.Outcome != judge.OK || len(r.Lapsed) != 1 {
		t.Fatalf("%s %s: %v", r.Outcome, r.Abort, r.Lapsed)
	}
	r := w.okAt(201)
	if len(r.Lapsed) != 2 || r.Dropped != 0 {
		t.Fatalf("%+v", r)
	}
	if n := len(w.of(lease.Lapsed)); n != 3 {
		t.Fatalf("%d records", n)
	}
}

func TestTransportErrorsEndThePassAfterStepThree(t *testing.T) {
	for _, medium := range []string{"ticks", grantor, "mixed"} {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, "a", "mixed")
			w.cfg.Resolver, w.cfg.Rules, w.cfg.Cadence = signed{"mixed"}, freely(), ms(100)
			w.start()
			w.okAt(1)
			w.grant("L", "/s", "a", 50)
			w.okAt(2)
			w.release("a", "L")
			w.propose("a", "p", "/t", `"dao.lease/duration":{"ms":500}`)
			w.tick(200)
			w.scripts[medium].Read(stream.ReadFault{State: stream.Transport})
			r := w.pass()
			if r.Outcome != judge.Aborted || r.Abort == "" || len(r.Pending) > 0 || len(w.hooks.asked) > 0 {
				t.Fatalf("%s %q: pending %v", r.Outcome, r.Abort, r.Pending)
			}
			wantList(t, "released", r.Released, "L")
			if answered := len(r.Granted) == 1; answered != (medium != grantor) {
				t.Fatalf("granted %v", r.Granted)
			}
			wantList(t, "lapsed", ended(w.okAt(201)), "L by release")
		})
	}
}

func TestTransportErrorOnASoleMediumBarsSilenceOfItsAuthorAndIsSaid(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.cfg.Cadence = ms(1000)
	w.start()
	w.okAt(1)
	for _, h := range []string{"a", "b"} {
		w.grant("silent-"+h, "/s", h, 50)
		w.grant("capped-"+h, "/s", h, 500, `"dao.lease/max":{"ms":60}`)
	}
	w.okAt(2)
	w.scripts["a"].Read(stream.ReadFault{State: stream.Transport})
	r := w.okAt(200)
	wantList(t, "lapsed", ended(r), "capped-a by cap", "capped-b by cap", "silent-b by silence")
	if len(r.Failed) != 1 || r.Failed[0].Medium != "a" || !strings.Contains(r.Failed[0].Error, "transport error") {
		t.Fatalf("failed %+v", r.Failed)
	}
	wantList(t, "lapsed", ended(w.okAt(201)), "silent-a by silence")
}
