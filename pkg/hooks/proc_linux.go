package hooks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// process is what /proc/PID/stat says of one.
type process struct {
	group, session int
	start          uint64 // in ticks since the boot
	dead           bool   // a zombie: it runs no more and holds nothing
}

// The fields of /proc/PID/stat that are read, counted after the command's closing parenthesis.
const (
	statState, statGroup, statSession, statThreads, statStart = 0, 2, 3, 17, 19
	statFields                                                = 20
)

// ticksPerSecond is the unit of start times; Linux has shown this one to programs for ever (USER_HZ).
const ticksPerSecond = 100

// readProcess reads one process. It answers false when there is none.
func readProcess(pid int) (process, bool) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseProcess(line)
}

// parseProcess reads a line of /proc/PID/stat.
func parseProcess(line []byte) (process, bool) {
	// The command may have blanks and parentheses in it; the last one closes it.
	f := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(f) < statFields {
		return process{}, false
	}
	number := func(i int) uint64 {
		n, _ := strconv.ParseUint(string(f[i]), 10, 64)
		return n
	}
	state := f[statState][0]
	return process{
		group:   int(number(statGroup)),
		session: int(number(statSession)),
		start:   number(statStart),
		// A first thread that ended before the others looks like a zombie, but its process lives.
		dead: state == 'X' || state == 'Z' && number(statThreads) <= 1,
	}, true
}

// identify is what tells a process from a later one with the same pid.
func identify(pid int) (start uint64, session int) {
	p, _ := readProcess(pid)
	return p.start, p.session
}

// members are the living processes of the group that a note names. A leader with another start time is another
// process: the pid was given out again, so the group had ended. Where the leader is gone the session tells. A group
// that exists but cannot be looked at counts as alive.
func members(n note) ([]int, error) {
	if !groupExists(n.Leader) {
		return nil, nil
	}
	if leader, ok := readProcess(n.Leader); ok && leader.start != n.Start {
		return nil, nil
	}
	pids, err := allPIDs()
	if err != nil {
		return []int{n.Leader}, err
	}
	var group []int
	for _, pid := range pids {
		p, ok := readProcess(pid)
		if ok && !p.dead && p.group == n.Leader && p.session == n.Session && p.start >= n.Start {
			group = append(group, pid)
		}
	}
	return group, nil
}

// openers are the processes that have the same file open, this descriptor of ours not counted. With since, only
// pids given out after that one are looked at, unless pids have begun anew.
func openers(f *os.File, since int) ([]opener, error) {
	pids, err := pidsAfter(since, lastPID(), allPIDs)
	if err != nil {
		return nil, err
	}
	var found []opener
	for _, pid := range pids {
		if o, ok := opens(pid, f); ok && isProcess(pid) {
			found = append(found, o)
		}
	}
	return found, nil
}

// isProcess tells a process from a thread, which has a number of the same kind and can be looked at by it too.
func isProcess(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && strings.Contains(string(text), "\nTgid:\t"+strconv.Itoa(pid)+"\n")
}

// fewPIDs is how many pids are tried one by one, which costs less than listing all processes.
const fewPIDs = 64

// pidsAfter are the pids that may have been given out after one, where last was given out last. When pids have begun
// anew since, or last cannot be told, they are all.
func pidsAfter(since, last int, all func() ([]int, error)) ([]int, error) {
	if since > 0 && last >= since && last-since <= fewPIDs {
		var pids []int
		for pid := since + 1; pid <= last; pid++ {
			pids = append(pids, pid)
		}
		return pids, nil
	}
	pids, err := all()
	if last >= since {
		pids = slices.DeleteFunc(pids, func(pid int) bool { return pid <= since })
	}
	return pids, err
}

// opens tells whether a process has the file open, and how. A process that cannot be looked into is another user's.
func opens(pid int, f *os.File) (opener, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	fds, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return opener{}, false
	}
	o, found := opener{pid: pid}, false
	for _, fd := range fds {
		if pid == os.Getpid() && fd.Name() == strconv.Itoa(int(f.Fd())) {
			continue
		}
		if isOpenAt(f, dir+"/fd/"+fd.Name()) {
			found = true
			o.inherited = o.inherited || survivesExec(dir+"/fdinfo/"+fd.Name())
		}
	}
	return o, found
}

// isOpenAt tells whether a link of /proc/PID/fd is the file. The name is compared first: to stat whatever a
// process has open could hang on a file system that does not answer. A file that was replaced keeps its name, and one
// that replaced it has the same up to the first dot.
func isOpenAt(f *os.File, link string) bool {
	target, err := os.Readlink(link)
	name, _, _ := strings.Cut(filepath.Base(f.Name()), ".")
	if err != nil || !strings.Contains(target, name) {
		return false
	}
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(link)
	return err == nil && os.SameFile(ours, theirs)
}

// survivesExec tells from /proc/PID/fdinfo/N whether a descriptor is handed on to the next program.
func survivesExec(fdinfo string) bool {
	text, err := os.ReadFile(fdinfo)
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut(string(text), "flags:")
	if !found {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(word), 8, 64)
	return err == nil && flags&unix.O_CLOEXEC == 0
}

// age is how long the oldest of some processes has run.
func age(pids []int) time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	word, _, _ := strings.Cut(string(text), " ")
	up, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	var oldest time.Duration
	for _, pid := range pids {
		if p, ok := readProcess(pid); ok {
			ran := time.Duration((up - float64(p.start)/ticksPerSecond) * float64(time.Second))
			oldest = max(oldest, ran)
		}
	}
	return oldest
}

// supported tells whether the group of a former procedure can be found here.
func supported() error { return nil }

// allPIDs lists the processes.
func allPIDs() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return nil, &os.PathError{Op: "read", Path: "/proc", Err: fs.ErrNotExist}
	}
	return pids, nil
}

// lastPID is the pid that was given out last; 0 when it cannot be told.
func lastPID() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return 0
	}
	pid, _ := strconv.Atoi(words[len(words)-1])
	return pid
}

// awaitEnd waits until a process has ended and leaves it unreaped, so that its pid, and with it its group's id,
// cannot be given out again before the rest of the group was killed.
func awaitEnd(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
