package judge_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

func (o *onRewrite) Rewrite(ctx context.Context, expect stream.Cursor, values stream.Values) (stream.Cursor, error) {
	o.called = true
	o.before()
	return o.Rewriter.Rewrite(ctx, expect, values)
}

// around puts it around the ledger of the next judge.
func (o *onRewrite) around(name string, m stream.Medium) stream.Medium {
	if name == "ledger" {
		o.Rewriter = m.(stream.Rewriter)
		return o
	}
	return m
}

// wantGoesOn has fifty passes follow, each of which leaves a ledger that can be replayed, and another judge.
func (w *world) wantGoesOn(at int64) {
	w.t.Helper()
	for end := at + 50; at < end; at++ {
		w.renew("a", "L")
		w.okAt(at)
		(&schedule{world: w}).wantReplayed()
	}
	w.start()
	w.wantBegan(judge.Threaded)
	w.wantLive("L")
}

// small is a world whose ledger is compacted again and again.
func small(t *testing.T) *world {
	w := newWorld(t, "a")
	w.cfg.Retention = 3000
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 100000)
	w.okAt(2)
	return w
}

func TestCompactionKeepsTheLedgerSmallAndWhole(t *testing.T) {
	w := small(t)
	for at := int64(3); at < 500; at++ {
		w.renew("a", "L")
		w.okAt(at)
		(&schedule{world: w}).wantReplayed()
		if size, _ := w.media["ledger"].Size(t.Context()); size > 4000 {
			t.Fatalf("%d bytes at %d", size, at)
		}
	}
	w.start()
	w.wantBegan(judge.Threaded)
	w.wantLive("L")
}

func TestCompactionLeavesALedgerAloneThatHoldsAsMuch(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Retention = 1
	for i := range 100 {
		w.grant(fmt.Sprint("L", i), "/s", "a", 100000)
	}
	w.start()
	w.okAt(1)
	w.okAt(2)
	rewritten := 0
	first := w.lines("ledger")[0]
	for at := int64(3); at < 60; at++ {
		w.okAt(at)
		if now := w.lines("ledger")[0]; string(now) != string(first) {
			rewritten, first = rewritten+1, now
		}
	}
	if rewritten > 2 {
		t.Fatalf("rewritten %d times in 57 passes with nothing to do", rewritten)
	}
}

// A compaction that fails is said and ends nothing; what became of it is found out before anything else is
// written.
func TestCompactionThatFails(t *testing.T) {
	for name, fault := range everyAppendFault {
		t.Run(name, func(t *testing.T) {
			w := small(t)
			failing := &onRewrite{}
			failing.before = func() { w.scripts["ledger"].Append(fault) }
			w.around = failing.around
			w.start()
			at := int64(3)
			for ; !failing.called; at++ {
				w.renew("a", "L")
				w.okAt(at)
			}
			failing.before = func() {}
			w.wantGoesOn(at)
		})
	}
}

// What took effect without an answer is written again until that is answered, however often it is not.
func TestCompactionThatIsNotAnsweredAgain(t *testing.T) {
	for name, fault := range everyAppendFault {
		t.Run(name, func(t *testing.T) {
			w := small(t)
			failing, rewritten := &onRewrite{}, 0
			failing.before = func() {
				order := []stream.AppendFault{stream.Unanswered, fault, stream.Unanswered, fault}
				if rewritten < len(order) {
					w.scripts["ledger"].Append(order[rewritten])
				}
				rewritten++
			}
			w.around = failing.around
			w.start()
			at := int64(3)
			for ; rewritten == 0; at++ {
				w.renew("a", "L")
				w.passAt(at)
			}
			for end := at + 5; at < end; at++ {
				w.passAt(at)
			}
			if rewritten < 5 {
				t.Fatalf("rewritten %d times", rewritten)
			}
			w.wantGoesOn(at)
		})
	}
}

func TestCompactionThatFailsIsSaid(t *testing.T) {
	w := small(t)
	failing := &onRewrite{before: func() { w.scripts["ledger"].Append(stream.Full) }}
	w.around = failing.around
	w.start()
	for at := int64(3); ; at++ {
		w.renew("a", "L")
		if r := w.okAt(at); failing.called {
			if len(r.Failed) != 1 || r.Failed[0].Medium != "ledger" {
				t.Fatalf("failed %+v", r.Failed)
			}
			return
		}
	}
}
