package judge_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// as is a member that tells the author on a mixed-author medium.
func as(author string) string { return fmt.Sprintf(`"author":%q`, author) }

func (w *world) renewAs(medium, id, author string) {
	w.write(medium, fmt.Sprintf(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q,%s}`, id, as(author)))
}

func (w *world) releaseAs(medium, id, author string) {
	w.write(medium, fmt.Sprintf(`{"dao.lease/status":"dao.lease/released","dao.lease/lease":%q,%s}`, id, as(author)))
}

// mixture is a world with two mixed-author media, and a lease of each holder.
func mixture(t *testing.T) *world {
	w := newWorld(t, "a", "b", "mix1", "mix2")
	w.cfg.Resolver, w.cfg.Cadence = signed{"mix1", "mix2"}, ms(1000)
	w.start()
	w.okAt(1)
	w.grant("A", "/a", "a", 100)
	w.grant("B", "/b", "b", 100)
	w.okAt(2)
	return w
}

// lose loses a medium that held something.
func (w *world) lose(medium string) {
	w.write(medium, "{}")
	w.scripts[medium].Read(stream.ReadFault{State: stream.Gap})
}

func TestGapOnASoleMediumMarksItsAuthorsLeasesAlone(t *testing.T) {
	w := mixture(t)
	w.lose("a")
	wantList(t, "unknown", w.okAt(3).Unknown, "A")
	w.start()
	if w.row("A").Evidence != "unknown" || w.row("B").Evidence != "known" {
		t.Fatal("otherwise after a restart")
	}
}

func TestGapOnAMixedMediumMarksThoseRegisteredThereAndThoseRegisteredNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w *world)
		want   []string
	}{
		"registered nowhere":        {func(*world) {}, []string{"A", "B"}},
		"registered there":          {func(w *world) { w.renewAs("mix1", "A", "a") }, []string{"A", "B"}},
		"registered elsewhere":      {func(w *world) { w.renewAs("mix2", "A", "a") }, []string{"B"}},
		"registered on both":        {func(w *world) { w.renewAs("mix1", "A", "a"); w.renewAs("mix2", "A", "a") }, []string{"A", "B"}},
		"its own medium is no such": {func(w *world) { w.renew("a", "A") }, []string{"A", "B"}},
		"a stranger registers nothing": {
			func(w *world) { w.renewAs("mix2", "A", "b"); w.renewAs("mix2", "B", ""); w.releaseAs("mix2", "B", "a") }, []string{"A", "B"}},
	} {
		for _, restart := range []bool{false, true} {
			w := mixture(t)
			c.before(w)
			w.okAt(3)
			if restart {
				w.start()
			}
			w.lose("mix1")
			wantList(t, name, w.okAt(4).Unknown, c.want...)
		}
	}
}

func TestAReleaseRegistersToo(t *testing.T) {
	w := mixture(t)
	w.hooks.do = failing
	w.releaseAs("mix2", "A", "a")
	w.okAt(3)
	w.lose("mix1")
	wantList(t, "unknown", w.okAt(4).Unknown, "B")
}

func TestACutShortMixedMediumBarsEveryonesSilence(t *testing.T) {
	w := mixture(t)
	w.cfg.DrainBudget = 2
	w.start()
	w.flood("mix1", 3)
	wantList(t, "lapsed", ended(w.okAt(600)))
	wantList(t, "lapsed", ended(w.okAt(601)), "A by silence", "B by silence")
}

func TestAResolverThatCannotAnswerNowLeavesTheFactUnread(t *testing.T) {
	w := mixture(t)
	w.renewAs("mix1", "A", "?")
	w.renewAs("mix1", "B", "b")
	before := w.judge.CursorOf("mix1")
	r := w.okAt(600)
	wantList(t, "truncated", r.Truncated, "mix1")
	wantList(t, "renewed", r.Renewed)
	wantList(t, "lapsed", ended(r))
	if w.judge.CursorOf("mix1") != before || r.Dropped > 0 {
		t.Fatal("the cursor moved")
	}
	w.cfg.Resolver = knowing{signed{"mix1", "mix2"}}
	w.start()
	wantList(t, "renewed", w.okAt(601).Renewed, "A", "B")
}

// knowing has found out in the meantime that it was a.
type knowing struct{ signed }

func (k knowing) Author(ctx context.Context, medium string, v stream.Value) (string, error) {
	author, err := k.signed.Author(ctx, medium, v)
	if errors.Is(err, lease.ErrUnresolved) {
		return "a", nil
	}
	return author, err
}

func TestTheGrantorsStreamThatCannotBeAttributedEndsThePass(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.Resolver = signed{grantor}
	w.start()
	w.grant("L", "/s", "a", 50, as("?"))
	if r := w.passAt(1); r.Outcome != judge.Cut || len(w.live()) > 0 {
		t.Fatalf("%s, %v", r.Outcome, w.live())
	}
}

func TestNobodyAuthorsNothing(t *testing.T) {
	w := mixture(t)
	w.renewAs("mix1", "A", "")
	w.releaseAs("mix1", "B", "")
	w.propose("mix1", "p", "/p", as(""))
	w.cfg.Rules = freely()
	r := w.okAt(3)
	if len(r.Renewed)+len(r.Released)+len(r.Granted)+r.Dropped+len(r.Truncated) > 0 {
		t.Fatalf("%+v", r)
	}
	w.cfg.Resolver = signed{grantor}
	w.start()
	w.grant("C", "/c", "a", 50, as(""))
	w.okAt(4)
	w.wantLive("A", "B")
}

func TestGrantsRefusalsAndRecordsCountFromTheGrantorsStreamAlone(t *testing.T) {
	w := mixture(t)
	for _, medium := range []string{"a", "mix1"} {
		w.write(medium,
			`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"F","dao.lease/subject":"/f","dao.lease/holder":"a","dao.lease/duration":{"ms":50},"author":"grantor"}`,
			`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"A","dao.lease/cause":"release","author":"grantor"}`,
			`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"p","dao.lease/holder":"a","author":"grantor"}`)
	}
	w.write(grantor, `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"A"}`, `{"dao.lease/status":"dao.lease/released","dao.lease/lease":"A"}`)
	r := w.okAt(3)
	w.wantLive("A", "B")
	if r.Dropped+len(r.Renewed)+len(r.Released)+len(r.Granted) > 0 || w.judge.Answered("a", "p") {
		t.Fatalf("%+v", r)
	}
	w.release("a", "A") // the forged record made no repeat of anything
	wantList(t, "lapsed", ended(w.okAt(4)), "A by release")
	if n := len(w.of(lease.Lapsed)); n != 1 {
		t.Fatalf("%d records", n)
	}
}

func TestTheWrongAuthorLeavesNoTrace(t *testing.T) {
	w := mixture(t)
	before := judge.Dump(w.judge)
	w.renew("b", "A")
	w.release("b", "A")
	w.renewAs("mix1", "A", "b")
	w.releaseAs("mix1", "A", "b")
	w.withdraw("b", "p", "/a")
	r := w.okAt(2)
	if r.Dropped+len(r.Renewed)+len(r.Released)+len(r.Drops) > 0 {
		t.Fatalf("%+v", r)
	}
	if row := w.row("A"); row.LastObservation != ms(2) || row.Released {
		t.Fatalf("%+v\nbefore:\n%s", row, before)
	}
	w.release("a", "A")
	wantList(t, "released", w.okAt(3).Released, "A")
}

// A stranger's fact about a lease that is granted further on is kept, and given up all the same.
func TestKeptFactsOfStrangersLeaveNoTrace(t *testing.T) {
	w := mixture(t)
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name != "b" {
			return m
		}
		return &onRead{m, func() { w.grant("N", "/n", "a", 100) }}
	}
	w.start()
	w.release("b", "N")
	w.release("a", "N")
	r := w.okAt(3)
	wantList(t, "released", r.Released, "N")
	if r.Dropped > 0 {
		t.Fatalf("%+v", r.Drops)
	}
}

// onRead does something once when a medium is read.
type onRead struct {
	stream.Medium
	do func()
}

func (o *onRead) Read(ctx context.Context, from stream.Cursor, most stream.Budget, yield func(stream.Value) bool) stream.Answer {
	if do := o.do; do != nil {
		o.do = nil
		do()
	}
	return o.Medium.Read(ctx, from, most, yield)
}
