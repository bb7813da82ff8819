//go:build unix

package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

func streamHow() stream.How { return stream.How{} }

// readAuthors reads a medium from its oldest value and asks for the author of each.
func readAuthors(t *testing.T, c *Composition, medium string, m stream.Medium) (authors []string, state stream.State, failed error) {
	t.Helper()
	cursor, err := m.Mint(context.Background(), stream.Oldest)
	if err != nil {
		t.Fatal(err)
	}
	a := m.Read(context.Background(), cursor, stream.Budget{}, func(v stream.Value) bool {
		author, err := c.attribution.Author(context.Background(), medium, v)
		if err != nil {
			failed = err
			return false
		}
		authors = append(authors, author)
		return true
	})
	return authors, a.State, failed
}

const renewal = `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"L"}` + "\n"

func TestPathAttribution(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "grantor: boss\n"+tinyConfig)
	for medium, want := range map[string]string{mediumGrantor: "boss", "alice": "alice"} {
		if got, err := c.attribution.Author(context.Background(), medium, stream.Value{}); err != nil || got != want {
			t.Errorf("%s: %q, %v", medium, got, err)
		}
		if got, sole := c.attribution.Sole(medium); !sole || got != want {
			t.Errorf("%s is of one author: %q, %v", medium, got, sole)
		}
	}
	if w.users.asked != 0 {
		t.Error("users were asked for under path")
	}
}

// A medium or folder that others can write, or that is another's, is not read, and is again once that is mended.
func TestWhatOthersCanWriteIsNotRead(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, tinyConfig)
	if err := c.makeHolder("alice"); err != nil {
		t.Fatal(err)
	}
	m, err := c.holderStream("alice")
	if err != nil {
		t.Fatal(err)
	}
	dir := c.holderDir("alice")
	writeFile(t, m.Path(), renewal, 0o644)
	count := func() int {
		authors, _, _ := readAuthors(t, c, "alice", m)
		return len(authors)
	}
	if count() != 1 {
		t.Fatal("it is not read as it stands")
	}
	type change struct{ spoil, mend func() }
	changes := map[string]change{
		"file":   {func() { chmod(t, 0o664, m.Path()) }, func() { chmod(t, 0o644, m.Path()) }},
		"others": {func() { chmod(t, 0o646, m.Path()) }, func() { chmod(t, 0o644, m.Path()) }},
		"folder": {func() { chmod(t, 0o775, dir) }, func() { chmod(t, 0o755, dir) }},
		"link": {func() {
			if err := errors.Join(os.Rename(dir, dir+"x"), os.Symlink(dir+"x", dir)); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if err := errors.Join(os.Remove(dir), os.Rename(dir+"x", dir)); err != nil {
				t.Fatal(err)
			}
		}},
	}
	if os.Geteuid() == 0 {
		changes["owner"] = change{func() { chown(t, 1002, m.Path()) }, func() { chown(t, 0, m.Path()) }}
	}
	for name, change := range changes {
		change.spoil()
		if count() != 0 {
			t.Errorf("%s: it is read", name)
		}
		change.mend()
		if count() != 1 {
			t.Errorf("%s: mended, and not read", name)
		}
	}
	if os.Geteuid() == 0 {
		chown(t, 1001, dir)
		if count() != 1 {
			t.Error("a file of root's in alice's folder is not read")
		}
	}
}

func TestOwnerAttribution(t *testing.T) {
	asRoot(t)
	w := newFakeWorld(t)
	c := w.composition(t, "attribution: owner\ngrantor: me\n"+tinyConfig)
	w.users.set(map[int]string{0: "me", 1001: "alice", 1002: "bob", 1003: "uid-1004"}, nil)
	for _, x := range []struct {
		name         string
		folder, file int
		want         string
	}{
		{"alice", 1001, 1001, "alice"},
		{"alice@laptop", 1001, 1001, "alice@laptop"},
		{"alice@", 1001, 1001, "alice@"},
		{"alicex", 1001, 1001, lease.Nobody},
		{"bob", 1001, 1001, lease.Nobody},
		{"bob@h", 1002, 1001, lease.Nobody},
		{"bob@i", 1001, 1002, lease.Nobody},
		{"bob@j", 0, 1002, lease.Nobody},
		{"bob@k", 1002, 0, lease.Nobody},
		{"uid-4242", 4242, 4242, "uid-4242"},
		{"uid-4242@h", 4242, 4242, "uid-4242@h"},
		{"uid-42", 4242, 4242, lease.Nobody},
		{"uid-1004", 1003, 1003, lease.Nobody},
		{"uid-1003", 1003, 1003, "uid-1003"},
	} {
		if err := c.makeHolder(x.name); err != nil {
			t.Fatal(err)
		}
		m, err := c.holderStream(x.name)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, m.Path(), renewal, 0o644)
		chown(t, x.folder, c.holderDir(x.name))
		chown(t, x.file, m.Path())
		authors, _, err := readAuthors(t, c, x.name, m)
		if err != nil || len(authors) != 1 || authors[0] != x.want {
			t.Errorf("%s in a folder of %d, a file of %d: %q, %v; want %q", x.name, x.folder, x.file, authors, err, x.want)
		}
	}
	g, err := c.grantorStream()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, g.Path(), renewal, 0o644)
	if authors, _, err := readAuthors(t, c, mediumGrantor, g); err != nil || len(authors) != 1 || authors[0] != "me" {
		t.Errorf("the grantor: %q, %v", authors, err)
	}
	chown(t, 1001, g.Path())
	if authors, _, err := readAuthors(t, c, mediumGrantor, g); err != nil || len(authors) != 1 || authors[0] != lease.Nobody {
		t.Errorf("the grantor's file of alice: %q, %v", authors, err)
	}
	if a, b := c.attribution.Owner("alice"), c.attribution.Owner("alice@laptop"); a != b || a == c.attribution.Owner("uid-4242") {
		t.Errorf("fairness goes by user: %s %s", a, b)
	}
}

// Both files of a medium have to be of the same user, since values come from either.
func TestOwnerOfBothFiles(t *testing.T) {
	asRoot(t)
	w := newFakeWorld(t)
	c := w.composition(t, "attribution: owner\ngrantor: me\nretention: {holders: 4KiB}\n"+tinyConfig)
	if err := c.makeHolder("alice"); err != nil {
		t.Fatal(err)
	}
	chown(t, 1001, c.holderDir("alice"))
	m, err := c.holderStream("alice")
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := m.Append(context.Background(), stream.How{}, []byte(renewal[:len(renewal)-1])); err != nil {
			t.Fatal(err)
		}
	}
	authors, state, err := readAuthors(t, c, "alice", m)
	if err != nil || state != stream.Blocked || len(authors) < 2 || authors[0] != "alice" || authors[len(authors)-1] != "alice" {
		t.Fatalf("%d authors, %v, %v", len(authors), state, err)
	}
	chown(t, 1002, m.Path()+".1")
	authors, _, err = readAuthors(t, c, "alice", m)
	if err != nil || len(authors) == 0 || authors[0] != lease.Nobody {
		t.Errorf("a former file of bob's: %q, %v", authors, err)
	}
	_ = w
}

// A lookup that fails, or that loses a known name, leaves the fact before which it was; a number that never
// had a name is one.
func TestNamesThatCannotBeToldNow(t *testing.T) {
	w := newFakeWorld(t)
	c := w.composition(t, "attribution: owner\ngrantor: me\n"+tinyConfig)
	a := c.attribution
	w.users.set(map[int]string{1001: "alice"}, nil)
	ask := func(uid int) (string, error) { return a.user(uid) }
	if name, err := ask(1001); err != nil || name != "alice" {
		t.Fatal(name, err)
	}
	asked := w.users.asked
	if name, _ := ask(1001); name != "alice" || w.users.asked != asked {
		t.Error("asked again at once")
	}
	later := func() { w.clock.run(namesLast) }
	w.users.set(nil, errors.New("directory down"))
	later()
	if _, err := ask(1001); !errors.Is(err, lease.ErrUnresolved) {
		t.Errorf("a lookup that fails: %v", err)
	}
	if _, err := ask(1002); !errors.Is(err, lease.ErrUnresolved) {
		t.Errorf("a lookup that fails for one never seen: %v", err)
	}
	w.users.set(nil, nil)
	if _, err := ask(1001); !errors.Is(err, lease.ErrUnresolved) {
		t.Errorf("a known name that is lost: %v", err)
	}
	if name, err := ask(1002); err != nil || name != "uid-1002" {
		t.Errorf("never a name: %q, %v", name, err)
	}
	w.users.set(map[int]string{1001: "alice", 1002: "bob"}, nil)
	later()
	if name, err := ask(1001); err != nil || name != "alice" {
		t.Errorf("known again: %q, %v", name, err)
	}
	if name, err := ask(1002); err != nil || name != "bob" {
		t.Errorf("it got a name: %q, %v", name, err)
	}

	// What one process knew, the next one does too.
	text, err := json.Marshal(a.News())
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	if err := json.Unmarshal(text, &known); err != nil || !maps.Equal(known, map[string]string{"1001": "alice", "1002": "bob"}) {
		t.Fatalf("%v, %v", known, err)
	}
	next := newAttribution(c)
	next.Remember(known)
	w.users.set(nil, nil)
	if _, err := next.user(1001); !errors.Is(err, lease.ErrUnresolved) {
		t.Errorf("lost over a restart: %v", err)
	}
}

func TestSystemUsers(t *testing.T) {
	users := systemUsers()
	if name, known, err := users.name(0); err != nil || !known || name != "root" {
		t.Errorf("0: %q, %v, %v", name, known, err)
	}
	if name, known, err := users.name(123456789); err != nil || known {
		t.Errorf("123456789: %q, %v, %v", name, known, err)
	}
	if _, _, err := users.name(-1); err == nil {
		t.Error("-1 is a user")
	}
}

func TestUserSources(t *testing.T) {
	dir := t.TempDir()
	passwd := filepath.Join(dir, "passwd")
	writeFile(t, passwd, "root:x:0:0::/:/bin/sh\n# comment\nal:x:7:7::/:/bin/sh\nal2:x:7:8::/:/bin/sh\n:x:9:9::/:\n", 0o644)
	file := userDB{getent: filepath.Join(dir, "none"), passwd: passwd, patience: systemUsers().(userDB).patience}
	if name, known, err := file.name(7); err != nil || !known || name != "al" {
		t.Errorf("from the file: %q, %v, %v", name, known, err)
	}
	if _, known, err := file.name(8); err != nil || known {
		t.Errorf("not there: %v, %v", known, err)
	}
	if _, known, err := file.name(9); err != nil || known {
		t.Errorf("an empty name: %v, %v", known, err)
	}
	file.passwd = filepath.Join(dir, "gone")
	if _, _, err := file.name(7); err == nil {
		t.Error("no source at all is no answer")
	}
	for script, want := range map[string]struct {
		name  string
		known bool
		fails bool
	}{
		`echo "al:x:$2:7::/:"`: {"al", true, false},
		`exit 2`:               {"", false, false},
		`exit 1`:               {"", false, true},
		`echo "al:x:99:7::/:"`: {"", false, true},
		`echo nonsense`:        {"", false, true},
		`kill -9 $$`:           {"", false, true},
		`test -z "$HOME" || exit 1; echo "al:x:$2:7::/:"`: {"al", true, false},
	} {
		getent := filepath.Join(dir, "getent")
		writeFile(t, getent, "#!/bin/sh\n"+script+"\n", 0o755)
		db := file
		db.getent, db.passwd = getent, passwd
		name, known, err := db.name(7)
		if name != want.name || known != want.known || (err != nil) != want.fails {
			t.Errorf("%s: %q, %v, %v", script, name, known, err)
		}
	}
}

func TestBears(t *testing.T) {
	for _, c := range []struct {
		name, user string
		want       bool
	}{
		{"a", "a", true}, {"a@h", "a", true}, {"a@", "a", true}, {"ab", "a", false}, {"a", "ab", false}, {"b", "a", false},
		{"A", "a", false}, {"a", "", false}, {"@x", "", false}, {"a@b@c", "a", true}, {"a@b@c", "a@b", true},
	} {
		if bears(c.name, c.user) != c.want {
			t.Errorf("%q and %q: %v", c.name, c.user, !c.want)
		}
	}
}

// What was admitted under another owner before makes the medium nobody's, also when each file fits its folder.
func TestOwnersHaveToAgree(t *testing.T) {
	w := newFakeWorld(t)
	a := newAttribution(w.composition(t, "attribution: owner\ngrantor: me\n"+tinyConfig))
	if _, ok := a.soleOwner("x"); ok {
		t.Error("a medium of which nothing was read has an owner")
	}
	a.seen["x"] = map[string]ownership{"facts.jsonl": {1001, 1001}}
	if uid, ok := a.soleOwner("x"); !ok || uid != 1001 {
		t.Errorf("%d, %v", uid, ok)
	}
	a.seen["x"]["facts.jsonl.1"] = ownership{1002, 1002}
	if uid, ok := a.soleOwner("x"); ok {
		t.Errorf("two owners, and it is %d's", uid)
	}
}

// A user who is called like another's number does not pass for that other.
func TestUsersNamedLikeNumbers(t *testing.T) {
	w := newFakeWorld(t)
	w.users.set(map[int]string{7: "uid-8", 9: "uid-x"}, nil)
	for uid, want := range map[int]string{7: "uid-7", 8: "uid-8", 9: "uid-x"} {
		if got, err := w.nameOf(uid); err != nil || got != want {
			t.Errorf("%d: %q, %v", uid, got, err)
		}
	}
}
