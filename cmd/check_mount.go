package cmd

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mount is one line of mountinfo, as far as check needs it.
type mount struct {
	point, kind string
	options     []string // of the mount and of its file system
}

// network compares the attribute caches of network mounts with durations and tolerance (SPEC 3, Watching). Where
// the system has no list of mounts nothing is said.
func (k *checker) network() {
	text, err := os.ReadFile(k.mounts)
	if err != nil {
		return
	}
	said := map[string]bool{}
	for _, path := range []string{k.comp.Dir, k.comp.grantorDir(), k.comp.holdersDir()} {
		if m, found := mountOf(string(text), path); found && !said[m.point] {
			said[m.point] = true
			k.mount(m)
		}
	}
}

// mount advises on one mount. A renewal may stay unseen for as long as attributes are cached; then a holder that
// renews at a third must not look silent.
func (k *checker) mount(m mount) {
	if local := m.localLocks(); local != "" {
		k.problem(m.point, "mount it without "+local, "locks are this machine's alone on this %s mount (%s): two machines may append or judge at once", m.kind, local)
	}
	cache, cached := m.attributeCache()
	if !cached || cache == 0 {
		return
	}
	c := k.comp.Config
	for i := range c.Subjects {
		r := &c.Subjects[i]
		if cache >= r.Duration*2/3 {
			k.problem(m.point, fmt.Sprintf("mount it with actimeo=1 (or noac), or raise duration above %s", formatSpan(cache*3/2)),
				"this %s mount caches attributes for up to %s: with a duration of %s on %s a renewal, made every %s, may be seen too late",
				m.kind, formatSpan(cache), formatSpan(r.Duration), r.Match, formatSpan(r.Duration/3))
		}
	}
	if cache > c.Tolerance {
		k.advice(m.point, fmt.Sprintf("set tolerance to %s, or mount it with actimeo=%d", formatSpan(cache), max(1, int(c.Tolerance/time.Second))),
			"this %s mount caches attributes for up to %s, longer than the tolerance of %s: what was appended in time may be seen later than that",
			m.kind, formatSpan(cache), formatSpan(c.Tolerance))
	}
}

// mountOf finds the mount that a path lies on: the last of those with the longest mount point.
func mountOf(mountinfo, path string) (mount, bool) {
	var best mount
	found := false
	for line := range strings.Lines(mountinfo) {
		m, sound := parseMount(line)
		if sound && isBelow(path, m.point) && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

func isBelow(path, point string) bool {
	return path == point || point == "/" || strings.HasPrefix(path, point+"/")
}

// parseMount reads a line: ids and root, mount point, options, optional fields, a dash, kind, source, options.
func parseMount(line string) (mount, bool) {
	before, after, found := strings.Cut(line, " - ")
	head, tail := strings.Fields(before), strings.Fields(after)
	if !found || len(head) < 6 || len(tail) < 1 {
		return mount{}, false
	}
	m := mount{point: unescapeMount(head[4]), kind: tail[0], options: strings.Split(head[5], ",")}
	if len(tail) > 2 {
		m.options = append(m.options, strings.Split(tail[2], ",")...)
	}
	return m, true
}

// unescapeMount reads the octal escapes of blanks and backslashes.
func unescapeMount(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// attributeCache is the longest for which a network mount shows old attributes; false for a mount that is none,
// or of a kind whose caches say nothing about themselves.
func (m mount) attributeCache() (time.Duration, bool) {
	var longest time.Duration
	switch m.kind {
	case "nfs", "nfs4":
		longest = 60 * time.Second // of regular files and of folders, unless the options say otherwise
	case "cifs", "smb3":
		longest = time.Second
	default:
		return 0, false
	}
	if slices.Contains(m.options, "noac") {
		return 0, true
	}
	given := time.Duration(-1)
	var file, dir = longest, longest
	for _, option := range m.options {
		name, value, _ := strings.Cut(option, "=")
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			continue
		}
		switch d := time.Duration(n) * time.Second; name {
		case "actimeo":
			given = d
		case "acregmax":
			file = d
		case "acdirmax":
			dir = d
		}
	}
	if given >= 0 {
		return given, true
	}
	return max(file, dir), true
}

// localLocks is the option that keeps locks from other machines; empty where there is none.
func (m mount) localLocks() string {
	if m.kind != "nfs" && m.kind != "nfs4" {
		return ""
	}
	for _, option := range m.options {
		switch option {
		case "nolock", "local_lock=flock", "local_lock=all":
			return option
		}
	}
	return ""
}
