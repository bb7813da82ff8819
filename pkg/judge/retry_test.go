package judge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// due is a world with released leases, one a subject, that the next pass finds.
func due(t *testing.T, leases ...string) *world {
	w := newWorld(t, "a")
	w.cfg.Cadence = ms(1 << 40)
	w.start()
	w.okAt(1)
	for _, id := range leases {
		w.grant(id, "/"+id, "a", 1<<30)
		w.release("a", id)
	}
	return w
}

func TestDelayBetweenAttemptsGrowsInReadings(t *testing.T) {
	w := due(t, "L")
	w.cfg.Retry = judge.Retry{Initial: 10, Max: 50}
	w.start()
	w.hooks.do = failing
	var tried []int64
	for at := int64(100); at < 400; at++ {
		before := len(w.hooks.asked)
		r := w.okAt(at)
		if len(w.hooks.asked) > before {
			tried = append(tried, at)
			if rec := r.Reclaims[0]; rec.OK || rec.Error != "told to fail" || rec.Attempt != len(tried) {
				t.Fatalf("%+v", rec)
			}
			next := *r.NextDue
			w.start() // neither attempts nor delay are forgotten
			if got := *w.okAt(at).NextDue; got != next || next.N <= at {
				t.Fatalf("next at %v, after a restart %v", next, got)
			}
		}
	}
	if got := fmt.Sprint(tried[:6]); got != "[100 110 130 170 220 270]" {
		t.Fatal(got)
	}
	if row := w.row("L"); row.Reclaim.State != "pending" || row.Reclaim.Cause != lease.ByRelease || row.Reclaim.Attempts != len(tried) || row.Reclaim.Error == "" {
		t.Fatalf("%+v", row.Reclaim)
	}
	if n := len(w.of(lease.Lapsed)); n > 0 {
		t.Fatal("recorded without a success")
	}
}

func TestWithoutADelayEveryPassTries(t *testing.T) {
	w := due(t, "L")
	w.hooks.do = failing
	for at := range int64(5) {
		w.okAt(2 + at)
	}
	if n := len(w.hooks.asked); n != 5 {
		t.Fatalf("%d attempts in 5 passes", n)
	}
	w.hooks.do = nil
	wantList(t, "lapsed", ended(w.okAt(9)), "L by release")
}

func TestARevocationTriesAPendingLeaseAtOnce(t *testing.T) {
	w := due(t, "L")
	w.cfg.Retry = judge.Retry{Initial: 1000, Max: 1000}
	w.start()
	w.hooks.do = failing
	w.okAt(2)
	w.okAt(3)
	if n := len(w.hooks.asked); n != 1 {
		t.Fatalf("%d attempts", n)
	}
	if !w.judge.Revoke("L", "now", false) {
		t.Fatal("L is not live")
	}
	w.hooks.do = nil
	wantList(t, "lapsed", ended(w.okAt(4)), "L by release") // pending keeps its cause
	if w.judge.Revoke("L", "now", false) {
		t.Fatal("L is live")
	}
}

// room is a reclaimer whose procedures run until the test ends them.
type room struct {
	hooks
	began int
	waits []func() bool
	ended map[string]judge.Progress
}

func (r *room) Begin() { r.began++ }

func (r *room) Wait(context.Context) bool {
	if len(r.waits) == 0 {
		return false
	}
	next := r.waits[0]
	r.waits = r.waits[1:]
	return next()
}

func newRoom(w *world) *room {
	r := &room{ended: map[string]judge.Progress{}}
	r.do = func(t judge.Task) (judge.Progress, error) { return r.ended[t.Lease], nil }
	w.cfg.Reclaimer = r
	w.start()
	return r
}

func TestRunningProceduresArePolledAndNotStartedTwice(t *testing.T) {
	w := due(t, "L")
	r := newRoom(w)
	for at := range int64(3) {
		if report := w.okAt(2 + at); len(report.Reclaims) > 0 || len(report.Pending) != 1 {
			t.Fatalf("%+v", report)
		}
		wantList(t, "running", w.judge.Running(), "L")
	}
	for _, task := range r.asked {
		if task.Attempt != 1 {
			t.Fatalf("attempt %d", task.Attempt)
		}
	}
	r.ended["L"] = judge.Done
	wantList(t, "lapsed", ended(w.okAt(9)), "L by release")
	wantList(t, "running", w.judge.Running())
	if n := len(r.asked); n != 4 || r.began != 4 {
		t.Fatalf("asked %d times, began %d passes", n, r.began)
	}
}

func TestWaiterBringsReportsIntoTheSamePass(t *testing.T) {
	w := due(t, "A", "B")
	w.cfg.Parallel = 1
	r := newRoom(w)
	r.waits = []func() bool{
		func() bool { r.ended["A"] = judge.Failed; return true },
		func() bool { r.ended["B"] = judge.Done; return true },
	}
	report := w.okAt(2)
	wantList(t, "lapsed", ended(report), "B by release")
	wantList(t, "asked", r.leases(), "A", "A", "B", "B")
	if len(report.Pending) != 1 || report.Pending[0].Lease != "A" {
		t.Fatalf("%+v", report.Pending)
	}
}

func TestNoMoreThanParallelRunAndRetriesTakeHalf(t *testing.T) {
	w := due(t, "f1", "f2", "f3", "f4", "f5")
	w.cfg.Parallel = 4
	r := newRoom(w)
	for _, id := range []string{"f1", "f2", "f3", "f4", "f5"} {
		r.ended[id] = judge.Failed
	}
	w.okAt(2) // all have failed once
	clear(r.ended)
	for _, id := range []string{"n1", "n2", "n3"} {
		w.grant(id, "/"+id, "a", 1<<30)
		w.release("a", id)
	}
	w.okAt(3)
	got := w.judge.Running()
	if len(got) != 4 || slices.IndexFunc(got, func(id string) bool { return id[0] == 'n' }) != 1 {
		t.Fatalf("running %v, want the three new ones and one retry", got)
	}
	r.ended["n1"], r.ended["n2"], r.ended["n3"] = judge.Done, judge.Done, judge.Done
	w.okAt(4)
	if got := w.judge.Running(); len(got) != 2 || strings.Contains(fmt.Sprint(got), "n") {
		t.Fatalf("running %v, want two retries", got)
	}
}

func TestOneSubjectsProceduresNeverOverlap(t *testing.T) {
	w := newWorld(t, "a")
	w.start()
	w.okAt(1)
	for _, id := range []string{"L", "M", "N"} {
		w.grant(id, "/same", "a", 1000)
		w.release("a", id)
	}
	r := newRoom(w)
	for _, id := range []string{"L", "M", "N"} {
		w.okAt(2)
		wantList(t, "running", w.judge.Running(), id)
		r.ended[id] = judge.Done
	}
	w.okAt(3)
	w.wantLive()
	seen := map[string]bool{}
	for i, id := range r.leases() {
		if i > 0 && id != r.leases()[i-1] && seen[id] {
			t.Fatalf("asked in the order %v", r.leases())
		}
		seen[id] = true
	}
}

func TestARunningProcedureIsToldOfARevocationByHand(t *testing.T) {
	w := due(t, "L")
	r := newRoom(w)
	w.okAt(2)
	w.write("policy", `{"daolease/revoke":"L","daolease/reason":"I did it","daolease/reclaimed":true}`)
	w.okAt(3)
	r.do = func(t judge.Task) (judge.Progress, error) {
		if t.ByHand {
			return judge.Done, nil
		}
		return judge.Running, nil
	}
	report := w.okAt(4)
	wantList(t, "lapsed", ended(report), "L by release")
	if f := w.of(lease.Lapsed)[0]; f.Reason != "I did it" {
		t.Fatalf("%+v", f)
	}
}

func TestRevocationByHandOfALiveLease(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.judge.Revoke("L", strings.Repeat("é", 1<<20), true)
	wantList(t, "lapsed", ended(w.okAt(3)), "L by policy")
	if task := w.hooks.asked[0]; !task.ByHand || task.Cause != lease.ByPolicy {
		t.Fatalf("%+v", task)
	}
}

func TestTheTaskSaysEverything(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000, `"daolease/token":7`)
	w.okAt(2)
	w.start()
	w.judge.Revoke("L", "because", false)
	w.okAt(3)
	got := w.hooks.asked[0]
	if got.Lease != "L" || got.Holder != "a" || got.Subject.Text() != "/s" || got.Cause != lease.ByPolicy ||
		got.Token != 7 || got.Attempt != 1 || got.Incarnation != 2 || got.Row.TenureStart != ms(2) || got.Row.Reclaim.State != "pending" {
		t.Fatalf("%+v", got)
	}
}

func TestSettleRecordsWhatEndedAndStartsNothing(t *testing.T) {
	w := due(t, "A", "B")
	w.cfg.Parallel = 1
	r := newRoom(w)
	w.okAt(2)
	r.ended["A"] = judge.Done
	report := w.judge.Settle(t.Context())
	wantList(t, "lapsed", ended(report), "A by release")
	wantList(t, "asked", r.leases(), "A", "A")
	w.start()
	w.wantLive("B")
}
