package cmd

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// startedIgnored says that this program was started with a signal ignored. It is asked of signals that Go's runtime
// leaves alone until they are asked for; of the others it has taken all but HUP and INT before anybody could look.
func startedIgnored(sig os.Signal) bool {
	n, ok := sig.(syscall.Signal)
	text, err := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(text), "SigIgn:")
	if !ok || err != nil || !found {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	mask, err := strconv.ParseUint(word, 16, 64)
	return err == nil && mask>>(uint(n)-1)&1 == 1
}

func sessionOf(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return -1
	}
	return sid
}

// parentOf is the parent of a process; 0 when it cannot be told.
func parentOf(pid int) int {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(f[1]))
	return parent
}

// bindToParent has a child killed when the thread that started it ends.
func bindToParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitChange waits until a child stops or ends. One that has ended is left unreaped, so that its pid, and with it
// its group's id, belongs to it until reap.
func awaitChange(pid int) change {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return change{ended: true, err: err}
		case info.Code == childExited:
			return change{ended: true, code: childStatus(&info)}
		case info.Code == childStopped:
			// Taken in without WEXITED: it may have ended meanwhile, and must not be reaped here.
			if unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil) == nil && info.Code == childStopped {
				return change{stopped: syscall.Signal(childStatus(&info))}
			}
		case info.Code == childKilled, info.Code == childDumped:
			return change{ended: true, code: 128 + childStatus(&info)}
		}
	}
}

// reap gives the pid of a child that has ended back to the system.
func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// What siginfo_t says of a child (waitid(2)).
const (
	childExited  = 1
	childKilled  = 2
	childDumped  = 3
	childStopped = 5
)

// childStatus is si_status, for which x/sys has no name: it follows three words, the padding that pointers want,
// si_pid and si_uid.
func childStatus(info *unix.Siginfo) int {
	const at = 12 + unsafe.Sizeof(uintptr(0)) - 4 + 8
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), at)))
}

// carriers are the processes whose environment has this line and no variable of those names, ours not among them.
// Whoever left CMD's group has still inherited it. Processes of other users cannot be looked into.
func carriers(line string, without ...string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		env = append([]byte{0}, append(env, 0)...)
		other := slices.ContainsFunc(without, func(name string) bool { return bytes.Contains(env, []byte("\x00"+name+"=")) })
		if err == nil && !other && bytes.Contains(env, []byte("\x00"+line+"\x00")) {
			found = append(found, pid)
		}
	}
	return found
}
