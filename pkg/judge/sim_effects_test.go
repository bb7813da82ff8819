package judge_test

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// disk is the ledger's medium as far as reclaims go, read line by line as it lands.
type disk struct {
	lines     [][]byte // landed since the last snapshot
	sure      int      // of these, how many are synced
	open      []map[string]any
	whole     map[string]onDisk // after the last whole group
	synced    map[string]onDisk // the same at the last sync
	succeeded []string          // as landed since it was last asked
	passes    []int64           // completed, as landed since it was last asked
	now       float64
	marked    bool // what a reboot makes unknown is
	groups    int  // whole ones
	any       bool // a pass was completed
	begun     bool // and that is synced: a lapsed by hand takes no lease out any more
}

type onDisk struct {
	cause     lease.Cause
	succeeded bool
}

func newDisk() *disk { return &disk{whole: map[string]onDisk{}, synced: map[string]onDisk{}} }

// land takes lines in. Only whole groups count.
func (d *disk) land(lines [][]byte, sync bool) {
	for _, line := range lines {
		d.lines = append(d.lines, bytes.Clone(line))
		g := judge.GroupOf(line)
		if number, _ := g["line"].(float64); number == 0 {
			d.open = nil // what a torn append left of another group
		}
		if d.open = append(d.open, g); g["last"] != true {
			continue
		}
		d.groups++
		for _, g := range d.open {
			d.apply(g)
		}
		d.open = nil
	}
	if sync {
		d.sure, d.synced, d.begun = len(d.lines), maps.Clone(d.whole), d.any
	}
}

func (d *disk) apply(g map[string]any) {
	if g["snapshot"] == true {
		clear(d.whole)
	}
	if c, there := g["completed"].(float64); there {
		d.passes, d.any = append(d.passes, int64(c)), true
	}
	d.marked = d.marked || g["resumed"] == true
	if n, there := g["now"].(float64); there {
		d.now = n
	}
	for _, e := range list(g["granted"]) {
		m := e.(map[string]any)
		cause, _ := m["cause"].(string)
		d.whole[m["lease"].(string)] = onDisk{lease.Cause(cause), m["reclaimed"] == true}
	}
	for _, e := range list(g["pending"]) {
		m := e.(map[string]any)
		id := m["lease"].(string)
		if on, there := d.whole[id]; there {
			on.cause = lease.Cause(m["cause"].(string))
			d.whole[id] = on
		}
	}
	for _, id := range list(g["succeeded"]) {
		d.succeeded = append(d.succeeded, id.(string))
		if on, there := d.whole[id.(string)]; there {
			on.succeeded = true
			d.whole[id.(string)] = on
		}
	}
	for _, id := range list(g["left"]) {
		delete(d.whole, id.(string))
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// tries is a group on its way to the ledger.
func (s *sim) tries(l *life, lines [][]byte) {
	if l != s.life {
		return // a usurped judge may try: nothing of it may land
	}
	for _, line := range lines {
		if !bytes.Contains(line, []byte(`"pending":`)) {
			continue
		}
		for _, e := range list(judge.GroupOf(line)["pending"]) {
			m := e.(map[string]any)
			s.concluded(m["lease"].(string), lease.Cause(m["cause"].(string)))
		}
	}
}

// landed is an append of a judge that took effect.
func (s *sim) landed(m *tracked, sync bool, values [][]byte) {
	switch {
	case m.life != s.life:
		s.fail("a judge that was usurped has appended %s to %s", values[0], m.name)
	case m.name == "ledger":
		s.disk.land(values, sync)
		for _, id := range s.disk.succeeded {
			s.leases[id].succeeded = true
		}
		s.disk.succeeded = nil
		for _, at := range s.disk.passes {
			if n := len(s.completed); n == 0 || s.completed[n-1] < at {
				s.completed = append(s.completed, at)
			}
		}
		if s.disk.passes = nil; s.disk.marked {
			s.resume, s.disk.marked = false, false
			s.kept()
		}
	case m.name == grantor:
		for _, v := range values {
			f, err := lease.Decode(v, lease.DefaultUnits())
			if err != nil {
				s.fail("the judge has appended %s: %v", v, err)
				continue
			}
			s.answeredFact(f)
		}
	}
}

// answeredFact is a fact of the judge's own on the grantor's stream.
func (s *sim) answeredFact(f lease.Fact) {
	if f.Kind == lease.Lapsed {
		s.recorded(f)
		return
	}
	key := f.Holder + "/" + f.Proposal
	if s.answers[key]++; f.Proposal != "" && s.answers[key] > 1 {
		s.fail("proposal %s is answered a second time", key)
	}
	if f.Kind == lease.Refusal {
		return
	}
	taken := 0
	for _, l := range s.leases {
		if l.subject == f.Subject.Text() && !l.gone() {
			taken++
		}
	}
	switch {
	case f.Token <= s.token:
		s.fail("token %d of %s is not above %d", f.Token, f.Lease, s.token)
	case !s.grantorLost && s.slots > 0 && taken >= s.slots && f.Proposal != "":
		s.fail("%s is granted on %s, where %d of %d slots are taken", f.Lease, f.Subject.Text(), taken, s.slots)
	}
	s.grantedNow(f, s.read).seen = true
}

// grantedNow has the model know a grant that landed on the grantor's stream.
func (s *sim) grantedNow(f lease.Fact, at int64) *simLease {
	s.token = max(s.token, f.Token)
	if l := s.leases[f.Lease]; l != nil {
		s.fail("%s is granted a second time", f.Lease)
		return l
	}
	l := &simLease{
		id: f.Lease, subject: f.Subject.Text(), holder: f.Holder, proposal: f.Proposal,
		duration: f.Duration.N, max: f.Max.N, token: f.Token, granted: at, said: len(s.said),
	}
	homes := append([]string{l.holder}, s.mixed...)
	l.home = homes[s.draw(l.id, -1).IntN(len(homes))]
	for _, x := range s.said {
		l.released = l.released || x.withdrawn && x.author == l.holder && x.proposal == l.proposal
	}
	s.leases[l.id] = l
	s.say("%s is granted to %s on %s for %d, max %d, token %d, home %s", l.id, l.holder, l.subject, l.duration, l.max, f.Token, l.home)
	return l
}

// recorded: the record follows the act, its success is on disk, and it is the only one.
func (s *sim) recorded(f lease.Fact) {
	l := s.leases[f.Lease]
	if l == nil {
		s.fail("lapsed of %s, which was never granted", f.Lease)
		return
	}
	s.say("%s is recorded as lapsed by %s", l.id, f.Cause)
	l.lapsed++
	switch {
	case !l.done:
		s.fail("lapsed of %s is on the stream before its procedure succeeded", l.id)
	case !s.disk.synced[l.id].succeeded:
		s.fail("lapsed of %s is on the stream before its success was on disk", l.id)
	case l.lapsed > 1:
		s.fail("%s has %d lapsed on the stream", l.id, l.lapsed)
	case l.cause != f.Cause:
		s.fail("%s was concluded by %s, and is recorded by %s", l.id, l.cause, f.Cause)
	}
}

// handed is a value that the judge was handed, and took.
func (s *sim) handed(name string, v stream.Value) {
	if n, tick := numberAfter(v.Bytes, `"dao.lease/reading":{"ms":`); name == "ticks" && tick {
		s.fresh, s.read = true, max(s.read, int64(n))
	}
	if name == "policy" {
		for _, l := range s.leases {
			l.revokeRead = l.revokeRead || l.latest > 0 && bytes.Contains(v.Bytes, []byte(`"`+l.id+`"`))
		}
	}
	n, numbered := numberAfter(v.Bytes, `"n":`)
	if name == "ticks" || name == grantor || name == "policy" || !numbered {
		return
	}
	x := s.said[n]
	if x.handed == 0 { // once more, after a Detach, need not be kept by a judge that dies
		x.handed = max(s.read, 1)
	}
	if l := s.leases[x.lease]; l != nil && x.kind == lease.Release && x.author == l.holder && x.n >= l.said {
		l.releaseRead = true
	}
}

// reading comes before a read of the judge. With the first that is not of ticks now is settled, and what a reboot
// makes unknown is so from there on.
func (s *sim) reading(name string) {
	if name == "ticks" || s.at > 0 {
		return
	}
	if s.at = s.read; !s.resume || s.resumed || !s.fresh {
		return
	}
	s.resumed = true
	for _, l := range s.leases {
		l.gap = max(l.gap, s.read)
	}
}

// answered is what a read of the judge came to.
func (s *sim) answered(name string, state stream.State) {
	s.last[name] = int(state)
	if state != stream.Gap {
		return
	}
	s.say("the judge sees a gap on %s", name)
	for _, l := range s.leases {
		if name != grantor && name != "ticks" && name != "policy" && s.marks(name, l) {
			l.gap = max(l.gap, s.read)
		}
	}
}

func drained(state int) bool {
	return stream.State(state) == stream.Blocked || stream.State(state) == stream.End
}

// stillThere says that a line can still be read.
func (s *sim) stillThere(x *said) bool {
	mark := fmt.Appendf(nil, `"n":%d,`, x.n)
	for _, line := range s.lines(x.medium) {
		if bytes.Contains(line, mark) {
			return true
		}
	}
	return false
}

func numberAfter(text []byte, key string) (int, bool) {
	_, rest, found := bytes.Cut(text, []byte(key))
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(string(rest[:end]))
	return n, found && err == nil
}
