package judge_test

import (
	"maps"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// rememberer is a resolver with something to remember.
type rememberer struct {
	bySoleMedium
	news, known map[string]string
}

func (r *rememberer) News() map[string]string {
	news := r.news
	r.news = nil
	return news
}

func (r *rememberer) Remember(known map[string]string) { r.known = maps.Clone(known) }

// What a resolver has resolved is kept with the cursors, and is there again for the next incarnation (SPEC 4).
func TestWhatTheResolverKnewIsThereAgain(t *testing.T) {
	ticks, facts, ledger := stream.NewMemory("ticks"), stream.NewMemory("grantor"), stream.NewMemory("ledger")
	begin := func(r *rememberer) *judge.Judge {
		j, err := judge.New(t.Context(), judge.Config{
			Grantor: "grantor", Cadence: lease.Duration{Unit: "s", N: 1}, Ticks: ticks, Facts: facts,
			Resolver: r, Ledger: ledger, Durable: true, Boot: "boot",
		})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	ticks.AppendRaw([]byte(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":1}}`))
	first := &rememberer{news: map[string]string{"1000": "alice"}}
	j := begin(first)
	j.Pass(t.Context())
	first.news = map[string]string{"1001": "bob"}
	ticks.AppendRaw([]byte(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":2}}`))
	j.Pass(t.Context())
	next := &rememberer{}
	begin(next)
	if want := map[string]string{"1000": "alice", "1001": "bob"}; !maps.Equal(next.known, want) {
		t.Errorf("the next incarnation's resolver knows %v, want %v", next.known, want)
	}
}
