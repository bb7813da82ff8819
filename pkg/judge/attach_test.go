package judge_test

import (
	"fmt"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

func TestAttachedBetweenPassesIsReadFromTheOldest(t *testing.T) {
	w := newWorld(t).start()
	w.okAt(1)
	w.grant("L", "/s", "late", 1000)
	w.release("late", "L")
	w.judge.Attach("late", w.dressed("late"))
	wantList(t, "attached", w.judge.Attached(), "late")
	wantList(t, "lapsed", ended(w.okAt(2)), "L by release")
	w.holders = []string{"late"}
	w.start()
	if r := w.okAt(3); r.Dropped > 0 {
		t.Fatalf("read again: %+v", r.Drops)
	}
}

func TestDetachedIsReadNoMoreAndBarsNothing(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 12)
	w.okAt(2)
	w.judge.Detach("a")
	w.renew("a", "L")
	w.okAt(10)
	wantList(t, "lapsed", ended(w.okAt(15)), "L by silence")
	if w.judge.CursorOf("a") != "" || len(w.judge.Attached()) > 0 {
		t.Fatal("its cursor is kept")
	}
	w.holders = nil
	w.start()
	if w.judge.CursorOf("a") != "" {
		t.Fatal("its cursor is kept on disk")
	}
}

// What stood on a medium before it was attached cannot be known: a renewal may be gone with what it lost meanwhile.
func TestAttachedAnewMayHaveLostARenewal(t *testing.T) {
	w := newWorld(t, "a", "m")
	w.cfg.Resolver = signed{"m"}
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 30)
	w.okAt(2)
	w.okAt(12)
	w.okAt(22)
	w.write("m", `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L","by":"a"}`)
	w.judge.Detach("m")
	w.media["m"].Lose()
	w.judge.Attach("m", w.dressed("m"))
	for _, at := range []int64{24, 34, 44, 54} { // unknown from 24 on
		w.okAt(at)
		w.wantLive("L")
	}
	if row := w.row("L"); row.Evidence != "unknown" || *row.Resumed != ms(24) {
		t.Errorf("%+v", row)
	}
	wantList(t, "lapsed", ended(w.okAt(55)), "L by silence")
	(&schedule{world: w}).wantReplayed()
}

// Another medium under the same name, as when a connection is made anew.
func TestReplacedMediumIsReadAnew(t *testing.T) {
	w := newWorld(t, "a").start()
	w.okAt(1)
	w.grant("L", "/s", "a", 1000)
	w.write("a", "{}")
	w.okAt(2)
	w.judge.Detach("a")
	delete(w.media, "a")
	w.judge.Attach("a", w.dressed("a"))
	w.renew("a", "L")
	r := w.okAt(3)
	w.wantRenewed(r, "L")
	wantList(t, "gaps", r.Gaps)
}

func TestManyComeAndGo(t *testing.T) {
	w := newWorld(t).start()
	for i := range 500 {
		name := fmt.Sprint("conn-", i)
		m := stream.NewMemory(name)
		w.judge.Attach(name, m)
		f, err := w.judge.Grant(t.Context(), judge.Terms{Subject: subject(name), Holder: name, Duration: ms(1000)})
		if err != nil {
			t.Fatal(err)
		}
		w.okAt(int64(2*i + 1))
		m.AppendRaw(fmt.Appendf(nil, `{"dao.lease/status":"dao.lease/released","dao.lease/lease":%q}`, f.Lease))
		wantList(t, "lapsed", ended(w.okAt(int64(2*i+2))), f.Lease+" by release")
		w.judge.Detach(name)
	}
	if n := judge.Remembered(w.judge); n > 0 {
		t.Fatalf("%d things are remembered of those that are gone", n)
	}
	(&schedule{world: w}).wantReplayed()
}
