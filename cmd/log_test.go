package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// logged is what log answers as JSON lines.
func (w *fakeWorld) logged(t *testing.T, args string) []historyLine {
	t.Helper()
	out, _ := w.must(t, 0, strings.TrimSpace("log -o jsonl "+args))
	var lines []historyLine
	for text := range strings.Lines(out) {
		var l historyLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestLogJudgesEveryLine(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	lapsed := `{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"L1","dao.lease/cause":"silence"}`
	refusal := `{"dao.lease/status":"dao.lease/rejected","dao.lease/proposal":"P9","dao.lease/holder":"alice"}`
	lines := []struct{ medium, text, author, kind, verdict, why string }{
		{mediumGrantor, writtenGrant("L1", "build", "alice", `,"daolease/token":5,"dao.lease/proposal":"P1"`), "grantor", "grant", lineCounts, ""},
		{mediumGrantor, writtenGrant("L1", "build", "bob", `,"daolease/token":6`), "grantor", "grant", lineInadmissible, "a repeat: this lease was granted before"},
		{mediumGrantor, writtenGrant("L2", "x", "bob", `,"daolease/token":5`), "grantor", "grant", lineInadmissible, "token 5 is not above 5"},
		{mediumGrantor, writtenGrant("L3", "x", "alice", `,"dao.lease/proposal":"P1"`), "grantor", "grant", lineInadmissible, "a second answer to this proposal"},
		{mediumGrantor, writtenGrant("L4", "x", "bob", `,"dao.lease/proposal":"P1"`), "grantor", "grant", lineCounts, ""},
		{mediumGrantor, refusal, "grantor", "refusal", lineCounts, ""},
		{mediumGrantor, refusal, "grantor", "refusal", lineInadmissible, "a second answer to this proposal"},
		{mediumGrantor, renewalOf("L1"), "grantor", "renewal", lineWrongAuthor, "the grantor wrote it, and a renewal is its holder's to write"},
		{mediumGrantor, lapsed, "grantor", "lapsed", lineCounts, ""},
		{mediumGrantor, lapsed, "grantor", "lapsed", lineInadmissible, "a repeat: this lease was recorded as lapsed before"},
		{mediumGrantor, strings.Replace(lapsed, "L1", "L9", 1), "grantor", "lapsed", lineIgnored, "an unknown lease"},
		{mediumGrantor, `{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":1}}`, "grantor", "tick", lineIgnored, "a tick counts on a tick stream only"},
		{mediumGrantor, `{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":"","dao.lease/cause":"x"}`, "grantor", "defective", lineDefective, "dao.lease/lease: not a non-empty string; dao.lease/cause: none of release"},
		{mediumGrantor, "\x00half", "", "damaged", lineDamaged, "left unfinished"},
		{"alice", proposalFor("P1", "build", ""), "alice", "proposal", lineCounts, ""},
		{"alice", proposalFor("P1", "build", ""), "alice", "proposal", lineIgnored, "a repeat: this was proposed before"},
		{"alice", proposalFor("P1", "build", `,"daolease/withdrawn":true`), "alice", "proposal", lineCounts, ""},
		{"alice", renewalOf("L1"), "alice", "renewal", lineCounts, ""},
		{"alice", renewalOf("L9"), "alice", "renewal", lineIgnored, "an unknown lease"},
		{"alice", releaseOf("L1"), "alice", "release", lineCounts, ""},
		{"alice", releaseOf("L1"), "alice", "release", lineInadmissible, "a repeat: this lease was released before"},
		{"alice", renewalOf("L1"), "alice", "renewal", lineIgnored, "its holder had released the lease before"},
		{"bob", releaseOf("L1"), "bob", "release", lineWrongAuthor, "bob wrote this release, and the lease is alice's"},
		{"bob", renewalOf("L1"), "bob", "renewal", lineWrongAuthor, "bob wrote this renewal, and the lease is alice's"},
		{"bob", writtenGrant("L8", "x", "bob", ""), "bob", "grant", lineWrongAuthor, "a grant is the grantor's to write, and bob wrote it"},
		{"bob", lapsed, "bob", "lapsed", lineWrongAuthor, "a lapsed is the grantor's to write, and bob wrote it"},
		{"bob", refusal, "bob", "refusal", lineWrongAuthor, "a refusal is the grantor's to write, and bob wrote it"},
		{"bob", `{"a":1,"a":2}`, "", "undecodable", lineUndecodable, "twice"},
		{"bob", `{"a":1}`, "", "foreign", lineForeign, "no lease fact"},
		{"bob", releaseOf("L4"), "bob", "release", lineCounts, ""},
	}
	for _, l := range lines {
		path := w.factsOf(l.medium)
		if l.medium == mediumGrantor {
			path = w.grantorFacts()
		}
		appendTo(t, path, l.text)
	}
	got := w.logged(t, "--all")
	if len(got) != len(lines) {
		t.Fatalf("%d lines, want %d", len(got), len(lines))
	}
	for i, want := range lines {
		l := got[i]
		if l.Medium != want.medium || l.Kind != want.kind || l.Verdict != want.verdict || l.Counts != (want.verdict == lineCounts) || !strings.Contains(l.Why, want.why) || (want.why == "") != (l.Why == "") {
			t.Errorf("%s: %+v\nwant %q %q", want.text, l, want.verdict, want.why)
		}
		if author := l.author(); author != want.author && (author != "-" || want.author != "") {
			t.Errorf("%s: by %q, want %q", want.text, author, want.author)
		}
		if l.Fact != nil && string(l.Fact) != want.text {
			t.Errorf("fact %s, want %s", l.Fact, want.text)
		}
	}
	if n := len(w.logged(t, "")); n != len(lines)-1 {
		t.Errorf("%d lines without --all: what is no lease fact is not shown", n)
	}
	if n := len(w.logged(t, "--medium bob --medium alice")); n != 15 {
		t.Errorf("%d lines of bob and alice", n)
	}
	out, _ := w.must(t, 0, "log")
	contains(t, out, "-- wrong author: bob wrote this release, and the lease is alice's")
}

func TestLogShowsTicks(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	ticks := filepath.Join(w.dir(), "grantor", "ticks.jsonl")
	tick := func(ms string) string {
		return `{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":` + ms + `}}`
	}
	appendTo(t, ticks, tick("5"), tick("5"), tick("4"), tick("6"), releaseOf("L1"))
	appendTo(t, filepath.Join(w.dir(), "holders", "bob", "ticks.jsonl"), tick("1"))
	var verdicts []string
	for _, l := range w.logged(t, "--ticks") {
		verdicts = append(verdicts, l.Medium+" "+l.author()+" "+l.Verdict)
	}
	want := "ticks grantor counts,ticks grantor counts,ticks grantor inadmissible,ticks grantor counts,ticks grantor ignored,bob/ticks bob counts"
	if got := strings.Join(verdicts, ","); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if n := len(w.logged(t, "--medium bob/ticks")); n != 1 {
		t.Errorf("%d ticks of bob", n)
	}
	if n := len(w.logged(t, "")); n != 0 {
		t.Errorf("%d ticks although none were asked for", n)
	}
}

func TestLogSaysThatAMediumCannotBeRead(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.factsOf("bob"), releaseOf("L1"))
	chmodTo(t, w.factsOf("bob"), 0o666)
	lines := w.logged(t, "")
	if len(lines) != 1 || lines[0].Verdict != lineGap || lines[0].Position != nil || !strings.Contains(lines[0].Why, "written by group or others") {
		t.Errorf("%+v", lines)
	}
	// The medium that cannot be resolved now is not read past in silence.
	w = newFakeWorld(t)
	w.composition(t, "attribution: owner\ngrantor: me\n"+tinyConfig)
	appendTo(t, w.factsOf("me@host"), renewalOf("L1"))
	w.users.set(nil, os.ErrDeadlineExceeded)
	if lines := w.logged(t, ""); len(lines) != 1 || lines[0].Verdict != lineUnresolved || lines[0].Counts {
		t.Errorf("%+v", lines)
	}
}

func TestLogSaysWhatIsNotRetained(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.factsOf("bob"), `{"dao.stream/type":"jsonl","dao.stream/identity":"abcdefghijklmnop","dao.stream/base":500}`, proposalFor("P1", "build", ""), proposalFor("P2", "build", ""))
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "build", ""), proposalFor("P3", "build", ""))
	out, errs := w.must(t, 0, "log")
	want := "daolease: bob: what came before position 500 is no longer retained\n"
	if errs != want || strings.Count(out, "\n") != 3 {
		t.Errorf("%q, want %q\n%s", errs, want, out)
	}
	// A filter passes lines over, which are retained all the same.
	for _, filter := range []string{"--lease P2", "--author bob --lease P2", "--not-counting --medium bob", "--kind proposal --medium bob"} {
		if _, errs := w.must(t, 0, "log "+filter); !strings.HasPrefix(errs, want) {
			t.Errorf("log %s: %q, want %q", filter, errs, want)
		}
	}
	if _, errs := w.must(t, 0, "log --medium bob --author alice"); errs != want+"daolease: nobody named alice has written anything on bob\n" {
		t.Errorf("%q", errs)
	}
	if _, errs := w.must(t, 0, "log --medium alice --lease P3"); errs != "" {
		t.Errorf("all that alice wrote is there: %q", errs)
	}
}

func TestLogRaw(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	lines := []string{renewalOf("L1"), "\x1b[2Jjunk \xff", "", `{ "dao.lease/status" : "dao.lease/released" }`}
	appendTo(t, w.factsOf("bob"), lines...)
	appendTo(t, w.factsOf("bob"), "torn\x00")
	code, out, errs := w.run("log", "--raw", "--medium", "bob")
	if want := strings.Join(lines, "\n") + "\n"; code != 0 || out != want {
		t.Errorf("exit %d, %q, want %q", code, out, want)
	}
	contains(t, errs, "bob: left out at position")
	for _, bad := range []string{"log --raw", "log --raw --medium bob --medium grantor", "log --medium nobody", "log --raw --medium bob -o jsonl", "log extra"} {
		w.must(t, exitUsage, bad)
	}
}

func TestLogDimsWhatDoesNotCount(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.factsOf("bob"), proposalFor("P1", "build", ""), renewalOf("L1"))
	for _, c := range []struct {
		terminal      bool
		term, noColor string
		dimmed        int
	}{{true, "xterm", "", 1}, {true, "xterm", "1", 0}, {true, "dumb", "", 0}, {true, "", "", 0}, {false, "xterm", "", 0}} {
		w.OutIsTerminal, w.env["TERM"], w.env["NO_COLOR"] = c.terminal, c.term, c.noColor
		if out, _ := w.must(t, 0, "log"); strings.Count(out, "\x1b[2m") != c.dimmed || strings.Count(out, "\x1b") != 2*c.dimmed {
			t.Errorf("%+v: %q", c, out)
		}
	}
}

// slowBuffer is what two goroutines may use.
type slowBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *slowBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *slowBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// eventually waits for a condition, for at most half a minute.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: never", what)
		}
	}
}

func TestLogFollows(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
	out := new(slowBuffer)
	w.Out = out
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- w.Run(ctx, []string{"log", "-f"}) }()
	shows := func(part string) {
		t.Helper()
		eventually(t, part, func() bool { return strings.Contains(out.String(), part) })
	}
	shows("L1 on build to alice")
	appendTo(t, w.factsOf("alice"), renewalOf("L1")) // a folder that is new
	shows("renewal")
	appendTo(t, w.grantorFacts(), writtenGrant("L2", "more", "alice", ""))
	appendTo(t, w.factsOf("alice"), releaseOf("L2"))
	shows("release")
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
	if text := out.String(); strings.Contains(text, "--") || strings.Count(text, "\n") != 4 {
		t.Errorf("what came is judged by what came before:\n%s", text)
	}
}

// A grant that comes while the holders' media are read is found before its evidence is judged.
func TestEvidenceBeforeItsGrantIsRead(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "build", ""), renewalOf("L1"), renewalOf("L9"))
	var verdicts []string
	r, err := newHistoryReader(c, func(_ *historyMedium, l historyLine) error {
		verdicts = append(verdicts, l.Kind+" "+l.Verdict)
		if l.fact.Proposal == "P1" && l.Medium == "alice" {
			appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", ""))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.addHolders(func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if err := r.round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(verdicts, ", "), "proposal counts, grant counts, renewal counts, renewal ignored"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Filters show what they say, and on a terminal the colour says how little a line counts.
func TestLogFilters(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("L1", "build", "alice", `,"dao.lease/proposal":"P1"`), "junk")
	appendTo(t, w.factsOf("alice"), proposalFor("P1", "build", ""), renewalOf("L1"), renewalOf("L9"))
	appendTo(t, w.factsOf("bob"), releaseOf("L1"))
	for args, want := range map[string]string{
		"--lease L1": "grant renewal release", "--lease P1": "grant proposal", "--author bob": "release", "--kind renewal": "renewal renewal",
		"--kind grant --kind proposal": "grant proposal", "--not-counting": "undecodable renewal release", "--not-counting --author alice": "renewal",
	} {
		kinds := ""
		for _, l := range w.logged(t, args) {
			kinds += " " + l.Kind
		}
		if strings.TrimSpace(kinds) != want {
			t.Errorf("log %s shows%s, want %s", args, kinds, want)
		}
	}
	w.must(t, exitUsage, "log --kind rumour")
	for args, want := range map[string]string{
		"--lease L7": "no lease and no proposal L7 is known of", "--author carol": "nobody named carol has written anything", "--kind refusal": "no line is of the kind refusal",
		"--lease L7 --kind tick --kind lapsed": "no lease and no proposal L7 is known of; no line is of the kind tick or lapsed",
		"--author bob --kind renewal":          "no line is as asked for", "--lease L7 -o jsonl": "no lease and no proposal L7 is known of",
	} {
		if out, errs := w.must(t, 0, "log "+args); out != "" || errs != "daolease: "+want+"\n" {
			t.Errorf("log %s: %q, %q, want %q", args, out, errs, want)
		}
	}
	w.must(t, exitUsage, "log --raw --medium grantor --lease L1")
	w.OutIsTerminal, w.env["TERM"] = true, "xterm"
	out, _ := w.must(t, 0, "log")
	for colour, n := range map[string]int{"\x1b[31m": 1, "\x1b[33m": 1, "\x1b[2m": 1, "\x1b[0m": 3} {
		if strings.Count(out, colour) != n {
			t.Errorf("%d of %q in %q", strings.Count(out, colour), colour, out)
		}
	}
}

// The beginning of an id does, as it does for inspect: a lease's before anything else's.
func TestLogTakesTheBeginningOfAnId(t *testing.T) {
	w := newFakeWorld(t)
	w.composition(t, tinyConfig)
	appendTo(t, w.grantorFacts(), writtenGrant("AAB1", "build", "alice", `,"dao.lease/proposal":"CCD"`), writtenGrant("AAC2", "x", "bob", ""), writtenGrant("AAC", "y", "bob", ""))
	appendTo(t, w.factsOf("alice"), renewalOf("AAB1"), renewalOf("AAB9"), renewalOf("EEF"), proposalFor("CCE", "z", ""))
	for id, want := range map[string]string{"AAB": "grant renewal", "AAC": "grant", "AAC2": "grant", "CCD": "grant", "CCE": "proposal", "E": "renewal", "AAB9": "renewal"} {
		kinds := ""
		for _, l := range w.logged(t, "--lease "+id) {
			kinds += " " + l.Kind
		}
		if strings.TrimSpace(kinds) != want {
			t.Errorf("log --lease %s shows%s, want %s", id, kinds, want)
		}
	}
	for _, id := range []string{"AA", "CC"} {
		_, errs := w.must(t, exitUsage, "log --lease "+id)
		says(t, errs, "is the beginning of several ids: ")
	}
}
