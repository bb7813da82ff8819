package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// Config is a composition's daolease.yaml with its defaults filled in (SPEC 8). It is read once, and never
// changed afterwards: a new reading makes a new Config.
type Config struct {
	Grantor     string        `yaml:"grantor"`
	Attribution string        `yaml:"attribution"` // path or owner
	Cadence     time.Duration `yaml:"cadence"`     // the most between two completed passes
	Tolerance   time.Duration `yaml:"tolerance"`   // flight time and clock rate skew
	Ticks       string        `yaml:"ticks"`       // host or external
	DrainBudget int           `yaml:"drain_budget"`
	Retention   Retention     `yaml:"retention"`
	Reclaim     Reclaim       `yaml:"reclaim"`
	Subjects    []SubjectRule `yaml:"subjects"`

	// Units is the table of units. It does not pass through viper, which would fold the case of the names.
	Units lease.Units `yaml:"-"`

	file   string         // where it was read, for messages
	of     string         // the fingerprint of the text
	lines  map[string]int // the line of each key that was given
	table  map[string]int64
	anchor spanUnit // the finest unit of the table that is known by name
}

// Retention is how many bytes of each medium are kept; 0 keeps everything.
type Retention struct {
	Holders byteSize `yaml:"holders"`
	Ticks   byteSize `yaml:"ticks"`
	Grantor byteSize `yaml:"grantor"`
	Ledger  byteSize `yaml:"ledger"`
}

// Reclaim is how procedures are scheduled.
type Reclaim struct {
	Parallel int           `yaml:"parallel"`
	Wait     time.Duration `yaml:"wait"` // the most that one pass waits for them in all
	Retry    Retry         `yaml:"retry"`
}

// Retry is how the delay between two attempts grows. Initial 0 tries at every pass.
type Retry struct {
	Initial time.Duration `yaml:"initial"`
	Max     time.Duration `yaml:"max"`
}

// SubjectRule is one entry of subjects: what is granted on the subjects that it matches, and how they are
// taken back.
type SubjectRule struct {
	Match    string        `yaml:"match"`
	Duration time.Duration `yaml:"duration"` // granted when none is asked
	Longest  time.Duration `yaml:"longest"`  // the most that is granted
	Max      time.Duration `yaml:"max"`      // the cap; 0: none
	Holders  []string      `yaml:"holders"`
	Answer   string        `yaml:"answer"` // auto or never
	Slots    int           `yaml:"slots"`  // live leases at a time on one subject; 0: any number
	Limit    int           `yaml:"limit"`  // live leases of one holder under this entry; 0: any number
	Reclaim  argv          `yaml:"reclaim"`
	Timeout  time.Duration `yaml:"timeout"`

	// Index is the place of the entry in the list.
	Index int `yaml:"-"`
	// Command is Reclaim with its program found and checked; only after assemble. Empty: none.
	Command []string `yaml:"-"`

	subject glob
	holders []glob
}

// argv is a procedure's words; empty for none.
type argv []string

// maxConfig is the most bytes a configuration may have.
const maxConfig = 1 << 20

// loadConfig reads a configuration. Every refusal is exit 7.
func loadConfig(path string) (*Config, error) {
	raw, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return parseConfig(path, raw)
}

// readConfig reads the text of a configuration.
func readConfig(path string) ([]byte, error) {
	raw, err := readAtMost(path, maxConfig)
	if err != nil {
		return nil, fail(exitComposition, "", "%w", err)
	}
	return raw, nil
}

// readAtMost reads a regular file of a bounded size.
func readAtMost(path string, most int64) ([]byte, error) {
	// The stat comes first because opening a FIFO would wait.
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return raw, err
}

// parseConfig reads the text of a configuration: a strict walk that knows lines, then the decoding with
// defaults, then the relations between keys.
func parseConfig(file string, raw []byte) (*Config, error) {
	root, lines, err := readStrict(file, raw)
	if err != nil {
		return nil, err
	}
	c, err := decodeConfig(root)
	if err != nil {
		return nil, fail(exitComposition, "", "%s: %w", file, err)
	}
	c.file, c.lines, c.of = file, lines, fingerprint(raw)
	if err := c.fill(root); err != nil {
		return nil, err
	}
	return c, c.relations()
}

// refusal is one thing that is wrong with a configuration: where, what, and what would be right.
type refusal struct {
	file       string
	line       int
	key        string
	wrong      string
	wouldBeFit string
}

// Error is file:line: key: what is wrong; what would be right.
func (r *refusal) Error() string {
	text := fmt.Sprintf("%s:%d: ", r.file, r.line)
	if r.key != "" {
		text += r.key + ": "
	}
	text += r.wrong
	if r.wouldBeFit != "" {
		text += "; " + r.wouldBeFit
	}
	return text
}

func (r *refusal) exit() error { return &exitError{code: exitComposition, err: r} }

// refuse points at a key, or, where the key was left out, at the nearest one around it.
func (c *Config) refuse(key, right, format string, args ...any) error {
	return (&refusal{c.file, lineOf(c.lines, key), key, fmt.Sprintf(format, args...), right}).exit()
}

// startOnly names the keys in which two configurations differ although they change only at a start
// (SPEC 8, SIGHUP).
func (c *Config) startOnly(other *Config) []string {
	var keys []string
	if c.Grantor != other.Grantor {
		keys = append(keys, "grantor")
	}
	if c.Attribution != other.Attribution {
		keys = append(keys, "attribution")
	}
	if c.Ticks != other.Ticks {
		keys = append(keys, "ticks")
	}
	if !sameTable(c.table, other.table) {
		keys = append(keys, "units")
	}
	return keys
}

func sameTable(a, b map[string]int64) bool {
	for name, m := range a {
		if b[name] != m {
			return false
		}
	}
	return len(a) == len(b)
}

// external says that whoever appends ticks owns time.
func (c *Config) external() bool { return c.Ticks == "external" }

// byOwner says that authors are told by the owners of files.
func (c *Config) byOwner() bool { return c.Attribution == "owner" }

// configFile is where the configuration of a folder lies.
func configFile(dir string) string { return filepath.Join(dir, "daolease.yaml") }
