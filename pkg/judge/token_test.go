package judge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// highest is where the highest token is kept besides.
type highest struct {
	token int64
	err   error
}

func (h *highest) Highest(context.Context) (int64, error) { return h.token, nil }

func (h *highest) Raise(_ context.Context, token int64) error {
	if h.err == nil {
		h.token = token
	}
	return h.err
}

func TestTokensAreAboveEveryOther(t *testing.T) {
	w := office(t, nil)
	kept := &highest{token: 7}
	w.cfg.Tokens = kept
	w.start()
	w.grant("H", "o", "a", 1000, `"daolease/token":20`)
	w.propose("a", "p", "o")
	w.okAt(2)
	w.grant("I", "o", "a", 1000, `"daolease/token":30`)
	if f, err := judge.Grant(t.Context(), w.config(), termsFor("a")); err != nil || f.Token != 31 {
		t.Fatalf("%+v, %v", f, err)
	}
	kept.token = 50
	f, err := w.judge.Grant(t.Context(), termsFor("a"))
	if err != nil || f.Token != 51 || kept.token != 51 {
		t.Fatalf("%+v, %v", f, err)
	}
	if got := w.of(lease.Grant)[1].Token; got != 21 {
		t.Fatal(got)
	}
}

func TestATokenThatIsNotKeptIsNotGiven(t *testing.T) {
	w := office(t, nil)
	w.cfg.Tokens = &highest{err: errors.New("no room")}
	w.start()
	w.propose("a", "p", "o")
	if r := w.passAt(2); r.Outcome != judge.Aborted || len(w.of(lease.Grant)) > 0 {
		t.Fatalf("%s, %v", r.Outcome, w.of(lease.Grant))
	}
}

// After a gap on the grantor's stream no lease is marked and nothing is granted.
func TestAGapOnTheGrantorsStream(t *testing.T) {
	w := office(t, nil)
	w.grant("L", "o", "a", 1000, `"daolease/token":5`)
	w.okAt(2)
	w.media[grantor].Lose()
	w.grant("old", "o", "a", 1000, `"daolease/token":5`)
	w.grant("none", "o", "a", 1000)
	w.grant("new", "o", "a", 1000, `"daolease/token":6`)
	w.propose("a", "p", "o")
	r := w.okAt(3)
	wantList(t, "unknown", r.Unknown)
	wantList(t, "granted", r.Granted, "new")
	wantList(t, "gaps", r.Gaps, grantor)
	w.start()
	w.okAt(4)
	if !w.judge.LostGrants() || len(w.of(lease.Grant)) != 3 {
		t.Fatal("something was granted")
	}
	for _, err := range []error{
		func() error { _, err := judge.Grant(t.Context(), w.config(), termsFor("a")); return err }(),
		func() error { _, err := w.judge.Grant(t.Context(), termsFor("a")); return err }(),
	} {
		if !errors.Is(err, judge.ErrLost) {
			t.Fatal(err)
		}
	}
	w.release("a", "L")
	wantList(t, "lapsed", ended(w.okAt(5)), "L by release")
}

func TestNewIdsAreNew(t *testing.T) {
	w := office(t, nil)
	ids := []string{"same", "same", "other"}
	w.cfg.NewID = func() string { id := ids[0]; ids = ids[1:]; return id }
	w.start()
	w.propose("a", "p", "o")
	w.propose("a", "q", "o")
	w.okAt(2)
	w.wantLive("other", "same")
}
