package judge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/daolease/daolease/pkg/stream"
)

// Revocation is a line of the policy medium: the grantor ends a lease (SPEC 9, revoke).
type Revocation struct {
	Lease     string `json:"daolease/revoke"`
	Reason    string `json:"daolease/reason,omitempty"`
	Reclaimed bool   `json:"daolease/reclaimed,omitempty"` // taken back by hand: no procedure is to run
}

// Encode writes the revocation as one line.
func (r Revocation) Encode() ([]byte, error) { return json.Marshal(r) }

// Revoke ends a lease by policy at the next pass, and tries a pending one at once. False: it is not live.
// A judge that is killed before that pass has forgotten it; the policy medium is what lasts.
func (j *Judge) Revoke(id, reason string, reclaimed bool) bool {
	e := j.ledger.find(id)
	if e == nil {
		return false
	}
	j.ledger.revoke(e, reason, reclaimed)
	j.carry(&delta{Revoked: []revoked{{id, j.ledger.rarely(e).Reason, e.ByHand}}})
	return true
}

// drainPolicy reads what the grantor has decided since.
func (j *Judge) drainPolicy(ctx context.Context) {
	if j.cfg.Policy == nil {
		return
	}
	r := j.newReading(policyName, policyName, j.cfg.Policy)
	r.lines = func(v stream.Value) {
		var rev Revocation
		if err := json.Unmarshal(v.Bytes, &rev); err != nil || rev.Lease == "" {
			j.drop(policyName, v.Position, "no revocation")
			return
		}
		if e := j.ledger.find(rev.Lease); e != nil {
			j.ledger.revoke(e, rev.Reason, rev.Reclaimed)
			j.mark(&j.dirty.revoked, e)
		}
	}
	for j.read(ctx, r, r.values) {
	}
	if r.err != nil {
		j.fail(fmt.Errorf("policy: %w", r.err))
	} else if r.cut {
		j.truncate(policyName)
	}
}
