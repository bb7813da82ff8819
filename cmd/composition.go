package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Composition is a folder with a configuration, the grantor's media and the holders' (SPEC 8).
type Composition struct {
	Dir    string // absolute, without symlinks
	Config *Config

	app         *App
	attribution *attribution
}

// The names of the media that are no holder's, as reports and cursors carry them.
const (
	mediumGrantor = "grantor"
	mediumTicks   = "ticks"
)

// find opens the composition that a command is about: the folder that -C or DAOLEASE_DIR names, else the
// nearest one upward. It loads the configuration, and refuses a broken one (exit 7).
func find(app *App) (*Composition, error) {
	dir, err := findDir(app)
	if err != nil {
		return nil, err
	}
	return openComposition(app, dir)
}

// openComposition opens the composition in a folder.
func openComposition(app *App, dir string) (*Composition, error) {
	config, err := loadConfig(configFile(dir))
	if err != nil {
		return nil, err
	}
	return newComposition(app, dir, config), nil
}

// newComposition is a composition whose configuration was read already.
func newComposition(app *App, dir string, config *Config) *Composition {
	c := &Composition{Dir: dir, Config: config, app: app}
	c.attribution = newAttribution(c)
	return c
}

const initHint = "daolease init DIR makes a composition that works as it stands"

func findDir(app *App) (string, error) {
	named := app.dirFlag
	if named == "" {
		named = app.Env("DAOLEASE_DIR")
	}
	cwd, err := app.Cwd()
	if err != nil && (named == "" || !filepath.IsAbs(named)) {
		return "", fail(exitComposition, "name a composition with -C DIR", "the working folder cannot be told: %w", err)
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(cwd, named)
		}
		dir, err := compositionIn(named)
		if err == nil && dir == "" {
			err = fail(exitComposition, initHint, "%s has no daolease.yaml", named)
		}
		return dir, err
	}
	for at := cwd; ; at = filepath.Dir(at) {
		if dir, err := compositionIn(at); err != nil || dir != "" {
			return dir, err
		}
		if at == filepath.Dir(at) {
			return "", fail(exitComposition, initHint+"; -C DIR or DAOLEASE_DIR names one", "no daolease.yaml in %s or above", cwd)
		}
	}
}

// compositionIn is the composition that a folder is or has; empty when it has none. A folder that cannot be
// looked into is an error: going on upward could find another composition than the one that is meant.
func compositionIn(at string) (string, error) {
	for _, dir := range []string{at, filepath.Join(at, ".daolease")} {
		_, err := os.Stat(configFile(dir))
		switch {
		case err == nil:
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				return "", fail(exitComposition, "", "%w", err)
			}
			return real, nil
		case !errors.Is(err, fs.ErrNotExist) && !isNotDir(err):
			return "", fail(exitComposition, "", "%w", err)
		}
	}
	return "", nil
}

// path is a path within the composition.
func (c *Composition) path(elements ...string) string {
	return filepath.Join(append([]string{c.Dir}, elements...)...)
}

// The grantor's files that are no media.
func (c *Composition) grantorDir() string { return c.path("grantor") }
func (c *Composition) judgeLock() string  { return c.path("grantor", "judge.lock") }
func (c *Composition) nextLock() string   { return c.path("grantor", "judge-next.lock") }
func (c *Composition) runDir() string     { return c.path("grantor", "run") }
func (c *Composition) tokenFile() string  { return c.path("grantor", "token") }
func (c *Composition) hooksDir() string   { return c.path("hooks") }

// A holder's folder, and its files that are no media.
func (c *Composition) holdersDir() string            { return c.path("holders") }
func (c *Composition) holderDir(name string) string  { return c.path("holders", name) }
func (c *Composition) notes(name string) string      { return c.path("holders", name, "notes.json") }
func (c *Composition) holderLock(name string) string { return c.path("holders", name, "holder.lock") }

// grantorStream is the grantor's stream. The judge alone evicts it.
func (c *Composition) grantorStream() (*stream.File, error) {
	return c.open(c.path("grantor", "facts.jsonl"), stream.FileOptions{
		Name: mediumGrantor, Mode: 0o644, Retention: c.Config.Retention.Grantor.retention(),
		Admit: c.attribution.admit(mediumGrantor),
	})
}

// ticks is the judge's tick stream.
func (c *Composition) ticks() (*stream.File, error) {
	return c.open(c.path("grantor", "ticks.jsonl"), stream.FileOptions{
		Name: mediumTicks, Mode: 0o644, Retention: c.Config.Retention.Ticks.retention(), SelfEvict: true,
		Admit: c.attribution.admit(mediumTicks),
	})
}

// wall is the notes of the time of day.
func (c *Composition) wall() (*stream.File, error) {
	return c.open(c.path("grantor", "wall.jsonl"), stream.FileOptions{
		Name: "wall", Mode: 0o644, Retention: c.Config.Retention.Ticks.retention(), SelfEvict: true,
		Admit: admitPlain,
	})
}

// policy is the grantor's revocations. The judge alone evicts it, never past the ledger's cursor.
func (c *Composition) policy() (*stream.File, error) {
	return c.open(c.path("grantor", "policy.jsonl"), stream.FileOptions{
		Name: "policy", Mode: 0o600, Retention: c.Config.Retention.Ticks.retention(), Admit: admitPlain,
	})
}

// ledger is the judge's own, in the given format. It is compacted, never evicted.
func (c *Composition) ledger(format int) (*stream.File, error) {
	return c.open(c.path("grantor", "ledger.jsonl"), stream.FileOptions{
		Name: "ledger", Mode: 0o600, Format: format, Admit: admitPlain,
	})
}

// holderStream is a holder's proposals, renewals and releases.
func (c *Composition) holderStream(name string) (*stream.File, error) {
	return c.open(c.path("holders", name, "facts.jsonl"), stream.FileOptions{
		Name: "holders/" + name, Mode: 0o644, Retention: c.Config.Retention.Holders.retention(), SelfEvict: true,
		Admit: c.attribution.admit(name),
	})
}

// holderTicks is a holder's tick stream.
func (c *Composition) holderTicks(name string) (*stream.File, error) {
	return c.open(c.path("holders", name, "ticks.jsonl"), stream.FileOptions{
		Name: "holders/" + name + "/ticks", Mode: 0o644, Retention: c.Config.Retention.Ticks.retention(), SelfEvict: true,
		Admit: admitPlain,
	})
}

// open opens a file medium whose new files get the owner of the folder they lie in. One that is kept whole never
// evicts.
func (c *Composition) open(path string, o stream.FileOptions) (*stream.File, error) {
	o.SelfEvict = o.SelfEvict && o.Retention.Capacity > 0
	o.Created = c.app.adopt
	return stream.OpenFile(path, o)
}

// retention is the size as a medium takes it.
func (b byteSize) retention() stream.Retention { return stream.Retention{Capacity: int64(b)} }

// junkEntry is something in holders/ that is no holder's folder.
type junkEntry struct{ Name, Why string }

// holderNames are the holders that have a folder, sorted, and what else lies among the folders.
func (c *Composition) holderNames() (names []string, junk []junkEntry, err error) {
	entries, err := os.ReadDir(c.holdersDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		if isFresh(e.Name()) {
			continue
		}
		if why := c.notHolder(e); why != "" {
			junk = append(junk, junkEntry{e.Name(), why})
		} else {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, junk, nil
}

func (c *Composition) notHolder(e fs.DirEntry) string {
	if err := c.holderName(e.Name()); err != nil {
		return err.Error()
	}
	if !e.IsDir() {
		return "it is no folder"
	}
	return ""
}

// holderName refuses what cannot name a holder here: what is no name, the grantor's, and the two by which
// reports name the grantor's own media.
func (c *Composition) holderName(name string) error {
	switch err := lease.ValidName(name); {
	case err != nil:
		return err
	case name == c.Config.Grantor:
		return errors.New("it is the grantor's name")
	case name == mediumGrantor || name == mediumTicks:
		return errors.New("it is the name of one of the grantor's media")
	}
	return nil
}

// judgeAdapter makes the adapter of the judge's tick stream, on the machine's running time (SPEC 5).
func (c *Composition) judgeAdapter() (*adapter, error) {
	medium, err := c.ticks()
	if err != nil {
		return nil, err
	}
	return newAdapter(c.Config, medium, c.app.Clock.Running, c.app.Clock.BootID), nil
}

// holderAdapter makes the adapter of a holder's tick stream, on a clock that runs while the machine sleeps.
func (c *Composition) holderAdapter(name string) (*adapter, error) {
	medium, err := c.holderTicks(name)
	if err != nil {
		return nil, err
	}
	a := newAdapter(c.Config, medium, c.app.Clock.Boot, c.app.Clock.BootID)
	a.holder = true
	return a, nil
}
