package cmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMounts(t *testing.T) {
	const table = `21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 21 0:40 / /srv rw,relatime shared:2 - nfs4 host:/srv rw,vers=4.2,acregmin=1,acregmax=7,acdirmax=5,hard
31 30 0:41 / /srv/with\040blank rw - nfs host:/b rw,noac
32 30 0:42 / /srv/locks rw,relatime - nfs4 host:/l rw,actimeo=3
33 30 0:43 / /srv/locks rw,relatime - nfs host:/m rw,local_lock=all
34 30 0:44 / /srv/smb rw,relatime - cifs //host/s rw,actimeo=1
35 30 0:44 / /srv/smb3 rw,relatime - smb3 //host/s rw
nonsense
36 30 0:44 / /srv/plain rw - nfs4 host:/p
`
	for _, c := range []struct {
		path, point string
		cache       time.Duration
		network     bool
		local       string
	}{
		{"/home/me", "/", 0, false, ""},
		{"/srvx", "/", 0, false, ""},
		{"/srv", "/srv", 7 * time.Second, true, ""},
		{"/srv/a/b", "/srv", 7 * time.Second, true, ""},
		{"/srv/with blank/a", "/srv/with blank", 0, true, ""},
		{"/srv/locks/a", "/srv/locks", 60 * time.Second, true, "local_lock=all"}, // the later mount covers the earlier
		{"/srv/smb/a", "/srv/smb", time.Second, true, ""},
		{"/srv/smb3", "/srv/smb3", time.Second, true, ""},
		{"/srv/plain", "/srv/plain", 60 * time.Second, true, ""},
	} {
		m, found := mountOf(table, c.path)
		cache, network := m.attributeCache()
		if !found || m.point != c.point || cache != c.cache || network != c.network || m.localLocks() != c.local {
			t.Errorf("%s: %+v, %v %v %q", c.path, m, cache, network, m.localLocks())
		}
	}
	if _, found := mountOf("", "/srv"); found {
		t.Error("found a mount in nothing")
	}
}

// The cache of attributes is compared with what it delays, and with numbers.
func TestCheckOfANetworkMount(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	for options, want := range map[string][]string{
		"rw,actimeo=1": nil,
		"rw,actimeo=3": {"advice: this nfs4 mount caches attributes for up to 3s, longer than the tolerance of 2s: what was appended in time may be seen later than that; set tolerance to 3s, or mount it with actimeo=2"},
		"rw": {
			"problem: this nfs4 mount caches attributes for up to 1min: with a duration of 30s on * a renewal, made every 10s, may be seen too late; mount it with actimeo=1 (or noac), or raise duration above 1min30s",
			"advice: this nfs4 mount caches attributes for up to 1min, longer than the tolerance of 2s",
		},
		"rw,actimeo=1,nolock": {"problem: locks are this machine's alone on this nfs4 mount (nolock)"},
	} {
		k := newChecker(c)
		k.mounts = filepath.Join(t.TempDir(), "mountinfo")
		writeFile(t, k.mounts, "30 21 0:40 / "+c.Dir+" rw - nfs4 host:/srv "+options+"\n", 0o644)
		k.network()
		if len(k.report.Findings) != len(want) {
			t.Errorf("%s: %+v", options, k.report.Findings)
			continue
		}
		for i, f := range k.report.Findings {
			if text := f.Severity + ": " + f.Meaning + "; " + f.Remedy; !strings.HasPrefix(text, want[i]) || f.Place != c.Dir {
				t.Errorf("%s: %s\nwant %s", options, text, want[i])
			}
		}
	}
}
