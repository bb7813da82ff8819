package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// metrics are what one Go benchmark reported, by unit.
type metrics map[string]float64

// gobench runs benchmarks of a package and answers what each reported, by name without the number of cores.
func (b *bench) gobench(pkg, pattern, times string) (map[string]metrics, error) {
	args := []string{"test", "./pkg/" + pkg, "-run", "^$", "-bench", pattern, "-benchtime", times, "-timeout", "1h"}
	if !b.full {
		args = append(args, "-short")
	}
	cmd := exec.CommandContext(b.ctx, "go", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	found := map[string]metrics{}
	for line := range strings.Lines(out.String()) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i]
		}
		m := metrics{}
		for i := 2; i+1 < len(words); i += 2 {
			if n, err := strconv.ParseFloat(words[i], 64); err == nil {
				m[words[i+1]] = n
			}
		}
		found[name] = m
	}
	return found, nil
}

// ns shows nanoseconds.
func ns(n float64) string {
	switch d := time.Duration(n); {
	case n < 1000:
		return fmt.Sprintf("%.0f ns", n)
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", n/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", n/1e6)
	}
	return fmt.Sprintf("%.2f s", n/1e9)
}

func times(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }

// inside are the rows that Go benchmarks measure.
func (b *bench) inside() error {
	leases, rounds, passes := "100,000", "1x", "200x"
	if b.full {
		leases, rounds, passes = "1,000,000", "3x", "2000x"
	}
	found, err := b.gobench("lease", "^BenchmarkRenewal$", "200000x")
	if err != nil {
		return err
	}
	scan, decode := found["Renewal/scan"]["ns/op"], found["Renewal/decode"]
	b.row("decode one renewal", fmt.Sprintf("%s, %.0f allocations", ns(decode["ns/op"]), decode["allocs/op"]),
		"looking at each of its bytes: "+ns(scan), times(decode["ns/op"]/scan))

	if err := b.decoding(); err != nil {
		return err
	}
	if err := b.appending(); err != nil {
		return err
	}

	if found, err = b.gobench("judge", "^Benchmark(Drain|RenewedAndDue|Memory|Recovery|Compaction)$", rounds); err != nil {
		return err
	}
	b.row("drain "+leases+" renewals, journal written", ns(found["Drain"]["ns/renewal"])+" each", "wc -l of the same file",
		times(found["Drain"]["x-wc"]))
	b.row("a pass over "+leases+" leases, a tenth renewed, 100 due", ns(found["RenewedAndDue"]["ns/op"]), "", "")
	b.row("memory of a live lease", fmt.Sprintf("%.0f bytes", found["Memory"]["B/lease"]), "", "")
	b.row("a forced collection", ns(found["Memory"]["ns/op"]), "", "")
	b.row("recovery of "+leases+" leases", ns(found["Recovery"]["ns/op"]), "encoding/json decoding the ledger",
		times(found["Recovery"]["x-json"]))
	b.row("a snapshot of "+leases+" leases in place of the ledger", ns(found["Compaction"]["ns/op"]), "writing and syncing as many bytes",
		times(found["Compaction"]["x-write"]))

	if found, err = b.gobench("judge", "^BenchmarkPassNothingDue$", passes); err != nil {
		return err
	}
	few := found["PassNothingDue/1000"]["ns/op"]
	for _, n := range []string{"1000", "100000", "1000000"} {
		if m := found["PassNothingDue/"+n]; m != nil {
			b.row("a pass, nothing due, "+n+" live", ns(m["ns/op"]), "the same with 1000: "+ns(few), times(m["ns/op"]/few))
		}
	}
	if found, err = b.gobench("hooks", "^BenchmarkProcedures$", rounds); err != nil {
		return err
	}
	b.row("sh procedures, two at a time", fmt.Sprintf("%.0f a second", found["Procedures"]["procedures/s"]), "bare spawning",
		times(found["Procedures"]["x-spawn"]))
	return nil
}

// decoding are the rows about lines that are no plain renewals.
func (b *bench) decoding() error {
	found, err := b.gobench("lease", "^BenchmarkDecode(JSON)?$/^(mixed|hostile)$", "2000x")
	if err != nil {
		return err
	}
	for _, kind := range []struct{ name, what string }{{"mixed", "decode a fact, all kinds in turn"}, {"hostile", "decode a line nested 1,000 deep"}} {
		own, plain := found["Decode/"+kind.name]["ns/op"], found["DecodeJSON/"+kind.name]["ns/op"]
		b.row(kind.what, ns(own), "encoding/json, into a map: "+ns(plain), times(own/plain))
	}
	return nil
}

// appending are the rows about one line appended under the lock of its medium.
func (b *bench) appending() error {
	found, err := b.gobench("stream", "^Benchmark(Append|AppendSync|Write)$", "500x")
	if err != nil {
		return err
	}
	for _, kind := range []struct{ own, bare, what string }{{"Append", "plain", "append a line"}, {"AppendSync", "sync", "append a line, synced"}} {
		own, bare := found[kind.own]["ns/op"], found["Write/"+kind.bare]["ns/op"]
		b.row(kind.what, ns(own), "the same to an open file, without a lock: "+ns(bare), times(own/bare))
	}
	return nil
}
