package cmd

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func TestFind(t *testing.T) {
	w := newFakeWorld(t)
	root := w.dir()
	for _, dir := range []string{"a/b/c", "p/.daolease", "p/q", "other/.daolease", "empty"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"a", "p/.daolease", "other", "other/.daolease"} {
		writeFile(t, configFile(filepath.Join(root, dir)), tinyConfig, 0o644)
	}
	if err := os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cwd, flag, env, want string }{
		{"a", "", "", "a"},
		{"a/b/c", "", "", "a"},
		{"p/q", "", "", "p/.daolease"},
		{"other", "", "", "other"},
		{"p/q", "", "../../a", "a"},
		{"p/q", "../../other", "../../a", "other"},
		{"empty", filepath.Join(root, "a"), "", "a"},
		{"empty", "../p", "", "p/.daolease"},
		{"empty", "../link", "", "a"},
	} {
		w.Cwd = func() (string, error) { return filepath.Join(root, c.cwd), nil }
		w.env["DAOLEASE_DIR"], w.dirFlag = c.env, c.flag
		comp, err := find(w.App)
		if err != nil || comp.Dir != filepath.Join(root, c.want) {
			t.Errorf("%+v: %+v, %v", c, comp, err)
		}
	}
	w.env["DAOLEASE_DIR"], w.dirFlag = "", ""
	w.Cwd = func() (string, error) { return filepath.Join(root, "empty"), nil }
	_, err := find(w.App)
	wantExit(t, err, exitComposition, "no daolease.yaml", "daolease init")
	w.dirFlag = filepath.Join(root, "empty")
	_, err = find(w.App)
	wantExit(t, err, exitComposition, "has no daolease.yaml", "daolease init")
	w.dirFlag = filepath.Join(root, "gone")
	_, err = find(w.App)
	wantExit(t, err, exitComposition, "has no daolease.yaml")
	w.dirFlag = "rel"
	w.Cwd = func() (string, error) { return "", os.ErrNotExist }
	_, err = find(w.App)
	wantExit(t, err, exitComposition, "working folder")
	writeFile(t, configFile(filepath.Join(root, "a")), "rooot: 1\n", 0o644)
	w.dirFlag = filepath.Join(root, "a")
	_, err = find(w.App)
	wantExit(t, err, exitComposition, "daolease.yaml:1: rooot")
}

// Media have the names, modes and owners of SPEC 8, whatever the umask, and are really read and written.
func TestMedia(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "retention: {holders: 8KiB, ticks: 4KiB, grantor: 16KiB}\n"+tinyConfig)
	defer setUmask(setUmask(0o077))
	if err := c.makeHolder("alice"); err != nil {
		t.Fatal(err)
	}
	media := map[string]func() (*stream.File, error){
		"grantor/facts.jsonl": c.grantorStream, "grantor/ticks.jsonl": c.ticks, "grantor/wall.jsonl": c.wall,
		"grantor/policy.jsonl": c.policy, "grantor/ledger.jsonl": func() (*stream.File, error) { return c.ledger(1) },
		"holders/alice/facts.jsonl": func() (*stream.File, error) { return c.holderStream("alice") },
		"holders/alice/ticks.jsonl": func() (*stream.File, error) { return c.holderTicks("alice") },
	}
	private := []string{"grantor/policy.jsonl", "grantor/ledger.jsonl"}
	var cursors []stream.Cursor
	for path, open := range media {
		m, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if m.Path() != c.path(path) {
			t.Errorf("%s lies at %s", path, m.Path())
		}
		ctx := context.Background()
		if _, err := m.Append(ctx, stream.How{}, []byte(`{"a":1}`)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		cursor, err := m.Mint(ctx, stream.Oldest)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if a := m.Read(ctx, cursor, stream.Budget{}, func(stream.Value) bool { n++; return true }); a.State != stream.Blocked || n != 1 {
			t.Errorf("%s: %v after %d values, %v", path, a.State, n, a.Err)
		}
		for _, other := range cursors {
			if a := m.Read(ctx, other, stream.Budget{}, func(stream.Value) bool { return true }); a.State != stream.Mismatch {
				t.Errorf("%s takes the cursor of another medium: %v", path, a.State)
			}
		}
		cursors = append(cursors, cursor)
		want := os.FileMode(0o644)
		if slices.Contains(private, path) {
			want = 0o600
		}
		if hasOwners {
			wantMode(t, c.path(path), want)
			wantMode(t, c.path(path+".lock"), 0o600)
		}
	}
	if hasOwners {
		for path, want := range map[string]os.FileMode{"grantor": 0o755, "grantor/run": 0o700, "holders": 0o755, "holders/alice": 0o755} {
			wantMode(t, c.path(path), want)
		}
	}
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	fi, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if got := fi.Mode() & (os.ModePerm | os.ModeSticky); got != want {
		t.Errorf("%s has mode %v, want %v", path, got, want)
	}
}

// Retention is what the configuration says, and only the judge evicts the grantor's stream.
func TestMediaRetention(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "retention: {holders: 8KiB, ticks: 4KiB, grantor: 4KiB}\n"+tinyConfig)
	if err := c.makeHolder("alice"); err != nil {
		t.Fatal(err)
	}
	fill := func(m *stream.File) (evicted bool) {
		line := []byte(`"` + strings.Repeat("x", 1000) + `"`)
		for range 20 {
			if _, err := m.Append(context.Background(), stream.How{}, line); err != nil {
				t.Fatal(err)
			}
		}
		_, err := os.Stat(m.Path() + ".1")
		return err == nil
	}
	for name, open := range map[string]func() (*stream.File, error){
		"holder": func() (*stream.File, error) { return c.holderStream("alice") }, "ticks": c.ticks, "wall": c.wall,
	} {
		m, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if !fill(m) {
			t.Errorf("%s never evicts", name)
		}
	}
	for name, open := range map[string]func() (*stream.File, error){"grantor": c.grantorStream, "policy": c.policy} {
		m, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if fill(m) {
			t.Errorf("%s evicts by itself", name)
		}
		newest, err := m.Mint(context.Background(), stream.Newest)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := m.Evict(context.Background(), newest); err != nil || !done {
			t.Errorf("%s cannot be evicted: %v, %v", name, done, err)
		}
	}
}

func TestHolderNames(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "grantor: boss\n"+tinyConfig)
	for _, name := range []string{"bob", "alice@h", "boss", "grantor", "ticks", ".hidden", "a b"} {
		if err := os.Mkdir(c.path("holders", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, c.path("holders", "file"), "", 0o644)
	if err := os.Symlink(c.path("holders", "bob"), c.path("holders", "zlink")); err != nil {
		t.Fatal(err)
	}
	names, junk, err := c.holderNames()
	if err != nil || !reflect.DeepEqual(names, []string{"alice@h", "bob"}) {
		t.Errorf("%v, %v", names, err)
	}
	var left []string
	for _, j := range junk {
		if j.Why == "" {
			t.Errorf("%s for no reason", j.Name)
		}
		left = append(left, j.Name)
	}
	slices.Sort(left)
	if want := []string{".hidden", "a b", "boss", "file", "grantor", "ticks", "zlink"}; !reflect.DeepEqual(left, want) {
		t.Errorf("junk %v, want %v", left, want)
	}
	for _, name := range []string{"boss", "grantor", "ticks", "a b"} {
		wantExit(t, c.makeHolder(name), exitUsage, "--as")
		wantExit(t, c.callerIsHolder(name), exitUsage, "--as")
	}
	if err := os.RemoveAll(c.holdersDir()); err != nil {
		t.Fatal(err)
	}
	if names, _, err := c.holderNames(); names != nil || err != nil {
		t.Errorf("without the folder: %v, %v", names, err)
	}
}

func TestHolderName(t *testing.T) {
	w := newFakeWorld(t)
	for _, c := range []struct{ flag, env, host, want string }{
		{"", "", "host", "me@host"},
		{"", "env", "host", "env"},
		{"flag", "env", "host", "flag"},
		{"", "", "my host.example", "me@my-host.example"},
		{"", "", strings.Repeat("h", 100), "me@" + strings.Repeat("h", 61)},
	} {
		w.asFlag, w.env["DAOLEASE_AS"] = c.flag, c.env
		w.Hostname = func() (string, error) { return c.host, nil }
		if got, err := w.holderName(); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	w.asFlag = "a b"
	_, err := w.holderName()
	wantExit(t, err, exitUsage, `"a b"`)
	w.asFlag, w.env["DAOLEASE_AS"] = "", ""
	w.users.set(nil, os.ErrDeadlineExceeded)
	if hasOwners {
		_, err = w.holderName()
		wantExit(t, err, exitFailure, "--as NAME")
	}
}
