package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// entries are rules by the first letter of a subject.
type entries map[byte]judge.Rule

func (e entries) Rule(s lease.Subject) (judge.Rule, bool) {
	r, known := e[s.Text()[0]]
	return r, known
}

// office is a world that answers proposals on subjects that begin with o; cadence 10, tolerance 2.
func office(t *testing.T, change func(r *judge.Rule), holders ...string) *world {
	w := newWorld(t, append([]string{"a", "b"}, holders...)...)
	r := judge.Rule{Name: "o", Answer: true, Duration: ms(100), Longest: ms(300), Max: ms(5000)}
	if change != nil {
		change(&r)
	}
	w.cfg.Rules, w.cfg.Tolerance = entries{'o': r, 'n': {Name: "n", Duration: ms(100)}}, ms(2)
	w.start()
	w.okAt(1)
	return w
}

func ask(n int64) string { return fmt.Sprintf(`"dao.lease/duration":{"ms":%d}`, n) }

func TestReasonsForARefusal(t *testing.T) {
	onlyB := func(r *judge.Rule) { r.Holder = func(name string) bool { return name == "b" } }
	for name, c := range map[string]struct {
		change  func(r *judge.Rule)
		before  func(w *world)
		subject string
		more    []string
		reason  string
	}{
		"subject unknown":  {subject: "x", reason: judge.RefusedSubject},
		"subject too long": {subject: "o" + strings.Repeat("x", 4096), reason: judge.RefusedSubject},
		"holder":           {change: onlyB, subject: "o", reason: judge.RefusedHolder},
		"short":            {subject: "o", more: []string{ask(21)}, reason: judge.RefusedShort},
		"limit": {change: func(r *judge.Rule) { r.Limit = 1 }, subject: "o2", reason: judge.RefusedLimit,
			before: func(w *world) { w.grant("L", "o1", "a", 1000) }},
		"stale": {subject: "o", reason: judge.RefusedStale,
			before: func(w *world) { w.scripts["a"].Read(stream.ReadFault{State: stream.Gap}) }},
		"busy": {change: func(r *judge.Rule) { r.Slots = 1 }, subject: "o", reason: judge.RefusedBusy,
			before: func(w *world) { w.grant("L", "o", "b", 1000) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := office(t, c.change)
			if c.before != nil {
				c.before(w)
			}
			w.propose("a", "p", c.subject, c.more...)
			r := w.okAt(2)
			wantList(t, "refused", r.Refused, "p")
			got := w.of(lease.Refusal)
			if len(got) != 1 || got[0].Reason != c.reason || got[0].Holder != "a" || got[0].Proposal != "p" {
				t.Fatalf("%+v", got)
			}
			if busy := c.reason == judge.RefusedBusy; busy != (got[0].By == "L" && got[0].HeldBy == "b") {
				t.Fatalf("%+v", got[0])
			}
			w.start()
			w.okAt(3)
			if n := len(w.of(lease.Refusal)); n != 1 {
				t.Fatalf("%d refusals after a restart", n)
			}
		})
	}
}

func TestWhatIsGranted(t *testing.T) {
	for name, c := range map[string]struct {
		more []string
		want lease.Duration
	}{"as asked": {[]string{ask(22)}, ms(22)}, "unasked": {nil, ms(100)}, "too much": {[]string{ask(301)}, ms(300)}} {
		w := office(t, nil)
		w.propose("a", "p", "o", c.more...)
		w.okAt(2)
		got := w.of(lease.Grant)
		if len(got) != 1 || got[0].Duration != c.want || got[0].Max != ms(5000) || got[0].Proposal != "p" || got[0].Holder != "a" || got[0].Token != 1 {
			t.Fatalf("%s: %+v", name, got)
		}
	}
}

func TestLongestIsTheDurationUnlessSaid(t *testing.T) {
	w := office(t, func(r *judge.Rule) { r.Longest = lease.Duration{} })
	w.propose("a", "p", "o", ask(300))
	w.okAt(2)
	if got := w.of(lease.Grant)[0].Duration; got != ms(100) {
		t.Fatal(got)
	}
}

func TestLimitCountsPendingLeasesAndThoseOfTheSameAnswer(t *testing.T) {
	w := office(t, func(r *judge.Rule) { r.Limit = 2 })
	w.hooks.do = failing
	w.grant("L", "o1", "a", 1000)
	w.release("a", "L")
	w.propose("a", "p1", "o2")
	w.propose("a", "p2", "o3")
	w.propose("b", "p3", "o4")
	r := w.okAt(2)
	if len(r.Granted) != 3 || w.of(lease.Refusal)[0].Proposal != "p2" {
		t.Fatalf("%+v", r)
	}
}

func TestWhatIsNotTheJudgesToAnswer(t *testing.T) {
	w := office(t, nil)
	w.propose("a", "p", "n") // answer: never
	w.okAt(2)
	if w.judge.Answered("a", "p") || len(w.judge.Proposals()) > 0 || len(w.of(lease.Refusal)) > 0 {
		t.Fatal("answered")
	}
	w.cfg.Rules = nil
	w.start()
	w.propose("a", "q", "o")
	w.okAt(3)
	if n := len(w.facts(grantor)); n > 0 {
		t.Fatalf("%d answers without rules", n)
	}
}

func TestSixteenOfOneHolderAPass(t *testing.T) {
	w := office(t, nil)
	for i := range 40 {
		w.propose("a", fmt.Sprint("p", i), "o")
	}
	w.propose("b", "p", "o")
	for at, want := range []int{17, 16, 8, 0} {
		if r := w.okAt(int64(2 + at)); len(r.Granted) != want {
			t.Fatalf("pass %d granted %d, want %d", at, len(r.Granted), want)
		}
	}
	for i, f := range w.of(lease.Grant) {
		if f.Token != int64(i+1) {
			t.Fatalf("token %d of the %d.", f.Token, i+1)
		}
		if f.Holder == "a" && i < 16 && f.Proposal != fmt.Sprint("p", i) {
			t.Fatalf("%s was the %d. answered", f.Proposal, i+1)
		}
	}
}

func TestSixtyFourWaitAndAFurtherOneCutsTheDrainShort(t *testing.T) {
	w := office(t, nil)
	w.grant("L", "o", "a", 50)
	w.okAt(2)
	w.scripts[grantor].Append(stream.Full, stream.Full)
	for i := range 70 {
		w.propose("a", fmt.Sprint("p", i), "o")
	}
	w.propose("a", "p0", "o") // one that waits already is no further one
	w.renew("a", "L")
	r := w.okAt(8)
	wantList(t, "truncated", r.Truncated, "a")
	if n := len(w.judge.Proposals()); n != 64 || len(r.Renewed) > 0 {
		t.Fatalf("%d wait, renewed %v", n, r.Renewed)
	}
	w.start()
	if n := len(w.judge.Proposals()); n != 64 {
		t.Fatalf("%d wait after a restart", n)
	}
	for at := int64(9); at < 15; at++ {
		w.okAt(at)
	}
	if n := len(w.of(lease.Grant)); n != 71 {
		t.Fatalf("%d grants", n)
	}
	if row := w.row("L"); row.LastObservation == ms(2) {
		t.Fatal("the renewal behind was never read")
	}
}

// After a gap what is read may be old, until the medium has been drained.
func TestStaleUntilTheMediumIsDrained(t *testing.T) {
	w := office(t, nil)
	w.cfg.DrainBudget = 3
	w.start()
	w.okAt(2)
	w.scripts["a"].Read(stream.ReadFault{State: stream.Gap})
	for i := range 5 {
		w.propose("a", fmt.Sprint("old", i), "o")
	}
	w.okAt(3)
	w.okAt(4)
	w.propose("a", "new", "o")
	r := w.okAt(5)
	if n := len(w.of(lease.Refusal)); n != 5 || len(r.Granted) != 1 {
		t.Fatalf("%d refused, granted %v", n, r.Granted)
	}
}

// A gap on the judge's own ticks makes no proposal of a holder of that name stale.
func TestAGapElsewhereMakesNothingStale(t *testing.T) {
	w := office(t, nil, "policy")
	w.media["policy"].AppendRaw([]byte("{}"))
	w.scripts["policy"].Read(stream.ReadFault{State: stream.Gap})
	w.propose("b", "p", "o")
	if r := w.okAt(2); len(r.Granted) != 1 {
		t.Fatalf("%+v", w.of(lease.Refusal))
	}
}

func TestAProposalIsAnsweredOnceHoweverOftenItIsMade(t *testing.T) {
	w := office(t, nil)
	w.propose("a", "p", "o")
	w.propose("a", "p", "o")
	w.okAt(2)
	w.propose("a", "p", "o")
	w.okAt(3)
	w.start()
	w.propose("a", "p", "o")
	w.okAt(4)
	if n := len(w.of(lease.Grant)); n != 1 {
		t.Fatalf("%d grants", n)
	}
}

func TestOneHoldersIdNeverBlocksAnothers(t *testing.T) {
	w := office(t, nil)
	w.propose("a", "p", "o")
	w.propose("b", "p", "o")
	w.refuse("p", "x")
	if r := w.okAt(2); len(r.Granted) != 2 || r.Dropped != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestAnAnswerByHandLeavesNothingToAnswer(t *testing.T) {
	w := office(t, nil)
	w.propose("a", "p1", "o")
	w.propose("a", "p2", "o")
	w.propose("a", "p3", "o")
	w.refuse("p1", "a")
	w.grant("H", "o", "a", 500, `"dao.lease/proposal":"p2"`)
	w.write(grantor, `{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"p3","dao.lease/holder":null}`)
	r := w.okAt(2)
	wantList(t, "granted", r.Granted, "H", "L1") // p3: the refusal names nobody, and was read before it
	w.refuse("p1", "a")
	w.refuse("p2", "a")
	if r := w.okAt(3); r.Dropped != 2 {
		t.Fatalf("%+v", r.Drops)
	}
}

func TestTheGrantorIsNoHolder(t *testing.T) {
	w := office(t, nil)
	w.propose(grantor, "p", "o")
	w.okAt(2)
	if n := len(w.live()); n > 0 || len(w.judge.Proposals()) > 0 {
		t.Fatalf("%v", w.live())
	}
}
