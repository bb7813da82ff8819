package judge_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/daolease/daolease/pkg/judge"
)

// recordedLedger is a composition whose ledger is a real file: two incarnations, leases that were granted,
// renewed, given back, that fail to be taken back, and live. It answers the file's bytes.
func recordedLedger(t testing.TB) (*world, []byte) {
	w := newWorld(t, "a", "b")
	w.cfg.Rules, w.cfg.Expected = freely(), false
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	begin := func() {
		if err := w.beginOn(path); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	w.propose("a", "p1", "/one")
	w.propose("b", "p2", "/two")
	w.okAt(1)
	w.renew("a", "L1")
	w.release("b", "L2")
	w.okAt(10)
	begin()
	w.hooks.do = failing
	w.propose("b", "p3", "/three")
	w.write("policy", `{"daolease/revoke":"L1","daolease/reason":"the end"}`)
	w.okAt(20)
	w.okAt(30)
	w.hooks.do = nil
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return w, text
}

// damaged is one way in which a ledger was found.
type damaged struct {
	w    *world
	text []byte // of the whole ledger
	path string
}

// begins starts a judge on these bytes; the media are those of the whole life, as after a loss.
func (d *damaged) begins(text []byte) error {
	if err := os.WriteFile(d.path, text, 0o600); err != nil {
		d.w.t.Fatal(err)
	}
	return d.w.beginOn(d.path)
}

// newDamaged records a ledger, and answers the numbers of bytes after which its groups end.
func newDamaged(t *testing.T) (d *damaged, lengths []int) {
	w, text := recordedLedger(t)
	d = &damaged{w: w, text: text, path: filepath.Join(t.TempDir(), "ledger.jsonl")}
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if _, last := judge.LastOfGroup(bytes.TrimSuffix(line, []byte("\n"))); last {
			lengths = append(lengths, at)
		}
	}
	if len(lengths) < 8 || lengths[len(lengths)-1] != len(text) {
		t.Fatalf("a ledger of %d bytes with groups that end at %v", len(text), lengths)
	}
	return d, lengths
}

// known is what a judge knows that begins on a ledger of so many bytes, which are whole groups.
func (d *damaged) known(length int) string {
	d.w.t.Helper()
	d.w.cfg.Reached = 0
	if err := d.begins(d.text[:length]); err != nil {
		d.w.t.Fatal(err)
	}
	return withoutHead(judge.Dump(d.w.judge))
}

// A ledger that ends within a group is recovered to the group before; one that ends between two groups is what
// a kill there leaves, unless an incarnation that has begun is missing; one without any group is lost.
func TestLedgerCutAtEveryByte(t *testing.T) {
	d, lengths := newDamaged(t)
	states := map[int]string{}
	for _, n := range lengths {
		states[n] = d.known(n)
	}
	for cut := range len(d.text) {
		d.w.cfg.Expected, d.w.cfg.Reached = true, 2
		err := d.begins(d.text[:cut])
		i, between := slices.BinarySearch(lengths, cut)
		if !between {
			i--
		}
		if i < 0 {
			if !errors.Is(err, judge.ErrLost) {
				t.Fatalf("cut at %d, before any group: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := judge.Recovered
		if between && d.reached(lengths[i]) == 2 {
			want = judge.Threaded
		}
		if got := d.w.judge.Began(); got != want {
			t.Fatalf("cut at %d, between groups %t: began %v, want %v", cut, between, got, want)
		}
		if got := withoutHead(judge.Dump(d.w.judge)); got != states[lengths[i]] {
			t.Fatalf("cut at %d it knows\n%s\nwant what group %d has\n%s", cut, got, i+1, states[lengths[i]])
		}
	}
}

// reached is the newest incarnation that begins in so many bytes.
func (d *damaged) reached(length int) (n float64) {
	for line := range bytes.Lines(d.text[:length]) {
		if begun, is := judge.GroupOf(bytes.TrimSpace(line))["incarnation"].(float64); is {
			n = max(n, begun)
		}
	}
	return n
}

// Junk in the place of a line, and a line that is gone, are a loss where a group follows that is not the next.
func TestLedgerDamagedAtEveryLine(t *testing.T) {
	d, lengths := newDamaged(t)
	lines := slices.Collect(bytes.Lines(d.text))
	whole, before := d.known(len(d.text)), d.known(lengths[len(lengths)-2])
	for at, line := range lines {
		header := at == 0
		for name, instead := range map[string]string{
			"junk": "junk\n", "nothing": "", "blank": "\n", "nul": string(bytes.Repeat([]byte{0}, len(line)-1)) + "\n",
			"half": string(line[:len(line)/2]) + "\n", "another line": string(lines[len(lines)-1]), "a bit": string(flipped(line)),
		} {
			t.Run(fmt.Sprint(at, " ", name), func(t *testing.T) {
				if at == len(lines)-1 && name == "another line" {
					t.Skip("it is the same")
				}
				d.w.cfg.Expected, d.w.cfg.Reached = true, 2
				err := d.begins(slices.Concat(bytes.Join(lines[:at], nil), []byte(instead), bytes.Join(lines[at+1:], nil)))
				switch {
				case at < len(lines)-1 && !header || header && name == "another line":
					if !errors.Is(err, judge.ErrLost) {
						t.Fatalf("%v", err)
					}
				case err != nil:
					t.Fatal(err)
				case header: // it says nothing that a judge knows
					if got := withoutHead(judge.Dump(d.w.judge)); got != whole {
						t.Fatalf("it knows\n%s\nwant\n%s", got, whole)
					}
				case name != "nothing" && d.w.judge.Began() != judge.Recovered:
					t.Fatalf("began %v", d.w.judge.Began())
				default:
					if got := withoutHead(judge.Dump(d.w.judge)); got != before {
						t.Fatalf("it knows\n%s\nwant\n%s", got, before)
					}
				}
			})
		}
	}
}

// flipped is a line with one bit changed in the middle.
func flipped(line []byte) []byte {
	line = bytes.Clone(line)
	line[len(line)/2] ^= 1
	return line
}

func TestLedgerMissingOrEmptyIsLost(t *testing.T) {
	d, _ := newDamaged(t)
	d.w.cfg.Expected, d.w.cfg.Reached = true, 2
	if err := d.w.beginOn(d.path); !errors.Is(err, judge.ErrLost) {
		t.Fatalf("missing: %v", err)
	}
	if err := d.begins(nil); !errors.Is(err, judge.ErrLost) {
		t.Fatalf("empty: %v", err)
	}
}

// A compaction that was stopped has left a beginning of the next file: it is in nobody's way, and the next
// compaction puts its own there.
func TestWhatAStoppedCompactionLeaves(t *testing.T) {
	d, _ := newDamaged(t)
	whole := d.known(len(d.text))
	for cut := 0; cut <= len(d.text); cut += 97 {
		if err := os.WriteFile(d.path+".tmp", d.text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		d.w.cfg.Expected, d.w.cfg.Reached, d.w.cfg.Retention = true, 2, 1
		if err := d.begins(d.text); err != nil {
			t.Fatal(err)
		}
		if got := withoutHead(judge.Dump(d.w.judge)); d.w.judge.Began() != judge.Threaded || got != whole {
			t.Fatalf("%d bytes beside it: began %v, knows\n%s", cut, d.w.judge.Began(), got)
		}
	}
	d.w.hooks.do = failing
	for at := int64(40); ; at += 10 {
		if at > 1000 {
			t.Fatal("it was never compacted")
		}
		d.w.okAt(at)
		if text, err := os.ReadFile(d.path); err != nil {
			t.Fatal(err)
		} else if !bytes.HasPrefix(text, d.text[:len(d.text)/2]) {
			break
		}
	}
	if _, err := os.Lstat(d.path + ".tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the temporary file: %v", err)
	}
	d.w.wantWhole(d.path)
}
