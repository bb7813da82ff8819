package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// watchesOf is how many inotify watches a process has on a folder.
func (p *process) watchesOf(name string) (n int) {
	p.w.Helper()
	fi, err := os.Stat(p.w.path(name))
	p.w.must(err)
	want := fmt.Sprintf(" ino:%x ", fi.Sys().(*syscall.Stat_t).Ino)
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", p.cmd.Process.Pid))
	p.w.must(err)
	for _, info := range infos {
		text, _ := os.ReadFile(info)
		n += strings.Count(string(text), want)
	}
	return n
}

// TestJudgeIsToldOfManyMedia has so many media that a judge asks the system in which something has happened. Whoever
// writes as the system sees it is heard; and so is one who writes through another name of the file, of which it does
// not tell, and who is asked by every pass from then on.
func TestJudgeIsToldOfManyMedia(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "cadence: 200ms\nsubjects: [{match: \"*\", duration: 1h, reclaim: none}]\n", nil)
	for i := range 80 {
		name := fmt.Sprintf("holders/h%d", i)
		w.must(os.Mkdir(w.path(name), 0o755))
		w.write(name+"/facts.jsonl", 0o644, "")
	}
	w.must(os.Link(w.path("holders/h7/facts.jsonl"), w.path("log/h7")))
	judge := w.judge()
	w.until("it is told of all", func() bool { return judge.watchesOf("holders/h0") == 2 && judge.watchesOf("holders/h7") == 2 })

	w.append("holders/h0/facts.jsonl", proposal("P0", "s0")+"\n")
	w.until("who proposes is heard", func() bool { return len(w.grantedTo("h0")) == 1 })
	w.append("log/h7", proposal("P1", "s1")+"\n")
	w.until("who proposes through another name is heard", func() bool { return len(w.grantedTo("h7")) == 1 })
	w.until("it is asked from then on", func() bool { return judge.watchesOf("holders/h7") == 1 })
	if judge.watchesOf("holders/h0") != 2 {
		t.Error("and so is one of whom the system tells")
	}
	w.append("log/h7", proposal("P2", "s2")+"\n")
	w.until("it is heard again", func() bool { return len(w.grantedTo("h7")) == 2 })

	w.must(os.Rename(w.path("holders/h0"), w.path("log/h0")))
	w.must(os.Mkdir(w.path("holders/h0"), 0o755))
	w.write("holders/h0/facts.jsonl", 0o644, proposal("P3", "s3")+"\n")
	w.until("another folder in its place is heard, after a gap", func() bool {
		return strings.Contains(w.read("grantor/facts.jsonl"), `"dao.lease/rejected","dao.lease/proposal":"P3"`)
	})
	judge.stop()
}

// A judge that polls, or has few media, asks each file.
func TestJudgeIsNotToldOfFewMedia(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "cadence: 100ms\nsubjects: [{match: \"*\", duration: 1h, reclaim: none}]\n", nil)
	w.want(0, []string{"holder", "add", "alice"})
	judge := w.judge()
	w.passes(3)
	if n := judge.watchesOf("holders/alice"); n != 1 {
		t.Errorf("%d watches", n)
	}
	judge.stop()
}
