package cmd_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// openly makes the command one that every user can execute, wherever the test's own binary lies.
func (w *world) openly() string {
	w.Helper()
	self, err := os.Open(w.command)
	w.must(err)
	defer self.Close()
	dir := w.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		w.must(os.Chmod(d, 0o755))
	}
	path := filepath.Join(dir, "daolease")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	w.must(err)
	_, err = io.Copy(file, self)
	w.must(err)
	w.must(file.Close())
	// A process that is just being started by another test has the file open for writing until its exec.
	w.until("the copy can be run", func() bool { return !errors.Is(exec.Command(path, "version").Run(), syscall.ETXTBSY) })
	return path
}

// give makes everything below a path a user's.
func (w *world) give(uid int, root string) {
	w.Helper()
	w.must(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	}))
}

// user is the command of another user, not started.
func (w *world) user(uid int, args ...string) *exec.Cmd { return credit(uid, w.cmd(args...)) }

// masked is the same under a umask.
func (w *world) masked(uid int, umask string, args ...string) *exec.Cmd {
	cmd := w.cmd(args...)
	cmd.Args = append([]string{"sh", "-c", `umask "$1"; shift; exec "$@"`, "sh", umask}, append([]string{w.command}, cmd.Args[1:]...)...)
	cmd.Path = "/bin/sh"
	return credit(uid, cmd)
}

func credit(uid int, cmd *exec.Cmd) *exec.Cmd {
	id := uint32(uid)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	cmd.Dir = "/"
	return cmd
}

// people are users that the machine knows, and that nobody is at work as.
func people(t *testing.T, names ...string) (uids []int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be other users")
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			t.Skip(err)
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, uid)
	}
	return uids
}

// A judge who is not root can be refused a file.
func TestHostileMode000(t *testing.T) {
	daemon := people(t, "daemon")[0]
	for name, path := range map[string]string{"file": "holders/mallory/facts.jsonl", "folder": "holders/mallory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStageOf(t, daemon, "")
			s.must(os.Chmod(s.path(path), 0))
			s.named("permission denied", 1)
			s.unmoved()
		})
	}
}

const sharedConfig = quick + `attribution: owner
grantor: root
subjects:
  - {match: "short*", duration: 1s, reclaim: [hooks/free]}
  - {match: "*", duration: 1h, reclaim: [hooks/free]}
`

// newShared is a composition that many users share, and its judge.
func newShared(t *testing.T) (*world, *process) {
	t.Helper()
	w := newWorld(t, sharedConfig, map[string]string{"free": noting})
	w.must(os.Chmod(w.path("holders"), 0o777|os.ModeSticky))
	w.command = w.openly()
	return w, w.judge()
}

func TestHostileUsersShareAFolder(t *testing.T) {
	uids := people(t, "daemon", "nobody")
	for _, umask := range []string{"077", "022"} {
		t.Run("umask "+umask, func(t *testing.T) {
			t.Parallel()
			w, judge := newShared(t)
			daemon := func(name string, words ...string) result {
				t.Helper()
				return w.finish(w.masked(uids[0], umask, as(name, words...)...))
			}
			nobody := func(words ...string) result {
				t.Helper()
				return w.finish(w.masked(uids[1], umask, words...))
			}
			for _, name := range []string{"daemon", "daemon@laptop"} {
				lease := w.wanted(daemon(name, "propose", name), 0)
				w.modes(name)
				w.wanted(daemon(name, "renew", lease), 0)
				w.wanted(nobody(as(name, "renew", lease)...), 4)
				w.wanted(nobody(as(name, "release", lease)...), 4)
				w.wanted(daemon(name, "release", lease, "--wait", "30s"), 0)
				if got := w.of("lapsed")[lease]; len(got) != 1 || got[0].Cause != "release" {
					t.Errorf("%s: %v", name, got)
				}
			}
			w.wanted(daemon("nobody", "propose", "x"), 4, `"daemon"`)
			w.wanted(nobody(as("nobody", "propose", "x")...), 0)
			w.deny(uids[1], "mv", "daemon", "taken")
			w.deny(uids[1], "rm", "-r", "daemon")
			w.deny(uids[1], "sh", "-c", "echo >> daemon/facts.jsonl")
			w.deny(uids[1], "sh", "-c", "echo >> daemon/new")
			judge.stop()
			w.once()
		})
	}
}

// modes checks what a holder's command has made (SPEC 8).
func (w *world) modes(name string) {
	w.Helper()
	for file, want := range map[string]os.FileMode{"": 0o755, "facts.jsonl": 0o644, "ticks.jsonl": 0o644, "notes.json": 0o600, "facts.jsonl.lock": 0o600} {
		fi, err := os.Stat(filepath.Join(w.path("holders"), name, file))
		w.must(err)
		if fi.Mode().Perm() != want {
			w.Errorf("%s/%s is %v, want %v", name, file, fi.Mode(), want)
		}
	}
}

// deny has a user do in holders/ what the user may not.
func (w *world) deny(uid int, words ...string) {
	w.Helper()
	cmd := credit(uid, exec.Command(words[0], words[1:]...))
	cmd.Dir = w.path("holders")
	if cmd.Run() == nil {
		w.Errorf("%q was allowed", words)
	}
}

// What another user's file says in one's own folder counts for nobody, and what a folder claims that bears
// another user's name.
func TestHostileUsersFilesOfOthers(t *testing.T) {
	uids := people(t, "daemon", "nobody")
	t.Parallel()
	w, judge := newShared(t)
	lease := w.wanted(w.finish(w.user(uids[0], as("daemon", "propose", "short")...)), 0)
	other := w.wanted(w.finish(w.user(uids[0], as("daemon@2", "propose", "other")...)), 0)
	said := `{"dao.lease/status":"dao.lease/released","dao.lease/lease":"` + lease + `"}
{"dao.lease/status":"dao.lease/released","dao.lease/lease":"` + other + `"}
{"dao.lease/status":"dao.lease/proposed","dao.lease/proposal":"P","dao.lease/subject":"p"}
`
	w.put(w.path("holders/daemon/facts.jsonl"), said)
	w.give(uids[1], w.path("holders/daemon/facts.jsonl"))
	w.append("holders/daemon@3/facts.jsonl", said)
	w.give(uids[1], w.path("holders/daemon@3"))
	w.append("holders/nobody@1/facts.jsonl", said)
	w.give(uids[0], w.path("holders/nobody@1"))
	w.until("the lease is silent", func() bool { return w.lapsed(lease) })
	if got := w.of("lapsed")[lease][0].Cause; got != "silence" {
		t.Errorf("it lapsed by %s", got)
	}
	w.passes(10)
	if w.lapsed(other) || len(w.answers()) != 2 {
		t.Errorf("a stranger was heeded: %v", w.facts("grantor/facts.jsonl"))
	}
	w.wanted(w.finish(w.user(uids[0], as("daemon@2", "release", other, "--wait", "30s")...)), 0)
	judge.stop()
	w.once()
}
