package hooks

import (
	"slices"
	"strings"
	"testing"
)

func nothing(string) string { return "" }

func TestCleanEnvIsSmall(t *testing.T) {
	outside := map[string]string{
		"HOME": "/home/j", "TMPDIR": "/var/tmp", "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC",
		"PATH": "/evil", "LD_PRELOAD": "/evil.so", "BASH_ENV": "/evil.sh", "IFS": "x", "USER": "j",
	}
	env, dropped := CleanEnv(map[string]string{"DAOLEASE_LEASE": "L"}, func(k string) string { return outside[k] })
	want := []string{"DAOLEASE_LEASE=L", "HOME=/home/j", "LANG=C.UTF-8", "LC_ALL=C", "PATH=" + fixedPath, "TMPDIR=/var/tmp", "TZ=UTC"}
	if !slices.Equal(env, want) || len(dropped) != 0 {
		t.Fatalf("env %q, dropped %q; want %q and none", env, dropped, want)
	}
}

func TestCleanEnvFromNothing(t *testing.T) {
	env, _ := CleanEnv(nil, nothing)
	if want := []string{"HOME=/", "PATH=" + fixedPath, "TMPDIR=/tmp"}; !slices.Equal(env, want) {
		t.Fatalf("env %q, want %q", env, want)
	}
}

func TestCleanEnvDropsWhatTheSystemCannotCarry(t *testing.T) {
	room := maxVariable - len("FITS=") - 1
	vars := map[string]string{
		"NUL": "a\x00b", "NO=KEY": "x", "": "x", "N\x00K": "x",
		"FITS": strings.Repeat("s", room), "OVER": strings.Repeat("s", room+1),
	}
	env, dropped := CleanEnv(vars, nothing)
	if want := []string{"", "NO=KEY", "NUL", "N\x00K", "OVER"}; !sameSet(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "FITS=") }) || len(env) != 4 {
		t.Errorf("%d variables, want FITS, HOME, PATH and TMPDIR", len(env))
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
