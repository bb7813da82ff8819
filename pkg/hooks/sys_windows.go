package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// sigCont is a signal that Windows does not know; it is ignored like every one but KILL.
const sigCont = syscall.Signal(0x12)

// lockAt is where the one locked byte of a run file lies: far behind the note, which others may read.
const lockAt = 1 << 30

func openRun(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }

// tryLock takes the lock of a file if nobody has it.
func tryLock(f *os.File) (bool, error) {
	at := windows.Overlapped{Offset: lockAt}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) {
	at := windows.Overlapped{Offset: lockAt}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// private leaves a file as it is: its rights are the folder's.
func private(*os.File, string) error { return nil }

func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }

// inGroup hands nothing on: a run file is locked by the judge alone, and a procedure that outlives it is not found.
func inGroup(*exec.Cmd, *os.File) {}

// signalGroup ends the leader at KILL. Its children are not reached.
func signalGroup(leader int, sig syscall.Signal) { signalProcess(leader, sig) }

func signalProcess(pid int, sig syscall.Signal) {
	if sig != syscall.SIGKILL {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func endSignal(*os.ProcessState) (syscall.Signal, bool) { return 0, false }

func identify(int) (start uint64, session int) { return 0, 0 }

func members(note) ([]int, error) { return nil, nil }

func openers(*os.File, int) ([]opener, error) { return nil, errors.ErrUnsupported }

func age([]int) time.Duration { return 0 }

// supported tells whether the group of a former procedure can be found here.
func supported() error {
	return fmt.Errorf("to find a procedure that outlived its judge is %w on Windows", errors.ErrUnsupported)
}

// awaitEnd waits until a process has ended.
func awaitEnd(cmd *exec.Cmd) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(cmd.Process.Pid))
	if err != nil {
		return
	}
	_, _ = windows.WaitForSingleObject(h, windows.INFINITE)
	_ = windows.CloseHandle(h)
}
