package cmd_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// stage is a composition with a judge, two honest holders beside one who is not, and what has to be concluded about
// the honest ones whatever the other does: steady renews all the time, and quiet falls silent.
type stage struct {
	*world
	judge   *process
	steady  string // the lease of the one who renews
	mallory string // the lease of the one who attacks
	still   func() // ends the renewing
	spoken  int    // how much the judge had said when the attack began
}

const stageSubjects = `subjects:
  - {match: quiet, duration: 600ms, reclaim: [hooks/free]}
  - {match: steady, duration: 5s, reclaim: [hooks/free]}
  - {match: "/srv/shared/*", duration: 1h, reclaim: [hooks/free]}
  - {match: "*", duration: 1h, reclaim: [hooks/free]}
`

// memoryMost is the most that a judge may ever have used, in KiB, whatever a holder does.
const memoryMost = 100 << 10

// newStage begins. more is what the configuration says besides.
func newStage(t *testing.T, more string) *stage {
	t.Helper()
	return newStageOf(t, os.Geteuid(), more)
}

// newStageOf begins under a judge who is this user.
func newStageOf(t *testing.T, uid int, more string) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, quick+more+stageSubjects, map[string]string{"free": noting})}
	if uid == os.Geteuid() {
		s.judge = s.world.judge()
	} else {
		s.command = s.openly()
		s.give(uid, s.dir)
		s.judge = s.begin(s.user(uid, "judge"))
		s.judge.says("incarnation")
	}
	s.steady = s.want(0, as("steady", "propose", "steady"))
	s.still = s.renewing("steady", s.steady)
	s.mallory = s.want(0, as("mallory", "propose", "mallory"))
	s.renewal("mallory", s.mallory)
	s.passes(2)
	s.spoken = len(s.judge.said.String())
	return s
}

// renewing appends a renewal five times a second, as a holder does who lives.
func (w *world) renewing(holder, lease string) (still func()) {
	w.Helper()
	return w.renewingEvery(200*time.Millisecond, holder, lease)
}

// renewingEvery appends a renewal again and again, at least so long after the one before.
func (w *world) renewingEvery(gap time.Duration, holder, lease string) (still func()) {
	w.Helper()
	stop, path := make(chan struct{}), w.path("holders/"+holder+"/facts.jsonl")
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(gap):
			}
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = fmt.Fprintf(f, `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":%q}`+"\n", lease)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				w.Errorf("%s could not renew: %v", holder, err)
				return
			}
		}
	})
	still = sync.OnceFunc(func() { close(stop); running.Wait() })
	w.Cleanup(still)
	return still
}

// passes waits until the judge has made at least so many passes more: each appends one tick, or two.
func (w *world) passes(n int) {
	w.Helper()
	last, seen := w.lastTick(), 0
	w.until(fmt.Sprintf("%d passes", n), func() bool {
		if now := w.lastTick(); now != last {
			last = now
			seen++
		}
		return seen > 2*n
	})
}

func (w *world) lastTick() string {
	w.Helper()
	text := strings.TrimSuffix(w.read("grantor/ticks.jsonl"), "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// since is what the judge has said since the attack began.
func (s *stage) since() []string {
	return strings.Split(strings.TrimSpace(s.judge.said.String()[s.spoken:]), "\n")
}

// named checks that the judge says of an attack what it is, at most so often, and not once a pass; where there is
// nothing to be said, that it says nothing.
func (s *stage) named(what string, most int) {
	s.Helper()
	want := 1
	if what == "" {
		what, want, most = "mallory", 0, 0
	}
	count := func() (n int) {
		for _, line := range s.since() {
			if strings.Contains(line, what) {
				n++
			}
		}
		return n
	}
	s.until("the judge says "+what, func() bool { return count() >= want })
	s.passes(10)
	if n := count(); n > most {
		s.Errorf("%q was said %d times: %s", what, n, strings.Join(s.since(), "\n"))
	}
}

// unmoved checks that of everybody else the same is concluded as ever, and no later, and ends the play.
func (s *stage) unmoved() {
	s.Helper()
	s.honest("newcomer")
	if s.lapsed(s.steady) {
		s.Fatalf("%s lapsed while its holder renewed it: %v", s.steady, s.of("lapsed")[s.steady])
	}
	s.still()
	s.release("steady", s.steady)
	s.until("the release of the one who renewed", func() bool { return s.lapsed(s.steady) })
	if cause := s.of("lapsed")[s.steady][0].Cause; cause != "release" {
		s.Errorf("what was released lapsed by %s", cause)
	}
	s.slim()
	s.judge.stop()
	s.once()
}

// honest lets one holder propose, and another one fall silent.
func (s *stage) honest(newcomer string) {
	s.Helper()
	began := time.Now()
	quiet := s.want(0, []string{"grant", "quiet", "quiet"})
	if s.want(0, as(newcomer, "propose", newcomer)) == "" {
		s.Error("a proposal of another holder was not granted")
	}
	s.until("the silent one lapses", func() bool { return s.lapsed(quiet) })
	if took := time.Since(began); took < 600*time.Millisecond || took > bound/2 {
		s.Errorf("the silent one lapsed after %v", took)
	}
	if cause := s.of("lapsed")[quiet][0].Cause; cause != "silence" {
		s.Errorf("the silent one lapsed by %s", cause)
	}
}

// slim checks that the judge lives, and how much memory it has ever used.
func (s *stage) slim() {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.judge.cmd.Process.Pid))
	s.must(err)
	_, most, found := strings.Cut(string(text), "VmHWM:")
	if !found {
		s.Fatalf("the judge is gone; it said: %s", s.judge.said)
	}
	kib := 0
	_, err = fmt.Sscan(most, &kib)
	s.must(err)
	if kib > memoryMost && !raced {
		s.Errorf("the judge used %d KiB", kib)
	}
}

// once checks that nothing was recorded twice, and nothing before it was taken back.
func (w *world) once() {
	w.Helper()
	for id, list := range w.of("lapsed") {
		if len(list) != 1 {
			w.Errorf("%s was recorded %d times", id, len(list))
		}
	}
	if log := w.read("log/hooks"); strings.Contains(log, "late:") {
		w.Errorf("a record came before its procedure: %s", log)
	}
}
