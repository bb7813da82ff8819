//go:build unix

package hooks

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const sigCont = syscall.SIGCONT

// openRun opens a regular file and nothing else; a symlink or a FIFO in its place is an error and no wait.
func openRun(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("no regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tryLock takes the lock of a file if nobody has it.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// unlock releases the lock for every process that shares it.
func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// private gives a file mode 0600 whatever the umask and, when root made it, the owner of its folder (SPEC 8).
func private(f *os.File, dir string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm() != 0o600 {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	folder, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	want, have := folder.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if want.Uid == have.Uid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// ownerOf is the uid that owns a file.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// inGroup puts a command into a group of its own, with the run file as its descriptor 3.
func inGroup(cmd *exec.Cmd, run *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{run}
}

// signalGroup signals every member of a group. That there is none any more is no error.
func signalGroup(leader int, sig syscall.Signal) { _ = syscall.Kill(-leader, sig) }

// signalProcess signals one process.
func signalProcess(pid int, sig syscall.Signal) { _ = syscall.Kill(pid, sig) }

// groupExists tells whether a group has any process, dead ones that nobody has reaped among them.
func groupExists(leader int) bool { return !errors.Is(syscall.Kill(-leader, 0), syscall.ESRCH) }

// endSignal is the signal that ended a process.
func endSignal(state *os.ProcessState) (syscall.Signal, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0, false
	}
	return status.Signal(), true
}
