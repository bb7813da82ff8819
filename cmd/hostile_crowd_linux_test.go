package cmd_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func proposal(id, subject string) string {
	return fmt.Sprintf(`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":%q,"dao.lease/subject":%q}`, id, subject)
}

// One who proposes without end is answered a few times a pass, and nobody waits for it.
func TestHostileProposals(t *testing.T) {
	t.Parallel()
	s := newStage(t, "retention: {holders: 64MiB}\n")
	var all strings.Builder
	for n := range 65_536 {
		all.WriteString(proposal(fmt.Sprintf("P%d", n), fmt.Sprintf("subject-%d", n)) + "\n")
	}
	s.scrawl(s.path("holders/mallory/facts.jsonl"), all.String())
	s.named("mallory has more to read than one pass may", 1)
	s.honest("another")
	s.until("some are refused", func() bool { return len(s.of("rejected")) > 200 })
	s.unmoved()
	if lines := len(s.since()); lines > 250 {
		s.Errorf("%d lines were said", lines)
	}
}

// Thousands of names in holders/ are looked at, and not each of them is talked about.
func TestHostileCrowd(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	for n := range 5000 {
		s.must(os.WriteFile(s.path(fmt.Sprintf("holders/file%d", n)), nil, 0o644))
	}
	for n := range 2000 {
		s.must(os.Mkdir(s.path(fmt.Sprintf("holders/folder%d", n)), 0o755))
	}
	s.named("no holder's folder", 2)
	s.unmoved()
	said := slices.DeleteFunc(s.since(), func(line string) bool {
		return strings.Contains(line, "nobody watched for") // as often as the machine stalls, whoever crowds it
	})
	if lines := len(said); lines > 30 {
		s.Errorf("%d lines were said: %s", lines, s.judge.said)
	}
}

// What others wrote is no more than a stranger's word when it is written again.
func TestHostileCopies(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	const mallory, withdrawn = "holders/mallory/facts.jsonl", `"daolease/withdrawn":true}`
	s.append(mallory, proposal("P", "hers"))
	s.append(mallory, strings.TrimSuffix(proposal("Q", "his"), "}")+","+withdrawn)
	s.append(mallory, strings.TrimSuffix(forgery(s), "\n"))
	s.until("the first is answered", func() bool { return s.answers()["P"] == 1 })
	s.append("holders/newcomer/facts.jsonl", proposal("P", "his"))
	s.append("holders/newcomer/facts.jsonl", proposal("Q", "his too"))
	s.append(mallory, strings.TrimSuffix(proposal("P", "his"), "}")+","+withdrawn)
	s.append(mallory, strings.TrimSuffix(proposal("Q", "his too"), "}")+","+withdrawn)
	s.until("both are granted", func() bool { return len(s.grantedTo("newcomer")) == 2 })

	quiet := s.want(0, []string{"grant", "quiet", "quiet"})
	still := s.renewing("mallory", quiet)
	s.until("the silent one lapses, whoever renews", func() bool { return s.lapsed(quiet) })
	still()
	s.passes(10)
	for _, lease := range s.grantedTo("newcomer") {
		if s.lapsed(lease) {
			t.Errorf("%s was withdrawn by a stranger", lease)
		}
	}
	s.unmoved()
}

// grantedTo are the leases that a holder was granted.
func (w *world) grantedTo(holder string) (leases []string) {
	w.Helper()
	for _, l := range w.facts("grantor/facts.jsonl") {
		if l.Status == "dao.lease/accepted" && l.Holder == holder {
			leases = append(leases, l.Lease)
		}
	}
	return leases
}

// Two names of one thing would be two leases of it.
func TestHostileSubjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	bad := []string{"/srv/shared/.", "/srv/shared/", "/srv/shared//a", "/srv/shared/../a", "/srv/./shared/a", "//srv/shared/a", "/srv/shared/a\n", strings.Repeat("s", 5000)}
	for n, subject := range bad {
		s.append("holders/mallory/facts.jsonl", proposal(fmt.Sprintf("P%d", n), subject))
	}
	s.append("holders/mallory/facts.jsonl", proposal("good", "/srv/shared/a"))
	s.until("all are answered", func() bool { return s.answers()["good"] == 1 && len(s.of("rejected")) == len(bad) })
	for id, l := range s.of("rejected") {
		if l[0].Reason != "subject" {
			t.Errorf("%s was refused for %q", id, l[0].Reason)
		}
	}
	if got := s.grantedTo("mallory"); len(got) != 2 {
		t.Errorf("granted: %q", got)
	}
	s.unmoved()
}
