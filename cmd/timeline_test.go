package cmd

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// storied is a run with all four causes, a window of unknown evidence, and a lease that stays pending.
func storied(t *testing.T) *fakeWorld {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh to fail with")
	}
	w := newFakeWorld(t)
	writeFile(t, filepath.Join(w.dir(), "hooks", "take"), "#!/bin/sh\nexit 1\n", 0o755)
	w.composition(t, "ticks: external\ncadence: 1s\ntolerance: 0s\nsubjects:\n  - match: stuck\n    reclaim: [hooks/take]\n  - match: \"*\"\n    reclaim: none\n")
	for second := 1; second <= 101; second++ {
		switch second {
		case 1:
			appendTo(t, w.grantorFacts(), writtenGrant("LA", "silent", "alice", ""), writtenGrant("LB", "capped", "bob", `,"dao.lease/max":{"s":20}`),
				writtenGrant("LC", "given", "carol", ""), writtenGrant("LD", "taken", "dave", ""), writtenGrant("LE", "stuck", "erin", ""), writtenGrant("LF", "<b>&\u202e", "frank", ""))
		case 11:
			for name, id := range map[string]string{"alice": "LA", "bob": "LB", "frank": "LF"} {
				appendTo(t, w.factsOf(name), renewalOf(id))
			}
		case 16:
			appendTo(t, w.factsOf("carol"), releaseOf("LC"))
			w.must(t, 0, "revoke LD --reason because")
		case 26:
			chmodTo(t, w.factsOf("alice"), 0o666)
		case 61:
			appendTo(t, w.grantorFacts(), writtenGrant("LG", "given", "gina", ""))
		}
		if second%25 == 11 || second > 61 && second%25 == 0 {
			appendTo(t, w.factsOf("frank"), renewalOf("LF"))
		}
		w.must(t, 0, fmt.Sprintf("tick %ds", second))
		if code, _, errs := w.run("judge", "--once"); code != 0 && code != exitNotReclaimed {
			t.Fatal(errs)
		}
	}
	return w
}

func TestTimelineInATerminal(t *testing.T) {
	w := storied(t)
	for _, width := range []int{60, 80, 160, 20} {
		w.Size = func() (int, int) { return width, 24 }
		out, _ := w.must(t, 0, "timeline")
		for line := range strings.Lines(out) {
			if n := cellWidth(strings.TrimRight(line, "\n")); n > max(width, leastWidth) {
				t.Errorf("at %d columns a line has %d: %q", width, n, line)
			}
		}
	}
	w.Size = func() (int, int) { return 200, 24 }
	out, _ := w.must(t, 0, "timeline")
	contains(t, out, "readings 1s to 1min41s, 7 leases, from the judge's ledger, which goes back to its beginning")
	out, _ = w.must(t, 0, "timeline --subject given --since 45s")
	if strings.Contains(out, "carol") || !strings.Contains(out, "gina") || strings.Contains(out, "alice") {
		t.Errorf("the last 45s of given:\n%s", out)
	}
	w.OutIsTerminal, w.env["TERM"] = true, "xterm"
	coloured, _ := w.must(t, 0, "timeline")
	contains(t, coloured, "\x1b[1;31mS\x1b[0m")
	w.env["NO_COLOR"] = "1"
	if plain, _ := w.must(t, 0, "timeline"); strings.Contains(plain, "\x1b") {
		t.Errorf("colours although NO_COLOR is set: %q", plain)
	}
}

// Every row of the terminal form is where its readings are, to the column.
func TestTimelineColumns(t *testing.T) {
	w := storied(t)
	w.Size = func() (int, int) { return 101 + 4 + len(`<b>&\u202e`) + len("frank"), 24 }
	out, _ := w.must(t, 0, "timeline")
	want := map[string]string{
		"bob":   "[---------|----------C",
		"carol": "[--------------R",
		"gina":  strings.Repeat(" ", 60) + "[" + strings.Repeat("-", 30) + "S",
		"alice": "[---------|--------------" + strings.Repeat("?", 31) + "S",
		"erin":  "[" + strings.Repeat("-", 30) + strings.Repeat("~", 69) + ">",
		"dave":  "[--------------P",
	}
	got := map[string]string{}
	for line := range strings.Lines(out) {
		for name := range want {
			if before, after, found := strings.Cut(strings.TrimRight(line, "\n"), name); found && len(before) == len(`<b>&\u202e`)+2 {
				got[name] = after[len("frank")+2-len(name):]
			}
		}
	}
	for name, row := range want {
		if got[name] != row {
			t.Errorf("%s is drawn\n%q, want\n%q", name, got[name], row)
		}
	}
}

// The picture is sound XML that needs nothing from elsewhere, and nobody's name can put anything into it.
func TestTimelineAsAPicture(t *testing.T) {
	w := storied(t)
	path := filepath.Join(w.dir(), "leases.svg")
	w.must(t, 0, "timeline --svg leases.svg")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen, classes := map[string]int{}, map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok {
			seen[e.Name.Local]++
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					classes[a.Value]++
				}
				if strings.Contains(a.Value, "//") && a.Name.Local != "xmlns" {
					t.Errorf("%s of %s is %q", a.Name.Local, e.Name.Local, a.Value)
				}
			}
		}
	}
	if seen["b"]+seen["script"]+seen["image"] > 0 || strings.Contains(string(text), "\u202e") {
		t.Errorf("a name came through: %v", seen)
	}
	for class, n := range map[string]int{"live": 8, "unknown": 2, "pending": 7, "end silence": 3, "end cap": 2, "end policy": 2, "end release": 2} {
		if classes[class] != n { // one of each is the legend's
			t.Errorf("%d of class %q, want %d", classes[class], class, n)
		}
	}
	out, _ := w.must(t, 0, "timeline --svg -")
	if strings.TrimSpace(string(text)) != out {
		t.Error("stdout and the file differ")
	}
	if now := treeOf(t, filepath.Join(w.dir(), "grantor")); !strings.Contains(now, "ledger") {
		t.Error("the ledger is gone")
	}
}

func TestTimelineOfNothing(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	_, errs := w.must(t, 0, "timeline")
	contains(t, errs, "tells of no lease")
}

// However narrow the terminal and whatever the stretch, the axis names at least two readings and what time it was.
func TestTimelineHasAnAxis(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "/srv/shared/project", "someone@some.host", ""))
	w.must(t, 0, "judge --once")
	for _, ms := range []int64{700, 5100, 11_000, 700_000} {
		w.clock.run(ms)
		appendTo(t, w.factsOf("someone@some.host"), renewalOf("L1"))
		w.must(t, 0, "judge --once")
		for _, width := range []int{40, 50, 60, 70, 80, 200} {
			w.Size = func() (int, int) { return width, 24 }
			out, _ := w.must(t, 0, "timeline")
			lines := strings.Split(out, "\n")
			if readings := strings.Fields(lines[2]); !strings.Contains(lines[1], "-+") || len(readings) < 2 {
				t.Errorf("%d ms, at %d columns:\n%s", ms, width, out)
			}
			if width >= 60 && strings.Count(lines[3], "≈ 03:") < 2 {
				t.Errorf("%d ms, no times of day at %d columns:\n%s", ms, width, out)
			}
		}
	}
}
