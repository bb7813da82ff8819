package judge_test

import (
	"testing"

	"github.com/daolease/daolease/pkg/lease"
)

func TestWithdrawnBeforeTheAnswerIsNeverAnswered(t *testing.T) {
	for name, tell := range map[string]func(w *world){
		"after it":   func(w *world) { w.propose("a", "p", "o"); w.withdraw("a", "p", "o") },
		"before it":  func(w *world) { w.withdraw("a", "p", "o"); w.propose("a", "p", "o") },
		"alone":      func(w *world) { w.withdraw("a", "p", "o") },
		"no subject": func(w *world) { w.withdraw("a", "p", "x"); w.propose("a", "p", "o") },
	} {
		w := office(t, nil)
		tell(w)
		w.okAt(2)
		w.start()
		w.propose("a", "p", "o")
		w.okAt(3)
		if n := len(w.facts(grantor)); n > 0 || len(w.judge.Proposals()) > 0 {
			t.Fatalf("%s: %d answers", name, n)
		}
	}
}

func TestWithdrawingReleasesTheLeaseThatAnswers(t *testing.T) {
	for name, tell := range map[string]func(w *world){
		"the grant first": func(w *world) {
			w.grant("L", "o", "a", 1000, `"dao.lease/proposal":"p"`)
			w.okAt(2)
			w.withdraw("a", "p", "o")
		},
		"the withdrawal first": func(w *world) {
			w.withdraw("a", "p", "o")
			w.okAt(2)
			w.start()
			w.grant("L", "o", "a", 1000, `"dao.lease/proposal":"p"`)
		},
		"both in one pass": func(w *world) {
			w.withdraw("a", "p", "o")
			w.grant("L", "o", "a", 1000, `"dao.lease/proposal":"p"`)
		},
	} {
		w := office(t, nil)
		tell(w)
		r := w.okAt(3)
		wantList(t, name, ended(r), "L by release")
		if r.Dropped > 0 {
			t.Fatalf("%s: %+v", name, r.Drops)
		}
	}
}

func TestAnothersWithdrawalTakesNothingBack(t *testing.T) {
	w := office(t, nil)
	w.withdraw("b", "p", "o")
	w.propose("a", "p", "o")
	r := w.okAt(2)
	w.withdraw("b", "p", "o")
	w.okAt(3)
	w.wantLive(r.Granted...)
	if len(r.Granted) != 1 {
		t.Fatalf("%+v", r)
	}
}

// A release after the withdrawal is the first one: no repeat. A second answer is one all the same.
func TestAWithdrawalIsNoReleaseAndNoAnswer(t *testing.T) {
	w := office(t, nil)
	w.hooks.do = failing
	w.withdraw("a", "p", "o")
	w.grant("L", "o", "a", 1000, `"dao.lease/proposal":"p"`)
	w.okAt(2)
	w.release("a", "L")
	if r := w.okAt(3); r.Dropped > 0 {
		t.Fatalf("%+v", r.Drops)
	}
	w.hooks.do = nil
	w.okAt(4)
	w.wantLive()
	w.grant("M", "o", "a", 1000, `"dao.lease/proposal":"p"`)
	w.refuse("p", "a")
	if r := w.okAt(5); r.Dropped != 2 || len(r.Granted) > 0 {
		t.Fatalf("granted %v, dropped %+v", r.Granted, r.Drops)
	}
}

func TestAPendingLeaseKeepsItsCauseWhenItIsWithdrawn(t *testing.T) {
	w := office(t, nil)
	w.hooks.do = failing
	w.grant("L", "o", "a", 1000, `"dao.lease/proposal":"p"`, `"dao.lease/max":{"ms":5}`)
	w.okAt(2)
	w.okAt(9)
	w.withdraw("a", "p", "o")
	w.hooks.do = nil
	wantList(t, "lapsed", ended(w.okAt(10)), "L by cap")
	if f := w.of(lease.Lapsed)[0]; f.Cause != lease.ByCap {
		t.Fatalf("%+v", f)
	}
}
