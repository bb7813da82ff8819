package judge_test

import (
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// wantUsurped: this judge must stop, and has touched nothing.
func (w *world) wantUsurped(r judge.Report) {
	w.t.Helper()
	if r.Outcome != judge.Aborted || !judge.Usurped(r.Err) {
		w.t.Fatalf("%s, %v", r.Outcome, r.Err)
	}
	if len(w.hooks.asked) > 0 {
		w.t.Fatalf("procedures for %v", w.hooks.leases())
	}
	if n := len(w.of(lease.Lapsed)) + len(w.of(lease.Grant)) + len(w.of(lease.Refusal)); n > 1 {
		w.t.Fatalf("%d facts on the grantor's stream", n)
	}
}

func TestAnotherWriterOfTheLedgerEndsThisJudge(t *testing.T) {
	for name, due := range map[string]func(*world){
		"nothing due": func(*world) {},
		"a lease due": func(w *world) { w.release("a", "L") },
		"a proposal":  func(w *world) { w.propose("a", "p", "/t", `"dao.lease/duration":{"ms":500}`) },
	} {
		for how, usurp := range map[string]func(*world){
			"another judge": func(w *world) {
				if _, err := judge.New(w.t.Context(), w.config()); err != nil {
					w.t.Fatal(err)
				}
			},
			"a stray line": func(w *world) { w.write("ledger", "stray") },
			"another file": func(w *world) { w.media["ledger"].Lose() },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				w := overdue(t)
				w.cfg.Rules = freely()
				w.start()
				due(w)
				usurp(w)
				w.wantUsurped(w.passAt(40))
				w.wantUsurped(w.passAt(41)) // also when it does not stop
				if _, err := w.judge.Grant(t.Context(), judge.Terms{Subject: lease.StringSubject("/g"), Holder: "a", Duration: ms(300)}); !judge.Usurped(err) {
					t.Fatalf("it grants: %v", err)
				}
			})
		}
	}
}

// The last write of this judge did not answer ok, so that a line of its own may lie there. Another judge is
// noticed all the same.
func TestAnotherWriterIsNoticedBehindAnAppendThatDidNotAnswer(t *testing.T) {
	for name, fault := range everyAppendFault {
		t.Run(name, func(t *testing.T) {
			w := overdue(t)
			w.cfg.Rules = freely()
			w.start()
			w.scripts["ledger"].Append(fault)
			w.passAt(10)
			w.propose("a", "p", "/t", `"dao.lease/duration":{"ms":500}`)
			if _, err := judge.New(t.Context(), w.config()); err != nil {
				t.Fatal(err)
			}
			w.wantUsurped(w.passAt(40))
		})
	}
}

// Another judge takes over between two procedures of one pass.
func TestNoProcedureStartsAfterAnotherJudgeHasBegun(t *testing.T) {
	w := overdue(t)
	w.grant("M", "/m", "a", 50)
	w.okAt(3)
	w.hooks.do = func(judge.Task) (judge.Progress, error) {
		if _, err := judge.New(t.Context(), w.config()); err != nil {
			t.Fatal(err)
		}
		return judge.Done, nil
	}
	r := w.passAt(200)
	if r.Outcome != judge.Aborted || !judge.Usurped(r.Err) {
		t.Fatalf("%s, %v", r.Outcome, r.Err)
	}
	wantList(t, "procedures", w.hooks.leases(), "L")
	if n := len(w.of(lease.Lapsed)); n > 0 {
		t.Fatalf("%d records", n)
	}
}

func TestAnotherWriterIsNoticedByACompaction(t *testing.T) {
	w := overdue(t)
	w.cfg.Retention = 1
	w.start()
	usurping := &onRewrite{before: func() { w.write("ledger", "stray") }}
	w.around = usurping.around
	w.start()
	var r judge.Report
	for at := int64(3); at < 40 && r.Err == nil; at++ {
		r = w.passAt(at)
	}
	if !usurping.called || !judge.Usurped(r.Err) {
		t.Fatalf("compacting %t, %v", usurping.called, r.Err)
	}
}

// onRewrite does something right before a rewrite.
type onRewrite struct {
	stream.Rewriter
	before func()
	called bool
}
