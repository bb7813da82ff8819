package cmd

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// revocations are what the grantor has decided of leases, by lease, as far as the policy medium retains it. It is
// private to the judge's user, as the ledger is: to anyone else there are none.
type revocations map[string]judge.Revocation

// readRevocations reads the policy medium. Of several about one lease the last reason is kept, as in the ledger, and
// that it was taken back by hand.
func (c *Composition) readRevocations(ctx context.Context) (revocations, error) {
	list := revocations{}
	m, err := c.policy()
	if err != nil {
		return nil, err
	}
	cursor, err := m.Mint(ctx, stream.Oldest)
	for err == nil {
		answer := m.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
			list.add(v)
			return true
		})
		switch cursor = answer.Cursor; answer.State {
		case stream.Blocked, stream.End:
			return list, nil
		case stream.OK, stream.Gap:
			err = ctx.Err()
		default:
			err = answer.Err
		}
	}
	return nil, err
}

func (list revocations) add(v stream.Value) {
	var r judge.Revocation
	if v.Damage != "" || json.Unmarshal(v.Bytes, &r) != nil || r.Lease == "" {
		return
	}
	before := list[r.Lease]
	r.Reclaimed = r.Reclaimed || before.Reclaimed
	if r.Reason == "" {
		r.Reason = before.Reason
	}
	list[r.Lease] = r
}

// tookBack says that a lease whose lapsed is recorded was taken back by hand. The record carries the reason of a
// revocation that the judge had read before it took the lease back; one that came too late decided nothing.
func (list revocations) tookBack(lapsed *lease.Fact) bool {
	r := list[lapsed.Lease]
	return r.Reclaimed && lapsed.Reason != "" && strings.HasPrefix(r.Reason, strings.TrimSuffix(lapsed.Reason, "…"))
}

// byHand says that a lease was taken back by hand, and not by its procedure.
func (p *procedures) byHand(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hands[id]
}

// recorded forgets what is over.
func (p *procedures) recorded(r *judge.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range r.Lapsed {
		delete(p.hands, e.Lease)
	}
}
