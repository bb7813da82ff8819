package judge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// world is a composition in memory: its media, with a script of faults before each, and its procedures.
type world struct {
	t       testing.TB
	cfg     judge.Config
	media   map[string]*stream.Memory
	scripts map[string]*stream.Script
	holders []string
	hooks   *hooks
	judge   *judge.Judge
	// around, unless nil, wraps a medium once more.
	around func(name string, m stream.Medium) stream.Medium
}

const grantor = "grantor"

// newWorld makes one with these holders, cadence 10 ms and no tolerance. Nothing is started.
func newWorld(t testing.TB, holders ...string) *world {
	w := &world{
		t: t, media: map[string]*stream.Memory{}, scripts: map[string]*stream.Script{},
		holders: holders, hooks: &hooks{},
	}
	for _, name := range append([]string{"ticks", grantor, "policy", "ledger"}, holders...) {
		w.medium(name)
	}
	ids := 0
	w.cfg = judge.Config{
		Grantor: grantor, Cadence: ms(10), Resolver: bySoleMedium{}, Durable: true, Retention: 1 << 30,
		NewID: func() string { ids++; return fmt.Sprint("L", ids) }, Boot: "boot", Place: "here",
	}
	return w
}

func (w *world) medium(name string) *stream.Memory {
	if w.media[name] == nil {
		w.media[name], w.scripts[name] = stream.NewMemory(name), new(stream.Script)
	}
	return w.media[name]
}

// dressed is a medium as the judge gets it.
func (w *world) dressed(name string) stream.Medium {
	m := stream.NewFaulty(w.medium(name), w.scripts[name])
	if w.around != nil {
		return w.around(name, m)
	}
	return m
}

// config is the world's configuration over its media.
func (w *world) config() judge.Config {
	cfg := w.cfg
	cfg.Ticks, cfg.Facts, cfg.Policy = w.dressed("ticks"), w.dressed(grantor), w.dressed("policy")
	cfg.Ledger = w.dressed("ledger").(stream.Rewriter)
	cfg.Media = stream.NewSet(nil)
	for _, name := range w.holders {
		cfg.Media.Add(name, w.dressed(name))
	}
	if cfg.Reclaimer == nil {
		cfg.Reclaimer = w.hooks
	}
	return cfg
}

// begin starts a judge, as after a crash when there was one before.
func (w *world) begin() error {
	var err error
	w.judge, err = judge.New(w.t.Context(), w.config())
	return err
}

func (w *world) start() *world {
	w.t.Helper()
	if err := w.begin(); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *world) tick(reading int64) {
	w.write("ticks", fmt.Sprintf(`{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":%d}}`, reading))
}

func (w *world) write(medium string, lines ...string) {
	for _, line := range lines {
		w.medium(medium).AppendRaw([]byte(line))
	}
}

// grant writes a grant by hand, without a token; more are further members.
func (w *world) grant(id, subject, holder string, duration int64, more ...string) {
	w.write(grantor, fmt.Sprintf(`{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":%q,"dao.lease/subject":%q,"dao.lease/holder":%q,"dao.lease/duration":{"ms":%d}%s}`,
		id, subject, holder, duration, strings.Join(append([]string{""}, more...), ",")))
}

func (w *world) renew(medium, id string) {
	w.write(medium, fmt.Sprintf(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q}`, id))
}

func (w *world) release(medium, id string) {
	w.write(medium, fmt.Sprintf(`{"dao.lease/status":"dao.lease/released","dao.lease/lease":%q}`, id))
}

func (w *world) lapsed(id string) {
	w.write(grantor, fmt.Sprintf(`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":%q,"dao.lease/cause":"release"}`, id))
}

func (w *world) propose(medium, id, subject string, more ...string) {
	w.write(medium, fmt.Sprintf(`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":%q,"dao.lease/subject":%q%s}`,
		id, subject, strings.Join(append([]string{""}, more...), ",")))
}

func (w *world) withdraw(medium, id, subject string) {
	w.propose(medium, id, subject, `"daolease/withdrawn":true`)
}

func (w *world) refuse(proposal, holder string) {
	w.write(grantor, fmt.Sprintf(`{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":%q,"dao.lease/holder":%q}`, proposal, holder))
}

func (w *world) pass() judge.Report {
	w.t.Helper()
	return w.judge.Pass(w.t.Context())
}

// passAt is a pass after a tick.
func (w *world) passAt(reading int64) judge.Report {
	w.t.Helper()
	w.tick(reading)
	return w.pass()
}

// okAt is a pass after a tick that must be ok.
func (w *world) okAt(reading int64) judge.Report {
	w.t.Helper()
	r := w.passAt(reading)
	if r.Outcome != judge.OK {
		w.t.Fatalf("the pass at %d came to %s: %s", reading, r.Outcome, r.Abort)
	}
	return r
}

// facts are those on a medium.
func (w *world) facts(medium string) []lease.Fact {
	w.t.Helper()
	var all []lease.Fact
	for _, line := range w.lines(medium) {
		if f, err := lease.Decode(line, lease.DefaultUnits()); err == nil {
			all = append(all, f)
		}
	}
	return all
}

// of are the facts of one kind on the grantor's stream.
func (w *world) of(kind lease.Kind) []lease.Fact {
	w.t.Helper()
	return slices.DeleteFunc(w.facts(grantor), func(f lease.Fact) bool { return f.Kind != kind })
}

func (w *world) lines(medium string) [][]byte {
	w.t.Helper()
	m := w.medium(medium)
	from, err := m.Mint(w.t.Context(), stream.Oldest)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines [][]byte
	m.Read(context.Background(), from, stream.Budget{}, func(v stream.Value) bool {
		lines = append(lines, bytes.Clone(v.Bytes))
		return true
	})
	return lines
}

// row is one live lease.
func (w *world) row(id string) judge.Row {
	w.t.Helper()
	r, live := w.judge.Row(id)
	if !live {
		w.t.Fatalf("lease %s is not live", id)
	}
	return r
}

func (w *world) live() []string {
	ids := []string{}
	for _, r := range w.judge.Rows() {
		ids = append(ids, r.Lease)
	}
	return ids
}

func (w *world) wantLive(ids ...string) {
	w.t.Helper()
	wantList(w.t, "live", w.live(), ids...)
}

func ms(n int64) lease.Duration { return lease.Duration{Unit: "ms", N: n} }

func wantList(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, append([]string{}, want...)) {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

func leasesOf[T any](list []T, id func(T) string) []string {
	ids := []string{}
	for _, item := range list {
		ids = append(ids, id(item))
	}
	return ids
}

func ended(r judge.Report) []string {
	return leasesOf(r.Lapsed, func(e judge.Ended) string { return e.Lease + " by " + string(e.Cause) })
}

// hooks is a reclaimer that does as it is told, and notes what it was asked.
type hooks struct {
	asked []judge.Task
	do    func(t judge.Task) (judge.Progress, error) // nil: Done
}

func (h *hooks) Reclaim(_ context.Context, t judge.Task) (judge.Progress, error) {
	h.asked = append(h.asked, t)
	if h.do != nil {
		return h.do(t)
	}
	return judge.Done, nil
}

// leases are those it was asked for, in order.
func (h *hooks) leases() []string {
	return leasesOf(h.asked, func(t judge.Task) string { return t.Lease })
}

// failing fails every procedure.
func failing(judge.Task) (judge.Progress, error) { return judge.Failed, errors.New("told to fail") }

// running never ends one.
func running(judge.Task) (judge.Progress, error) { return judge.Running, nil }

// terms are rules with one entry for every subject.
type terms judge.Rule

func (r terms) Rule(lease.Subject) (judge.Rule, bool) { return judge.Rule(r), true }

// freely grants what is asked, up to a second.
func freely() terms { return terms{Name: "all", Answer: true, Duration: ms(100), Longest: ms(1000)} }

func subject(s string) lease.Subject { return lease.StringSubject(s) }
