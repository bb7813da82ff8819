package hooks

import (
	"maps"
	"slices"
	"strings"
)

// fixedPath is where programs are looked up, and the PATH that procedures get: never the caller's own.
const fixedPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// maxVariable is the size at which Linux refuses one "KEY=value", its NUL not counted (MAX_ARG_STRLEN).
const maxVariable = 128 << 10

// CleanEnv makes the small environment of a procedure (SPEC 10): the fixed PATH, HOME and TMPDIR (inherited, else
// / and /tmp), LANG, LC_ALL and TZ where inherit has them, and vars, which win. A variable that the system cannot
// carry (a NUL in it, a key that is no key, 128 KiB or more) is left out and named in dropped. Both are sorted.
func CleanEnv(vars map[string]string, inherit func(string) string) (env, dropped []string) {
	all := map[string]string{"PATH": fixedPath, "HOME": "/", "TMPDIR": "/tmp"}
	for _, key := range []string{"HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"} {
		if v := inherit(key); v != "" {
			all[key] = v
		}
	}
	maps.Copy(all, vars)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if v := key + "=" + all[key]; carries(key, v) {
			env = append(env, v)
		} else {
			dropped = append(dropped, key)
		}
	}
	return env, dropped
}

// carries tells whether the system can hand this variable to a process.
func carries(key, variable string) bool {
	return key != "" && !strings.Contains(key, "=") && !strings.Contains(variable, "\x00") && len(variable) < maxVariable
}
