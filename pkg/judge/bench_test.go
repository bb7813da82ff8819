package judge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// million is how many leases the large benchmarks have. Figures a lease and ratios are nearly the same with fewer.
func million(b *testing.B) int {
	if testing.Short() {
		return 100_000
	}
	return 1_000_000
}

// filed is a world whose ledger, and holder's medium, are files.
type filed struct {
	*world
	dir    string
	facts  *stream.File // of holder a, whose leases are all but those that Populate gives to others
	ledger *stream.File
	grants *stream.File // the grantor's stream; nil: in memory
}

func openFile(b testing.TB, path string, o stream.FileOptions) *stream.File {
	b.Helper()
	m, err := stream.OpenFile(path, o)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// newFiled has so many live leases of one holder, and nothing to read. A budget of 0 is the usual one.
func newFiled(b *testing.B, leases, budget int) *filed {
	w := &filed{world: newWorld(b), dir: b.TempDir()}
	w.facts = openFile(b, filepath.Join(w.dir, "facts.jsonl"), stream.FileOptions{})
	w.ledger = openFile(b, filepath.Join(w.dir, "ledger.jsonl"), stream.FileOptions{})
	w.cfg.Cadence, w.cfg.DrainBudget = ms(1<<30), budget
	w.begin(b)
	judge.Populate(w.judge, leases, func(int) string { return "a" })
	w.okAt(1)
	return w
}

func (w *filed) begin(b testing.TB) {
	cfg := w.config()
	cfg.Ledger, cfg.Retention = w.ledger, 1<<40
	cfg.Media.Add("a", w.facts)
	if w.grants != nil {
		cfg.Facts = w.grants
	}
	j, err := judge.New(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	w.judge = j
}

// renewals appends a renewal of each of these leases to the file, past its lock, and answers how long wc takes to
// count the lines.
func (w *filed) renewals(b *testing.B, from, to int) (wc time.Duration) {
	var text []byte
	for i := from; i < to; i++ {
		f, err := lease.NewRenewal(fmt.Sprint("lease-", i))
		if err != nil {
			b.Fatal(err)
		}
		text = append(append(text, f.Encode()...), '\n')
	}
	path := filepath.Join(b.TempDir(), "lines")
	for _, name := range []string{path, w.facts.Path()} {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := file.Write(text); err != nil {
			b.Fatal(err)
		}
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	if err := exec.Command("wc", "-l", path).Run(); err != nil {
		b.Skip(err)
	}
	return time.Since(began)
}

// BenchmarkDrain reads a renewal of each lease from one file into a ledger on disk, beside wc -l of the same lines.
func BenchmarkDrain(b *testing.B) {
	leases := million(b)
	w := newFiled(b, leases, 0)
	var wc time.Duration
	at, renewed := int64(2), 0
	for b.Loop() {
		b.StopTimer()
		wc += w.renewals(b, 0, leases)
		runtime.GC()
		b.StartTimer()
		for sum := 0; sum < leases; at++ {
			w.tick(at)
			r := w.pass()
			if r.Outcome != judge.OK || len(r.Renewed) == 0 {
				b.Fatalf("%s %s: %d renewed", r.Outcome, r.Abort, len(r.Renewed))
			}
			sum += len(r.Renewed)
			renewed += len(r.Renewed)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(renewed), "ns/renewal")
	b.ReportMetric(float64(b.Elapsed())/float64(wc), "x-wc")
}

// BenchmarkMemory reports what a live lease costs, and how long a collection takes.
func BenchmarkMemory(b *testing.B) {
	leases := million(b)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := populated(b, leases)
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		runtime.GC()
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(leases), "B/lease")
	runtime.KeepAlive(w)
}

// BenchmarkRenewedAndDue is a pass over many live leases of which a tenth was renewed and 100 are due, with
// procedures that do nothing, beside a walk over all leases.
func BenchmarkRenewedAndDue(b *testing.B) {
	leases := million(b)
	w := newFiled(b, leases, leases)
	const due = 100
	at := int64(2)
	for b.Loop() {
		b.StopTimer()
		w.renewals(b, 0, leases/10)
		for i := range due {
			w.grant(fmt.Sprint("short-", at, "-", i), fmt.Sprint("/short/", i), "b", 1, fmt.Sprintf(`"daolease/token":%d`, int64(leases)+at*due+int64(i)))
		}
		w.tick(at)
		w.pass()
		w.renewals(b, leases/10, leases/5)
		w.tick(at + 5)
		runtime.GC()
		b.StartTimer()
		r := w.pass()
		if r.Outcome != judge.OK || len(r.Renewed) != leases/10 || len(r.Lapsed) != due {
			b.Fatalf("%s %s: %d renewed, %d lapsed", r.Outcome, r.Abort, len(r.Renewed), len(r.Lapsed))
		}
		at += 10
	}
}

// BenchmarkRecovery begins a judge on a ledger file, beside reading and decoding the file with encoding/json.
func BenchmarkRecovery(b *testing.B) {
	leases := million(b)
	w := newFiled(b, leases, 0)
	if _, err := w.ledger.Rewrite(b.Context(), "", stream.ValuesOf(judge.Snapshot(w.judge)...)); err != nil {
		b.Fatal(err)
	}
	w.judge = nil
	var plain time.Duration
	for b.Loop() {
		b.StopTimer()
		plain += decodeAll(b, w.ledger.Path())
		runtime.GC()
		b.StartTimer()
		w.begin(b)
		b.StopTimer()
		if n := len(w.judge.Subjects()); n != leases {
			b.Fatalf("%d leases", n)
		}
		w.judge = nil
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(plain), "x-json")
}

// decodeAll is what reading a ledger costs at least: encoding/json, one line after the other.
func decodeAll(b *testing.B, path string) time.Duration {
	began := time.Now()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var group struct {
			Granted []judge.Entry `json:"granted"`
		}
		if err := json.Unmarshal(line, &group); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// BenchmarkCompaction replaces a ledger by a snapshot of all leases, beside writing as many bytes to a file and
// syncing it.
func BenchmarkCompaction(b *testing.B) {
	leases := million(b)
	w := newFiled(b, leases, 0)
	var plain time.Duration
	for b.Loop() {
		if err := judge.Compact(b.Context(), w.judge); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		plain += writeSynced(b, w.ledger.Path())
		runtime.GC()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(plain), "x-write")
}

// writeSynced is how long the system takes to write a copy of a file to disk.
func writeSynced(b *testing.B, path string) time.Duration {
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	copied, err := os.Create(filepath.Join(b.TempDir(), "copy"))
	if err != nil {
		b.Fatal(err)
	}
	defer copied.Close()
	began := time.Now()
	if _, err := copied.Write(text); err != nil {
		b.Fatal(err)
	}
	if err := copied.Sync(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// instant takes everything back at once.
type instant struct{}

func (instant) Reclaim(context.Context, judge.Task) (judge.Progress, error) { return judge.Done, nil }

// BenchmarkMassLapse has 10,000 leases fall due at once, with a procedure in this process, each recorded.
func BenchmarkMassLapse(b *testing.B) {
	const due = 10_000
	w := &filed{world: newWorld(b), dir: b.TempDir()}
	w.facts = openFile(b, filepath.Join(w.dir, "facts.jsonl"), stream.FileOptions{})
	w.ledger = openFile(b, filepath.Join(w.dir, "ledger.jsonl"), stream.FileOptions{})
	w.grants = openFile(b, filepath.Join(w.dir, "grantor.jsonl"), stream.FileOptions{})
	w.cfg.Cadence, w.cfg.Reclaimer = ms(1<<30), instant{}
	w.begin(b)
	at := int64(1)
	for b.Loop() {
		b.StopTimer()
		var lines [][]byte
		for i := range due {
			f, err := lease.NewGrant(lease.DefaultUnits(), lease.GrantTerms{
				Lease: fmt.Sprint("L-", at, "-", i), Subject: lease.StringSubject(fmt.Sprint("/s/", i)), Holder: "b",
				Duration: ms(1), Token: at*due + int64(i),
			})
			if err != nil {
				b.Fatal(err)
			}
			lines = append(lines, f.Encode())
		}
		if _, err := w.grants.Append(b.Context(), stream.How{}, lines...); err != nil {
			b.Fatal(err)
		}
		w.tick(at)
		w.pass()
		w.tick(at + 5)
		b.StartTimer()
		if r := w.pass(); r.Outcome != judge.OK || len(r.Lapsed) != due {
			b.Fatalf("%s %s: %d lapsed", r.Outcome, r.Abort, len(r.Lapsed))
		}
		at += 10
	}
	b.ReportMetric(float64(b.N*due)/b.Elapsed().Seconds(), "lapses/s")
}

// BenchmarkRenewals takes renewals from an append into the ledger on disk: an append each, as 1,000 holders' commands
// make them, and 64 an append, as the holder of many leases does.
func BenchmarkRenewals(b *testing.B) {
	for _, each := range []int{1, 64} {
		b.Run(fmt.Sprint(each), func(b *testing.B) { benchmarkRenewals(b, each) })
	}
}

func benchmarkRenewals(b *testing.B, each int) {
	leases := 1000 * each
	w := newFiled(b, leases, 0)
	f := make([][]byte, leases)
	for i := range f {
		fact, err := lease.NewRenewal(fmt.Sprint("lease-", i))
		if err != nil {
			b.Fatal(err)
		}
		f[i] = fact.Encode()
	}
	at := int64(2)
	for b.Loop() {
		for lines := range slices.Chunk(f, each) {
			if _, err := w.facts.Append(b.Context(), stream.How{}, lines...); err != nil {
				b.Fatal(err)
			}
		}
		w.tick(at)
		if r := w.pass(); len(r.Renewed) != leases {
			b.Fatalf("%s %s: %d renewed", r.Outcome, r.Abort, len(r.Renewed))
		}
		at++
	}
	b.ReportMetric(float64(b.N*leases)/b.Elapsed().Seconds(), "renewals/s")
}

// BenchmarkPassManyMedia looks at each of 1,000 holders' files, of which none, or a twentieth, have a renewal.
func BenchmarkPassManyMedia(b *testing.B) {
	const media = 1000
	for _, renewed := range []int{0, media / 20, media} {
		b.Run(fmt.Sprint(renewed, "-renewed"), func(b *testing.B) {
			w := &filed{world: newWorld(b), dir: b.TempDir()}
			w.ledger = openFile(b, filepath.Join(w.dir, "ledger.jsonl"), stream.FileOptions{})
			w.facts = openFile(b, filepath.Join(w.dir, "a.jsonl"), stream.FileOptions{})
			w.cfg.Cadence = ms(1 << 30)
			w.begin(b)
			files := make([]*stream.File, media)
			for i := range files {
				files[i] = openFile(b, filepath.Join(w.dir, fmt.Sprint("h", i, ".jsonl")), stream.FileOptions{})
				if _, err := files[i].Append(b.Context(), stream.How{}, []byte("{}")); err != nil {
					b.Fatal(err)
				}
				w.judge.Attach(fmt.Sprint("h", i), files[i])
			}
			judge.Populate(w.judge, media, func(i int) string { return fmt.Sprint("h", i) })
			w.okAt(1)
			at := int64(2)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for k := range renewed {
					i := (int(at)*renewed + k) % media
					f, err := lease.NewRenewal(fmt.Sprint("lease-", i))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := files[i].Append(b.Context(), stream.How{}, f.Encode()); err != nil {
						b.Fatal(err)
					}
				}
				w.tick(at)
				b.StartTimer()
				if r := w.pass(); r.Outcome != judge.OK || len(r.Renewed) != renewed {
					b.Fatalf("%s %s: %d renewed", r.Outcome, r.Abort, len(r.Renewed))
				}
				at++
			}
		})
	}
}
