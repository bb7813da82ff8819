package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

// drops are reasons by medium and position, in order.
func wantDrop(t *testing.T, r judge.Report, medium, reason string) {
	t.Helper()
	if r.Dropped != 1 || len(r.Drops) != 1 || r.Drops[0].Medium != medium || !strings.Contains(r.Drops[0].Reason, reason) {
		t.Fatalf("want one drop on %s because %q, got %d: %+v", medium, reason, r.Dropped, r.Drops)
	}
}

func TestInadmissibleFactsAreCountedAndEstablishNothing(t *testing.T) {
	for name, c := range map[string]struct {
		tell           func(w *world)
		medium, reason string
	}{
		"a second accepted": {func(w *world) { w.grant("L", "/x", "b", 1) }, grantor, "granted before"},
		"a second accepted after it left": {func(w *world) {
			w.release("a", "L")
			w.okAt(3)
			w.grant("L", "/x", "b", 1)
		}, grantor, "granted before"},
		"a second lapsed":               {func(w *world) { w.lapsed("L"); w.lapsed("L") }, grantor, "lapsed before"},
		"a second lapsed after its own": {func(w *world) { w.release("a", "L"); w.okAt(3); w.lapsed("L") }, grantor, "lapsed before"},
		"a second released":             {func(w *world) { w.release("a", "L"); w.release("a", "L") }, "a", "released before"},
		"a token not above":             {func(w *world) { w.grant("N", "/x", "b", 1, `"daolease/token":9`) }, grantor, "token 9"},
		"a second answer that accepts":  {func(w *world) { w.grant("N", "/x", "a", 1, `"dao.lease/proposal":"p"`) }, grantor, "second answer"},
		"a second answer that rejects":  {func(w *world) { w.refuse("p", "a") }, grantor, "second answer"},
		"an older tick":                 {func(w *world) { w.tick(1) }, "ticks", "older"},
		"an answer after a refusal":     {func(w *world) { w.refuse("q", "a"); w.grant("N", "/x", "a", 1, `"dao.lease/proposal":"q"`) }, grantor, "second answer"},
		"a defective fact":              {func(w *world) { w.write("a", `{"dao.lease/event":"dao.lease/renewal"}`) }, "a", "dao.lease/lease"},
		"an undecodable line":           {func(w *world) { w.write("b", `{"a":1,"a":2}`) }, "b", ""},
		"a line that is damaged":        {func(w *world) { w.write("b", "\x00") }, "b", "NUL"},
		"no revocation":                 {func(w *world) { w.write("policy", "{}") }, "policy", "revocation"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a", "b").start()
			w.hooks.do = nil
			w.okAt(1)
			w.grant("T", "/t", "b", 1000, `"daolease/token":9`)
			w.grant("L", "/s", "a", 1000, `"dao.lease/proposal":"p"`)
			w.okAt(2)
			c.tell(w)
			r := w.passAt(10)
			wantDrop(t, r, c.medium, c.reason)
			if r.Outcome != judge.OK || len(r.Granted) > 0 {
				t.Fatalf("%+v", r)
			}
			if _, live := w.judge.Row("N"); live {
				t.Fatal("it seeded")
			}
			w.start()
			if r := w.okAt(11); r.Dropped > 0 {
				t.Fatalf("counted again: %+v", r.Drops)
			}
		})
	}
}

func TestWhatIsNotCounted(t *testing.T) {
	w := newWorld(t, "a", "b").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.okAt(2)
	w.write("a", "", "  ", "7", "[]", `"text"`, "{}", `{"dao.lease/status":null}`)
	w.renew("a", "gone")
	w.release("a", "gone")
	w.release("b", "L")
	w.lapsed("never")
	w.tick(2)
	w.refuse("p", "never heard of")
	if r := w.okAt(3); r.Dropped > 0 {
		t.Fatalf("%+v", r.Drops)
	}
}

func TestEqualTokensAndProposalsOfOthersAreTheirOwn(t *testing.T) {
	w := newWorld(t, "a", "b").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000, `"dao.lease/proposal":"p"`, `"daolease/token":5`)
	w.grant("M", "/s", "b", 1000, `"dao.lease/proposal":"p"`, `"daolease/token":6`)
	w.grant("N", "/s", "b", 1000, `"daolease/token":"7"`) // no token at all
	w.grant("O", "/s", "b", 1000, `"daolease/token":4503599627370497`)
	if r := w.okAt(2); r.Dropped > 0 {
		t.Fatalf("%+v", r.Drops)
	}
	w.wantLive("L", "M", "N", "O")
}

func TestDropsAreNamedUpToAHundredAMediumAndAllCounted(t *testing.T) {
	w := newWorld(t, "a", "b").start()
	for range 150 {
		w.write("a", "junk")
	}
	w.write("b", "junk")
	if r := w.okAt(1); r.Dropped != 151 || len(r.Drops) != 101 {
		t.Fatalf("%d dropped, %d named", r.Dropped, len(r.Drops))
	}
}

func TestRememberedIdsAreBounded(t *testing.T) {
	w := newWorld(t, "a")
	w.cfg.DrainBudget = 1 << 20
	w.start()
	w.okAt(1)
	for i := range 300 {
		w.refuse(fmt.Sprint("p", i), "a")
	}
	w.refuse("p299", "a") // among the newest 256
	if r := w.okAt(2); r.Dropped != 1 {
		t.Fatalf("%+v", r.Drops)
	}
	w.refuse("p0", "a") // forgotten
	w.start()
	if r := w.okAt(3); r.Dropped != 0 {
		t.Fatalf("%+v", r.Drops)
	}
}

// The grantor's stream never ends for the judge on a fact too large to keep.
func TestAGrantTooLargeToKeepIsDropped(t *testing.T) {
	w := newWorld(t, "a").start()
	w.grant("big", strings.Repeat("<", 1<<20-300), "a", 1000)
	r := w.okAt(1)
	wantDrop(t, r, grantor, "too large")
	w.grant("grows", strings.Repeat("<", 173_900), "a", 1000) // with a reason and an error it would be too large
	wantDrop(t, w.okAt(1), grantor, "too large")
	w.grant("fits", strings.Repeat("<", 160000), "a", 1000)
	w.okAt(2)
	w.wantLive("fits")
	w.judge.Revoke("fits", strings.Repeat("<", 1<<20), false)
	w.hooks.do = failing
	w.okAt(3)
	w.start()
	w.wantLive("fits")
}
