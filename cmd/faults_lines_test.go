package cmd_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// damages are lines that are no facts, and say so.
func damages() []string {
	const renewal = `"dao.lease/event":"dao.lease/renewal"`
	return []string{
		`{` + renewal + `,"dao.lease/lease":"x"`,
		`no JSON`,
		`{` + renewal + `,"dao.lease/lease":"x"} {}`,
		`{` + renewal + `,"dao.lease/lease":"x","a":1,"a":2}`,
		`{` + renewal + `,"dao.lease/lease":"x","a":{"b":[{"c":1,"c":1}]}}`,
		"{" + renewal + `,"dao.lease/lease":"` + "\xff" + `"}`,
		`{` + renewal + `,"dao.lease/lease":"x","a":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + `}`,
		"{" + renewal + `,"dao.lease/le` + "\x00",
		strings.Repeat("\x00", 100),
		`{` + renewal + `}`,
		`{` + renewal + `,"dao.lease/lease":""}`,
		`{` + renewal + `,"dao.lease/lease":7}`,
		`{` + renewal + `,"dao.lease/lease":null}`,
		`{` + renewal + `,"dao.lease/lease":"x","dao.lease/duration":{"fortnight":1}}`,
		`{` + renewal + `,"dao.lease/lease":"x","dao.lease/duration":{"s":1.5}}`,
		`{"dao.lease/event":"dao.lease/unheard","dao.lease/lease":"x"}`,
		`{` + renewal + `,"dao.lease/status":"dao.lease/released","dao.lease/lease":"x"}`,
		`{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"x","dao.lease/cause":"whim"}`,
	}
}

// silent are lines that are no facts and no damage either.
func silent() []string { return []string{"", "[1]", "7", `{"a":1}`, "  "} }

// written is a file of generated lines: how many facts it has, and where its damage is.
type written struct {
	facts  int
	damage map[stream.Position]bool
}

// writeLines writes a file as many hands would have written it: facts, of a hundred one damaged, some that say
// nothing, and a few lines beyond every bound.
func writeLines(t *testing.T, path string, lines int) written {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out, random := bufio.NewWriter(f), rand.New(rand.NewPCG(7, 0))
	w, at := written{damage: map[stream.Position]bool{}}, stream.Position(0)
	bad, quiet := damages(), silent()
	for n := range lines {
		text := ""
		switch {
		case n%(lines/5) == 1:
			text = strings.Repeat("x", 1<<20+1+random.IntN(1<<20))
			w.damage[at] = true
		case n%100 == 50:
			text = bad[n/100%len(bad)]
			w.damage[at] = true
		case n%100 == 75:
			text = quiet[n/100%len(quiet)]
		default:
			text = fmt.Sprintf(`{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"%d"%s}`, w.facts, strings.Repeat(" ", random.IntN(50)))
			w.facts++
		}
		_, _ = out.WriteString(text + "\n") // the flush tells
		at += stream.Position(len(text)) + 1
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFaultDamagedLines reads a million lines of which one in a hundred is damaged: each fact once and in order,
// each damage by its position, whatever the budgets of the reads.
func TestFaultDamagedLines(t *testing.T) {
	t.Parallel()
	lines := 1_000_000
	if testing.Short() {
		lines = 100_000
	}
	path := filepath.Join(t.TempDir(), "facts.jsonl")
	want := writeLines(t, path, lines)
	medium, err := stream.OpenFile(path, stream.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cursor, err := medium.Mint(t.Context(), stream.Oldest)
	if err != nil {
		t.Fatal(err)
	}
	facts, named, units, random := 0, 0, lease.DefaultUnits(), rand.New(rand.NewPCG(8, 0))
	for state := stream.OK; state != stream.Blocked; {
		budget := stream.Budget{Values: 1 + random.IntN(5000), Bytes: 1 + random.Int64N(1<<20)}
		answer := medium.Read(t.Context(), cursor, budget, func(v stream.Value) bool {
			fact, err := lease.Decode(v.Bytes, units)
			switch {
			case v.Damage == "" && errors.Is(err, lease.ErrNoFact):
			case v.Damage != "" || err != nil:
				if !want.damage[v.Position] {
					t.Errorf("position %v is no damage: %s, %v", v.Position, v.Damage, err)
				}
				delete(want.damage, v.Position)
				named++
			case fact.Lease != fmt.Sprint(facts):
				t.Errorf("at %v fact %s is read where %d should be", v.Position, fact.Lease, facts)
				return false
			default:
				facts++
			}
			return true
		})
		if state, cursor = answer.State, answer.Cursor; state != stream.OK && state != stream.Blocked || t.Failed() {
			t.Fatalf("%v: %v", state, answer.Err)
		}
	}
	if facts != want.facts || len(want.damage) != 0 {
		t.Errorf("%d facts of %d; %d damaged lines were named, %d not", facts, want.facts, named, len(want.damage))
	}
}

// TestFaultDamagedLinesInTheLog has the command tell of such a file: each fact once and in order, each damage by its
// position.
func TestFaultDamagedLinesInTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quick+"retention: {holders: complete}\nsubjects: [{match: \"*\", reclaim: none}]\n", nil)
	w.must(os.MkdirAll(w.path("holders/alice"), 0o755))
	lines := 200_000
	if testing.Short() {
		lines = 50_000
	}
	want := writeLines(t, w.path("holders/alice/facts.jsonl"), lines)
	w.must(os.Chmod(w.path("holders/alice/facts.jsonl"), 0o644))
	cmd := w.cmd("log", "--medium", "alice", "-o", "jsonl")
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	facts, told := 0, bufio.NewScanner(out)
	told.Buffer(nil, 8<<20)
	for told.Scan() {
		var l struct {
			Position *stream.Position `json:"position"`
			Kind     string           `json:"kind"`
			Brief    string           `json:"brief"`
			Verdict  string           `json:"verdict"`
		}
		w.must(json.Unmarshal(told.Bytes(), &l))
		switch l.Verdict {
		case "undecodable", "defective", "damaged":
			if l.Position == nil || !want.damage[*l.Position] {
				t.Errorf("no damage is there: %s", told.Text())
				continue
			}
			delete(want.damage, *l.Position)
		default:
			if l.Kind != "renewal" || l.Brief != fmt.Sprint(facts) {
				t.Fatalf("fact %d should be here: %s", facts, told.Text())
			}
			facts++
		}
	}
	w.must(errors.Join(told.Err(), w.wait(cmd)))
	if facts != want.facts || len(want.damage) != 0 {
		t.Errorf("%d facts of %d; %d damaged lines were not named", facts, want.facts, len(want.damage))
	}
}
