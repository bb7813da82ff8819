package judge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func oneSlot(r *judge.Rule) { r.Slots = 1 }

func termsFor(holder string) judge.Terms {
	return judge.Terms{Subject: subject("o"), Holder: holder, Duration: ms(1000)}
}

func wantBusy(t *testing.T, err error, id, holder string) {
	t.Helper()
	var busy *judge.Busy
	if !errors.As(err, &busy) || busy.Lease != id || busy.Holder != holder || !strings.Contains(err.Error(), holder) {
		t.Fatalf("want busy with %s of %s, got %v", id, holder, err)
	}
}

func TestOneSlotIsGivenOnceInOneAnswer(t *testing.T) {
	w := office(t, oneSlot)
	w.propose("a", "p", "o")
	w.propose("b", "p", "o")
	r := w.okAt(2)
	if len(r.Granted) != 1 || len(r.Refused) != 1 {
		t.Fatalf("%+v", r)
	}
	if f := w.of(lease.Refusal)[0]; f.By != r.Granted[0] || f.HeldBy != "a" || f.Holder != "b" {
		t.Fatalf("%+v", f)
	}
}

func TestSlotsCountEveryLeaseThatHasNotLeft(t *testing.T) {
	w := office(t, func(r *judge.Rule) { r.Slots = 2 })
	w.hooks.do = failing
	w.grant("live", "o", "a", 1000)
	w.grant("pending", "o", "a", 1000)
	w.release("a", "pending")
	w.okAt(2)
	w.propose("b", "p1", "o")
	if r := w.okAt(3); len(r.Refused) != 1 {
		t.Fatalf("%+v", r)
	}
	w.lapsed("pending") // by hand: frees nothing
	w.propose("b", "p2", "o")
	if r := w.okAt(4); len(r.Refused) != 1 {
		t.Fatalf("%+v", r)
	}
	w.hooks.do = nil
	w.okAt(5)
	w.propose("b", "p3", "o")
	if r := w.okAt(6); len(r.Granted) != 1 {
		t.Fatalf("%+v", r)
	}
}

// Success is on disk and its lapsed is not on the stream: the slot is still taken.
func TestASlotIsFreeOnceTheRecordIsThere(t *testing.T) {
	w := office(t, oneSlot)
	w.grant("L", "o", "a", 1000)
	w.okAt(2)
	w.release("a", "L")
	w.scripts[grantor].Append(stream.Full)
	w.okAt(3)
	_, err := judge.Grant(t.Context(), w.config(), termsFor("b"))
	wantBusy(t, err, "L", "a")
	w.okAt(4)
	if _, err := judge.Grant(t.Context(), w.config(), termsFor("b")); err != nil {
		t.Fatal(err)
	}
}

func TestGrantBesideTheJudge(t *testing.T) {
	w := office(t, oneSlot)
	f, err := judge.Grant(t.Context(), w.config(), judge.Terms{Subject: subject("o"), Holder: "a"})
	if err != nil || f.Duration != ms(100) || f.Max != ms(5000) {
		t.Fatalf("%+v, %v", f, err)
	}
	_, err = judge.Grant(t.Context(), w.config(), termsFor("b"))
	wantBusy(t, err, f.Lease, "a")
	before := string(fmt.Sprint(w.lines("ledger")))
	r := w.okAt(2)
	wantList(t, "granted", r.Granted, f.Lease)
	_, err = w.judge.Grant(t.Context(), termsFor("b"))
	wantBusy(t, err, f.Lease, "a")
	if before == fmt.Sprint(w.lines("ledger")) {
		t.Fatal("the pass journaled nothing")
	}
}

// The judge has read a proposal; before it answers, somebody grants beside it. One slot, one winner.
func TestTheJudgeAndSomebodyBesideItWantTheSameSlot(t *testing.T) {
	w := office(t, oneSlot)
	var beside error
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name != grantor {
			return m
		}
		return &beforeHold{m, func() { _, beside = judge.Grant(t.Context(), w.plain(), termsFor("b")) }}
	}
	w.start()
	w.propose("a", "p", "o")
	r := w.okAt(2)
	if beside != nil || len(r.Granted) != 1 || len(r.Refused) != 1 {
		t.Fatalf("beside: %v; granted %v, refused %v", beside, r.Granted, r.Refused)
	}
	if f := w.of(lease.Refusal)[0]; f.HeldBy != "b" {
		t.Fatalf("%+v", f)
	}
}

// plain is the configuration over the bare media.
func (w *world) plain() judge.Config {
	around := w.around
	w.around = nil
	defer func() { w.around = around }()
	return w.config()
}

// beforeHold does something once before the lock is taken.
type beforeHold struct {
	stream.Medium
	do func()
}

func (b *beforeHold) Hold(ctx context.Context) (stream.Appender, func(), error) {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return b.Medium.Hold(ctx)
}

// A grant written by hand, past the lock, right before the append: the stream has moved, and is read again.
func TestMovedIsReadAgain(t *testing.T) {
	for name, give := range map[string]func(w *world) error{
		"by the judge": func(w *world) error {
			w.propose("a", "p", "o")
			if r := w.okAt(2); len(r.Refused) != 1 {
				t.Errorf("%+v", r)
			}
			return nil
		},
		"beside it": func(w *world) error {
			_, err := judge.Grant(w.t.Context(), w.config(), termsFor("a"))
			wantBusy(t, err, "H", "b")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := office(t, oneSlot)
			once := true
			w.around = func(name string, m stream.Medium) stream.Medium {
				if name != grantor {
					return m
				}
				return &onAppend{m, func(values [][]byte) {
					if once && len(values) > 0 {
						once = false
						w.grant("H", "o", "b", 1000)
					}
				}}
			}
			w.start()
			if err := give(w); err != nil {
				t.Fatal(err)
			}
			if n := len(w.of(lease.Grant)); n != 1 {
				t.Fatalf("%d grants", n)
			}
		})
	}
}

func TestAStreamThatMovesForeverIsGivenUp(t *testing.T) {
	w := office(t, nil)
	n := 0
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name != grantor {
			return m
		}
		return &onAppend{m, func([][]byte) { n++; w.write(grantor, "{}") }}
	}
	w.start()
	w.propose("a", "p", "o")
	w.okAt(2)
	if len(w.of(lease.Grant)) > 0 || n != 4 {
		t.Fatalf("tried %d times", n)
	}
	if _, err := judge.Grant(t.Context(), w.config(), termsFor("a")); !errors.Is(err, stream.ErrMoved) {
		t.Fatal(err)
	}
}

func TestGrantRefusesWhatWouldBeInadmissible(t *testing.T) {
	w := office(t, nil)
	w.propose("a", "p", "o")
	w.withdraw("a", "w", "o")
	w.okAt(2)
	for name, terms := range map[string]judge.Terms{
		"answered":    {Subject: subject("o"), Holder: "a", Proposal: "p", Duration: ms(99)},
		"withdrawn":   {Subject: subject("o"), Holder: "a", Proposal: "w", Duration: ms(99)},
		"the grantor": {Subject: subject("o"), Holder: grantor, Duration: ms(99)},
		"a subject":   {Subject: subject(strings.Repeat("o", 4097)), Holder: "a", Duration: ms(99)},
	} {
		for where, grant := range map[string]func() error{
			"beside": func() error { _, err := judge.Grant(t.Context(), w.config(), terms); return err },
			"within": func() error { _, err := w.judge.Grant(t.Context(), terms); return err },
		} {
			if err := grant(); !errors.Is(err, judge.ErrMistaken) {
				t.Errorf("%s, %s: %v", name, where, err)
			}
		}
	}
	if n := len(w.of(lease.Grant)); n != 1 {
		t.Fatalf("%d grants", n)
	}
}

func TestGrantBesideNeedsTheLedger(t *testing.T) {
	w := office(t, nil)
	w.cfg.Expected = true
	w.media["ledger"] = stream.NewMemory("ledger")
	if _, err := judge.Grant(t.Context(), w.config(), termsFor("a")); !errors.Is(err, judge.ErrLost) {
		t.Fatal(err)
	}
}

// What a grant between passes drops is counted by the next report.
func TestWhatAGrantReadsIsReported(t *testing.T) {
	w := office(t, nil)
	w.write(grantor, "junk")
	if _, err := w.judge.Grant(t.Context(), termsFor("a")); err != nil {
		t.Fatal(err)
	}
	if r := w.okAt(2); r.Dropped != 1 || r.Drops[0].Medium != grantor {
		t.Fatalf("%+v", r.Drops)
	}
	if r := w.okAt(3); r.Dropped != 0 {
		t.Fatalf("counted twice: %+v", r.Drops)
	}
}
