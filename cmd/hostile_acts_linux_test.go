package cmd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// act is what a hostile holder does with a file of theirs, and what the judge has to say of it.
type act struct {
	do    func(s *stage, file string)
	named string // "" where nothing is to be named
}

const (
	gapOnMallory = "a gap on mallory"
	noRegular    = "is no regular file"
)

// fileActs exchange the file for something else, or change it otherwise than by appending.
func fileActs() map[string]act {
	return map[string]act{
		"truncated": {func(s *stage, file string) { s.must(os.Truncate(file, 0)) }, gapOnMallory},
		"regrown": {func(s *stage, file string) {
			size := len(s.read("holders/mallory/facts.jsonl"))
			s.must(os.WriteFile(file, []byte(strings.Repeat("{\"n\":1}\n", size)), 0o644))
		}, gapOnMallory},
		"replaced": {func(s *stage, file string) { s.put(file, "{\"n\":1}\n") }, gapOnMallory},
		"removed":  {func(s *stage, file string) { s.must(os.Remove(file)) }, gapOnMallory},
		"the folder removed": {func(s *stage, file string) {
			s.must(os.RemoveAll(filepath.Dir(file)))
		}, gapOnMallory},
		"another identity": {func(s *stage, file string) {
			s.put(file, headed("another", "0")+forgery(s))
		}, gapOnMallory},
		"a base beyond all": {func(s *stage, file string) {
			s.put(file, headed("another", "4503599627370497")+forgery(s))
		}, gapOnMallory},
		"the greatest base": {func(s *stage, file string) {
			s.put(file, headed("another", "4503599627370496")+forgery(s))
		}, gapOnMallory},
		"closed": {func(s *stage, _ string) {
			s.append("holders/mallory/facts.jsonl", `{"dao.stream/closed":true}`)
		}, ""},
		"mode 666": {func(s *stage, file string) { s.must(os.Chmod(file, 0o666)) }, "can be written by group or others"},
		"mode 777": {func(s *stage, file string) {
			s.must(os.Chmod(filepath.Dir(file), 0o777))
			s.renewal("mallory", s.mallory) // what is not written is not looked at
		}, "can be written by group or others"},
	}
}

// placeActs put something else in the file's place.
func placeActs() map[string]act {
	instead := func(make func(s *stage, file string) error) func(s *stage, file string) {
		return func(s *stage, file string) {
			s.must(os.Remove(file))
			if err := make(s, file); errors.Is(err, syscall.EPERM) {
				s.Skip("it may not be made here: ", err)
			} else {
				s.must(err)
			}
		}
	}
	return map[string]act{
		"a link to a device": {instead(func(_ *stage, file string) error { return os.Symlink("/dev/zero", file) }), noRegular},
		"a link to another's": {instead(func(s *stage, file string) error {
			return os.Symlink(s.path("holders/steady/facts.jsonl"), file)
		}), noRegular},
		"another's itself": {instead(func(s *stage, file string) error {
			return os.Link(s.path("holders/steady/facts.jsonl"), file)
		}), gapOnMallory},
		"the grantor's itself": {instead(func(s *stage, file string) error {
			return os.Link(s.path("grantor/facts.jsonl"), file)
		}), gapOnMallory},
		"a pipe":   {instead(func(_ *stage, file string) error { return syscall.Mkfifo(file, 0o644) }), noRegular},
		"a folder": {instead(func(_ *stage, file string) error { return os.Mkdir(file, 0o755) }), noRegular},
		"a device": {instead(func(_ *stage, file string) error {
			return syscall.Mknod(file, syscall.S_IFCHR|0o644, 1<<8|5) // /dev/zero
		}), noRegular},
		"a folder that is a link": {func(s *stage, file string) {
			dir := filepath.Dir(file)
			s.must(os.Rename(dir, s.path("away")))
			s.must(os.Symlink(s.path("holders/steady"), dir))
		}, gapOnMallory},
		"a folder like the grantor's": {func(s *stage, _ string) {
			s.append("holders/grantor/facts.jsonl", strings.TrimSuffix(forgery(s), "\n"))
		}, "it is the grantor's name"},
	}
}

// junkActs append what is no line, or no end of them.
func junkActs() map[string]act {
	return map[string]act{
		"a long line": {func(s *stage, file string) {
			s.scrawl(file, strings.Repeat("x", 3<<19)+"\n")
		}, "a line over 1 MiB"},
		"a sparse file": {func(s *stage, file string) {
			if err := os.Truncate(file, 15<<40); errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EINVAL) {
				s.Skip("this file system has no such files: ", err)
			} else {
				s.must(err)
			}
		}, gapOnMallory},
		"blocks of NUL": {func(s *stage, file string) {
			s.scrawl(file, strings.Repeat("\x00", 8192)+"\n")
		}, "a line with a NUL"},
		"200 MB of nothing": {func(s *stage, file string) {
			s.must(os.Truncate(file, 200<<20))
			s.scrawl(file, "\n"+forgery(s))
		}, gapOnMallory},
		"lines of junk": {func(s *stage, file string) {
			junk := strings.Repeat(`{"dao.lease/status":"x"}`+"\nno JSON\n\n[1]\n", 8192)
			for range 64 {
				s.scrawl(file, junk)
			}
		}, "mallory: dropped the line"},
		"an id without end": {func(s *stage, file string) {
			s.scrawl(file, fmt.Sprintf(`{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":%q,"dao.lease/subject":"a//"}`+"\n", strings.Repeat("i", 1<<19)))
		}, "a proposal id over 256 bytes is not answered"},
	}
}

func TestHostileFile(t *testing.T)  { perform(t, fileActs()) }
func TestHostilePlace(t *testing.T) { perform(t, placeActs()) }
func TestHostileJunk(t *testing.T)  { perform(t, junkActs()) }

// A line that is longer than several drains is passed over in all of them, and counted once when it ends.
func TestHostileLineWithoutEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, "retention: {holders: 256MiB}\n")
	file := s.path("holders/mallory/facts.jsonl")
	for range 100 {
		s.scrawl(file, strings.Repeat("x", 1<<20))
	}
	s.passes(10)
	s.honest("another")
	s.scrawl(file, "\n"+forgery(s))
	s.named("a line over 1 MiB", 1)
	s.unmoved()
	if noise := len(s.since()); noise > 30 {
		s.Errorf("%d lines were said: %s", noise, s.judge.said)
	}
}

// One who changes the file all the time fills neither the log nor the judge's day.
func TestHostileNeverStill(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	file := s.path("holders/mallory/facts.jsonl")
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				if err := os.WriteFile(file, []byte(fmt.Sprintf("{\"n\":%d}\nno JSON\n", n)), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
	})
	end := sync.OnceFunc(func() { close(stop); running.Wait() })
	t.Cleanup(end)
	s.named(gapOnMallory, 2)
	s.passes(30)
	s.named(gapOnMallory, 2)
	s.unmoved()
	end()
}

// perform performs each act on a stage of its own.
func perform(t *testing.T, acts map[string]act) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "")
			a.do(s, s.path("holders/mallory/facts.jsonl"))
			s.named(a.named, 1)
			s.unmoved()
		})
	}
}

// headed is a header made by hand.
func headed(identity, base string) string {
	return fmt.Sprintf(`{"dao.stream/type":"jsonl","dao.stream/identity":%q,"dao.stream/base":%s}`+"\n", identity, base)
}

// forgery is what a stranger would write about the one who renews, were it heeded.
func forgery(s *stage) string {
	return fmt.Sprintf(`{"dao.lease/status":"dao.lease/released","dao.lease/lease":%[1]q}
{"dao.lease/status":"dao.lease/lapsed","dao.lease/lease":%[1]q,"dao.lease/cause":"policy"}
{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"forged","dao.lease/subject":"forged","dao.lease/holder":"mallory","dao.lease/duration":{"ms":500}}
`, s.steady)
}

// put replaces a file by another one.
func (w *world) put(path, text string) {
	w.Helper()
	w.must(os.WriteFile(path+".new", []byte(text), 0o644))
	w.must(os.Rename(path+".new", path))
}

// scrawl appends bytes as they are.
func (w *world) scrawl(path, text string) {
	w.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	w.must(err)
	_, err = f.WriteString(text)
	w.must(errors.Join(err, f.Close()))
}
