package judge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// utter writes a line of a holder's, numbered, and has the model know it.
func (s *sim) utter(medium, author string, kind lease.Kind, id, proposal string, more ...string) {
	x := &said{n: len(s.said), medium: medium, author: author, kind: kind, lease: id, proposal: proposal, at: s.readable()}
	s.said = append(s.said, x)
	members := append([]string{fmt.Sprintf(`{"n":%d,"author":%q`, x.n, author)}, more...)
	switch kind {
	case lease.Renewal:
		members = append(members, fmt.Sprintf(`"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q`, id))
	case lease.Release:
		members = append(members, fmt.Sprintf(`"dao.lease/status":"dao.lease/released","dao.lease/lease":%q`, id))
	case lease.Proposal:
		members = append(members, fmt.Sprintf(`"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":%q`, proposal))
		x.withdrawn = strings.Contains(strings.Join(more, ""), "withdrawn")
	}
	x.lost = s.spoiled[medium]
	if l := s.leases[id]; l != nil && author == l.holder {
		l.spoke = true
		l.released = l.released || kind == lease.Release
	}
	s.say("%s on %s: %s %s%s", author, medium, kind, id, proposal)
	s.write(medium, strings.Join(members, ",")+"}")
}

// holderTurn is one command of a holder: it looks, gives back what it must, renews what is due, and now and
// then begins anew from what it kept.
func (s *sim) holderTurn(r *rand.Rand) {
	h := s.party[s.anyHolder(r)]
	s.look(h)
	for _, id := range h.ToRelease() {
		s.gives(h, id)
	}
	for _, id := range sorted(h.State.Leases) {
		if h.Due(id, s.now, 3) {
			s.renews(h, id)
		}
	}
}

// look has a holder read the grantor's stream to its end.
func (s *sim) look(h *lease.Holder) {
	h.BeginLook(s.now)
	at := h.State.Cursor
	if at == "" {
		at, _ = s.media[grantor].Mint(s.t.Context(), stream.Oldest)
	}
	for {
		answer := s.media[grantor].Read(s.t.Context(), at, stream.Budget{}, func(v stream.Value) bool {
			if f, err := lease.Decode(v.Bytes, h.Units); err == nil {
				h.Observe(grantor, f)
			}
			return true
		})
		if at = answer.Cursor; answer.State != stream.Gap {
			break
		}
		h.Gap()
	}
	h.EndLook(at, true)
}

func (s *sim) home(id, holder string) string {
	if l := s.leases[id]; l != nil {
		return l.home
	}
	return holder
}

func (s *sim) renews(h *lease.Holder, id string) {
	if h.Renewed(id, s.now) == nil {
		s.utter(s.home(id, h.Name), h.Name, lease.Renewal, id, "")
	}
}

func (s *sim) gives(h *lease.Holder, id string) {
	if write, err := h.SetOutRelease(id); err == nil && write {
		s.utter(s.home(id, h.Name), h.Name, lease.Release, id, "")
		h.Released(id)
	}
}

func (s *sim) proposes(r *rand.Rand) {
	h := s.party[s.anyHolder(r)]
	s.look(h)
	s.proposals++
	id, on := fmt.Sprint("p", s.proposals), fmt.Sprint("/s", r.IntN(4))
	medium := append([]string{h.Name}, s.mixed...)[r.IntN(1+len(s.mixed))]
	h.Proposed(id, subject(on), s.now)
	more := []string{fmt.Sprintf(`"dao.lease/subject":%q`, on)}
	if r.IntN(2) == 0 {
		more = append(more, fmt.Sprintf(`"dao.lease/duration":{"ms":%d}`, 10+r.IntN(80)))
	}
	s.utter(medium, h.Name, lease.Proposal, "", id, more...)
}

// withdraws takes a young proposal of somebody's back.
func (s *sim) withdraws(r *rand.Rand) {
	h := s.party[s.anyHolder(r)]
	ids := sorted(h.State.Proposed)
	if len(ids) == 0 {
		return
	}
	id := ids[r.IntN(len(ids))]
	if !h.SetOutWithdraw(id) {
		return
	}
	s.utter(h.Name, h.Name, lease.Proposal, "", id, `"dao.lease/subject":"/s","daolease/withdrawn":true`)
	h.Withdrawn(id)
	for _, l := range s.leases {
		l.released = l.released || l.holder == h.Name && l.proposal == id
	}
}

func (s *sim) releases(r *rand.Rand) {
	if l := s.anyLease(r); l != nil {
		h := s.party[l.holder]
		s.look(h)
		s.gives(h, l.id)
	}
}

// renewsAnyway renews a lease without asking whether it is held: the judge counts it all the same.
func (s *sim) renewsAnyway(r *rand.Rand) {
	if l := s.anyLease(r); l != nil {
		s.utter(l.home, l.holder, lease.Renewal, l.id, "")
	}
}
