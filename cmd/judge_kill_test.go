package cmd_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	killRounds = flag.Int("judge.kills", 30, "how often the judge is killed")
	killSeed   = flag.Uint64("judge.seed", 1, "what decides when, and what the holders do meanwhile")
)

const killConfig = `cadence: 100ms
tolerance: 50ms
reclaim: {wait: 100ms, retry: {initial: 20ms, max: 100ms}}
subjects: [{match: "*", duration: 600ms, slots: 1, timeout: 1h, reclaim: [hooks/free]}]
`

// killHook notes when it began and when it has done its work, fails at its first attempt on every second subject,
// and complains of two things that must never be: that its record is there already, and that the next tenure of
// its subject has begun while it is at work.
const killHook = `me=$DAOLEASE_LEASE
echo "begin:$me" >> log/hooks
grep -q "lapsed.*$me" grantor/facts.jsonl && echo "recorded:$me" >> log/hooks
case $DAOLEASE_SUBJECT in *[13579]) [ "$DAOLEASE_ATTEMPT" -gt 1 ] || exit 1;; esac
sleep 0.0$((DAOLEASE_TOKEN % 10))
last=$(grep "accepted.*\"dao.lease/subject\":\"$DAOLEASE_SUBJECT\"" grantor/facts.jsonl | tail -n 1)
case $last in *"$me"*) ;; *) echo "trespass:$me" >> log/hooks;; esac
echo "done:$me" >> log/hooks
`

// TestJudgeKilledAtAnyMoment kills the judge again and again while holders propose, release and fall silent.
func TestJudgeKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, killConfig, map[string]string{"free": killHook})
	random := rand.New(rand.NewPCG(*killSeed, 0))
	t.Logf("seed %d", *killSeed)
	for round := range *killRounds {
		judge := w.start("judge")
		var acts sync.WaitGroup
		for range 3 {
			holder, subject, deed := fmt.Sprintf("h%d", random.IntN(4)), fmt.Sprintf("s%d", random.IntN(5)), random.IntN(3)
			acts.Go(func() { w.act(holder, subject, deed) })
		}
		if round%3 == 0 { // while a hook runs
			seen := strings.Count(w.read("log/hooks"), "begin:")
			for end := time.Now().Add(2 * time.Second); strings.Count(w.read("log/hooks"), "begin:") == seen && time.Now().Before(end); {
				<-time.After(time.Millisecond)
			}
		} else {
			<-time.After(time.Duration(random.IntN(400)) * time.Millisecond)
		}
		judge.kill()
		acts.Wait()
	}
	judge := w.judge()
	w.until("everything is answered and taken back", w.settled)
	judge.stop()
	w.checkLives()
}

// act is one deed of a holder: a proposal, a release of what it was granted last, or both. It may find anything.
func (w *world) act(holder, subject string, deed int) {
	var results []result
	if deed != 1 {
		results = append(results, w.run(as(holder, "propose", subject, "--async")...))
	}
	if deed != 0 {
		lease := ""
		for _, l := range w.facts("grantor/facts.jsonl") {
			if l.Status == "dao.lease/accepted" && l.Holder == holder {
				lease = l.Lease
			}
		}
		if lease != "" {
			results = append(results, w.run(as(holder, "release", lease)...))
		}
	}
	for _, r := range results {
		if r.code != 0 && r.code != 3 {
			w.Errorf("%v", r)
		}
	}
}

// settled says that every proposal has its answer, and every grant its record.
func (w *world) settled() bool {
	accepted, lapsed := w.of("accepted"), w.of("lapsed")
	for id := range accepted {
		if len(lapsed[id]) == 0 {
			return false
		}
	}
	return len(w.answers()) == len(w.proposals())
}

// proposals are all that were made, with their holder.
func (w *world) proposals() (ids []string) {
	for i := range 4 {
		for _, l := range w.facts(fmt.Sprintf("holders/h%d/facts.jsonl", i)) {
			if l.Status == "dao.lease/proposed" {
				ids = append(ids, l.Proposal)
			}
		}
	}
	return ids
}

// answers are how often each proposal was answered.
func (w *world) answers() map[string]int {
	count := map[string]int{}
	for _, l := range w.facts("grantor/facts.jsonl") {
		if l.Proposal != "" {
			count[l.Proposal]++
		}
	}
	return count
}

// checkLives checks what must hold however often the judge was killed.
func (w *world) checkLives() {
	w.Helper()
	log := w.read("log/hooks")
	for _, never := range []string{"recorded:", "trespass:"} {
		if strings.Contains(log, never) {
			w.Errorf("a hook complains: %s", log)
		}
	}
	for id, list := range w.of("lapsed") {
		if len(list) != 1 {
			w.Errorf("%s was recorded %d times", id, len(list))
		}
		if !strings.Contains(log, "done:"+id+"\n") {
			w.Errorf("%s is recorded, and its hook never succeeded", id)
		}
	}
	answers := w.answers()
	for _, id := range w.proposals() {
		if answers[id] != 1 {
			w.Errorf("proposal %s was answered %d times", id, answers[id])
		}
	}
	if len(w.of("accepted")) == 0 {
		w.Error("nothing was ever granted, so nothing was tested")
	}
	w.rising()
	taken := map[any]string{}
	for _, l := range w.facts("grantor/facts.jsonl") {
		switch l.Status {
		case "dao.lease/accepted":
			if other := taken[l.Subject]; other != "" {
				w.Errorf("%v was granted as %s while %s was not recorded", l.Subject, l.Lease, other)
			}
			taken[l.Subject] = l.Lease
		case "dao.lease/lapsed":
			for subject, id := range taken {
				if id == l.Lease {
					delete(taken, subject)
				}
			}
		}
	}
}
