package judge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
)

// mirror is what a ledger should hold, kept in maps.
type mirror map[string]Entry

func randomEntry(r *rand.Rand) Entry {
	return Entry{
		Lease: fmt.Sprint("lease-", r.IntN(700)), Subject: lease.StringSubject(fmt.Sprint("/srv/", r.IntN(40))),
		Holder: fmt.Sprint("holder-", r.IntN(30)), Proposal: fmt.Sprint("p", r.IntN(200)),
		Duration: lease.Duration{Unit: "s", N: 1 + r.Int64N(50)}, Max: lease.Duration{Unit: "min", N: 1 + r.Int64N(9)},
		Token: 1 + r.Int64N(1<<40), TenureStart: r.Int64N(1000), LastObservation: r.Int64N(1000),
	}
}

// TestSlabHoldsWhatIsPutIn puts leases in and takes them out at random and looks at every way to find them.
func TestSlabHoldsWhatIsPutIn(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		l, want := newLedger(lease.DefaultUnits(), 1000, 0), mirror{}
		for range 3000 {
			x := randomEntry(r)
			switch e := l.find(x.Lease); {
			case e == nil || r.IntN(4) == 0:
				if _, err := l.put(&x); err != nil {
					t.Fatal(err)
				}
				want[x.Lease] = x
			case r.IntN(2) == 0:
				l.take(e)
				delete(want, x.Lease)
			default:
				x = want[x.Lease]
				x.LastObservation += r.Int64N(5000) // readings never decrease
				l.renew(e, x.LastObservation)
				want[x.Lease] = x
			}
			if r.IntN(50) == 0 {
				l.tidy()
				want.compare(t, l)
				want.compareDue(t, l, r.Int64N(60_000))
			}
		}
	}
}

func (m mirror) compare(t *testing.T, l *ledger) {
	t.Helper()
	var ids []string
	byHolder, bySubject := map[string][]string{}, map[string][]string{}
	for _, e := range l.sorted() {
		ids = append(ids, l.idOf(e))
	}
	if sorted := sortedKeys(m); !slices.Equal(ids, sorted) || l.count != len(m) {
		t.Fatalf("%d leases %v, want %v", l.count, ids, sorted)
	}
	for id, x := range m {
		if got := fmt.Sprint(*l.entry(l.findBytes([]byte(id)))); got != fmt.Sprint(x) {
			t.Fatalf("%s, want %v", got, x)
		}
		byHolder[x.Holder] = append(byHolder[x.Holder], id)
		bySubject[x.Subject.Text()] = append(bySubject[x.Subject.Text()], id)
	}
	for name, ids := range byHolder {
		sameLeases(t, name, l, slices.Collect(l.ofHolder(name)), ids)
	}
	for text, ids := range bySubject {
		sameLeases(t, text, l, slices.Collect(l.onSubject(text)), ids)
	}
	if l.byHolder.used != len(byHolder) || l.bySubject.used != len(bySubject) || l.byLease.used != len(m) {
		t.Fatalf("%d holders, %d subjects", l.byHolder.used, l.bySubject.used)
	}
}

func sameLeases(t *testing.T, of string, l *ledger, got []*live, want []string) {
	t.Helper()
	ids := make([]string, len(got))
	for i, e := range got {
		ids[i] = l.idOf(e)
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Fatalf("%s has %v, want %v", of, ids, want)
	}
}

// compareDue holds the blocks' bounds against a walk over all leases.
func (m mirror) compareDue(t *testing.T, l *ledger, now int64) {
	t.Helper()
	least, due := int64(never), map[string]bool{}
	for e := range l.all() {
		least = min(least, l.passes(e))
		if l.passes(e) < now {
			due[l.idOf(e)] = true
		}
	}
	if got := l.firstBound(); got != least {
		t.Fatalf("the first is due after %d, want %d", got, least)
	}
	sameLeases(t, fmt.Sprint("overdue at ", now), l, l.overdue(now), slices.Collect(maps.Keys(due)))
	if got := l.firstBound(); got != least {
		t.Fatalf("the first is due after %d once looked at, want %d", got, least)
	}
}

func TestAnsweringFindsTheLeaseOfAProposal(t *testing.T) {
	l := newLedger(lease.DefaultUnits(), 1000, 0)
	for i, x := range []Entry{{Lease: "A", Holder: "a", Proposal: "p"}, {Lease: "B", Holder: "b", Proposal: "p"}, {Lease: "C", Holder: "a", Proposal: ""}} {
		x.Subject, x.Duration, x.Token = lease.StringSubject("/s"), lease.Duration{Unit: "s", N: 1}, int64(i+1)
		if _, err := l.put(&x); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a": "A", "b": "B"} {
		if e := l.answering(name, "p"); e == nil || l.idOf(e) != want {
			t.Fatalf("proposal p of %s is answered by %v, want %s", name, e, want)
		}
	}
	l.take(l.find("A"))
	if e := l.answering("a", "p"); e != nil || l.answering("b", "p") == nil {
		t.Fatalf("still answered by %v", e)
	}
}

// TestHeardFindsWhatFindDoes hears of leases in order, in another, and while they come and go.
func TestHeardFindsWhatFindDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	l := newLedger(lease.DefaultUnits(), 1000, 0)
	if l.heard([]byte("lease-1")) != nil {
		t.Fatal("heard of a lease where there is none")
	}
	order := r.Perm(700)
	for round := range 20 {
		for range 100 {
			if x := randomEntry(r); l.find(x.Lease) != nil {
				l.take(l.find(x.Lease))
			} else if _, err := l.put(&x); err != nil {
				t.Fatal(err)
			}
			if r.IntN(10) == 0 {
				l.tidy()
			}
		}
		if round%5 == 0 {
			order = r.Perm(700)
		}
		for _, n := range order {
			id := fmt.Sprint("lease-", n)
			if got, want := l.heard([]byte(id)), l.find(id); got != want {
				t.Fatalf("round %d: heard of %v, want %v", round, got, want)
			}
		}
	}
}

// TestTextsOfLeasesThatHaveLeftAreGivenBack lets many leases come and go.
func TestTextsOfLeasesThatHaveLeftAreGivenBack(t *testing.T) {
	l := newLedger(lease.DefaultUnits(), 1000, 0)
	x := Entry{Subject: lease.StringSubject("/s"), Holder: "a", Duration: lease.Duration{Unit: "s", N: 1}, Token: 1}
	x.Lease = "stays"
	if _, err := l.put(&x); err != nil {
		t.Fatal(err)
	}
	kept := l.idOf(l.find("stays"))
	for i := range 100_000 {
		x.Lease = fmt.Sprint("goes-", i)
		e, err := l.put(&x)
		if err != nil {
			t.Fatal(err)
		}
		l.take(e)
		l.tidy()
	}
	if len(l.blocks) != 1 || len(l.texts.chunks) > 4 || l.texts.size > 4*chunkSize {
		t.Fatalf("%d blocks, %d chunks, %d bytes for one lease", len(l.blocks), len(l.texts.chunks), l.texts.size)
	}
	if e := l.find("stays"); e == nil || kept != "stays" || l.subjectText(e) != "/s" {
		t.Fatalf("lost %v, %q", e, kept)
	}
}
