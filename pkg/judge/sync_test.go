package judge_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// syncs notes which appends to the ledger asked to be on disk.
type syncs struct {
	stream.Rewriter
	asked []bool
}

func (s *syncs) Append(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
	if len(values) > 0 {
		s.asked = append(s.asked, how.Sync)
	}
	return s.Rewriter.Append(ctx, how, values...)
}

func TestPendingAndSuccessAreSyncedAndLeftNeedNotBe(t *testing.T) {
	w := newWorld(t, "a")
	s := &syncs{}
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name == "ledger" {
			s.Rewriter = m.(stream.Rewriter)
			return s
		}
		return m
	}
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 8)
	w.grant("M", "/t", "a", 8)
	w.okAt(2)
	w.okAt(9)
	s.asked = nil
	w.okAt(15)
	if got := fmt.Sprint(s.asked); got != "[true true false]" {
		t.Fatalf("syncs %s, want one for all pending, one for all successes, none at the end", got)
	}
}

// What was to be synced and was not is synced by the next write, whichever that is.
func TestSyncThatFailedIsMadeUpFor(t *testing.T) {
	w := newWorld(t, "a")
	s := &syncs{}
	w.around = func(name string, m stream.Medium) stream.Medium {
		if name == "ledger" {
			s.Rewriter = m.(stream.Rewriter)
			return s
		}
		return m
	}
	w.start()
	w.okAt(1)
	w.grant("L", "/s", "a", 8)
	w.okAt(2)
	w.okAt(9)
	w.scripts["ledger"].Append(stream.Intact, stream.Lost)
	s.asked = nil
	w.passAt(15)
	if got := fmt.Sprint(s.asked); got != "[true true true]" {
		t.Fatalf("syncs %s: pending, success in vain, and the end", got)
	}
}
