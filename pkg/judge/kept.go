package judge

import (
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// keptFact is what a holder said about a lease that the ledger does not know, until the grantor's stream has
// been drained once more.
type keptFact struct {
	kind     lease.Kind
	medium   string
	position stream.Position
	author   string
	lease    string
}

// kept is such facts in the order in which they were read, at most so many a medium.
type kept struct {
	list     []keptFact
	count    map[string]int
	renewals map[[3]string]struct{} // of each, one a medium and author is enough
}

// keep holds on to a fact about a lease that may be granted further on in the grantor's stream.
func (j *Judge) keep(s *source, v stream.Value, author string, kind lease.Kind, id string) verdict {
	k := &j.kept
	if _, departed := j.ledger.seen[id]; departed || len(id) > maxID {
		return verdict{}
	}
	renewal := [3]string{s.name, author, id}
	if _, again := k.renewals[renewal]; again && kind == lease.Renewal {
		return verdict{}
	}
	if k.count[s.name] >= maxKept {
		return verdict{leave: true}
	}
	if k.count == nil {
		k.count, k.renewals = map[string]int{}, map[[3]string]struct{}{}
	}
	if kind == lease.Renewal {
		k.renewals[renewal] = struct{}{}
	}
	k.count[s.name]++
	k.list = append(k.list, keptFact{kind, s.name, v.Position, author, id})
	return verdict{}
}

// applyKept applies what was kept about leases that are known by now, and gives up the rest.
func (j *Judge) applyKept() {
	for _, k := range j.kept.list {
		if e := j.ledger.find(k.lease); e != nil {
			if reason := j.evidence(k.medium, k.author, e, k.kind); reason != "" {
				j.drop(k.medium, k.position, reason)
			}
		}
	}
	j.kept = kept{}
}
