package cmd

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/daolease/daolease/pkg/hooks"
	"github.com/daolease/daolease/pkg/lease"
)

// assemble finds and checks the program of every procedure (SPEC 8, 10), for a judge that is this user. It is a
// step of its own because a holder loads a configuration whose hooks it may not be able to see.
//
// A word without a slash is looked up once, in a fixed path; one with a slash is relative to the composition.
func (c *Config) assemble(dir string, uid int) error {
	for i := range c.Subjects {
		r := &c.Subjects[i]
		if len(r.Reclaim) == 0 {
			continue
		}
		program, err := findProgram(dir, r.Reclaim[0])
		if err == nil {
			err = hooks.Check(program, uid)
		}
		if err != nil {
			return c.refuseHook(ruleKey(i, "reclaim"), err)
		}
		r.Command = append([]string{program}, r.Reclaim[1:]...)
	}
	return nil
}

func findProgram(dir, word string) (string, error) {
	switch {
	case !strings.Contains(word, "/"):
		return hooks.LookPath(word)
	case filepath.IsAbs(word):
		return word, nil
	}
	return filepath.Join(dir, word), nil
}

func (c *Config) refuseHook(key string, err error) error {
	right := "write the path of a program, or none"
	if checked := new(hooks.CheckError); errors.As(err, &checked) && checked.Fix != "" {
		return c.refuse(key, checked.Fix, "hook %q %s", checked.Path, checked.Why)
	}
	return c.refuse(key, right, "%v", err)
}

// carries refuses a configuration in which a live lease matches no entry, or a unit of its terms is gone
// (SPEC 8).
func (c *Config) carries(id string, subject lease.Subject, terms ...lease.Duration) error {
	if _, found := c.rule(subject); !found {
		return c.refuse("subjects", "keep an entry for it until it has lapsed",
			"the live lease %q on %q matches no entry", id, subject.Text())
	}
	for _, d := range terms {
		if d.IsZero() {
			continue
		}
		if _, err := c.Units.Count(d); err != nil {
			return c.refuse("units", "keep the unit until the lease has lapsed", "the live lease %q: %v", id, err)
		}
	}
	return nil
}
