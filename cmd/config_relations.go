package cmd

import "time"

// relations refuses what each key allows but not all of them together (SPEC 8).
func (c *Config) relations() error {
	steps := []func() error{c.checkUnits, c.checkWhole, c.checkScheduling}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if len(c.Subjects) == 0 {
		return c.refuse("subjects", "at least one entry with match and reclaim is needed", "there is none")
	}
	for i := range c.Subjects {
		if err := c.checkRule(&c.Subjects[i]); err != nil {
			return err
		}
	}
	return nil
}

// inRange refuses a number outside of what a key allows.
func (c *Config) inRange(key string, n, least, most int) error {
	if n < least || n > most {
		return c.refuse(key, "", "%d is not between %d and %d", n, least, most)
	}
	return nil
}

// positive refuses a span of nothing.
func (c *Config) positive(key string, d time.Duration) error {
	if d <= 0 {
		return c.refuse(key, "write "+spanWanted, "%s is not more than nothing", formatSpan(d))
	}
	return nil
}

// whole refuses a span that the table of units cannot express.
func (c *Config) whole(key string, d time.Duration) error {
	if _, err := c.base(d); err != nil {
		return c.refuse(key, "", "%v", err)
	}
	return nil
}

func (c *Config) checkWhole() error {
	if err := c.positive("cadence", c.Cadence); err != nil {
		return err
	}
	for _, span := range []struct {
		key string
		d   time.Duration
	}{
		{"cadence", c.Cadence}, {"tolerance", c.Tolerance},
		{"reclaim.retry.initial", c.Reclaim.Retry.Initial}, {"reclaim.retry.max", c.Reclaim.Retry.Max},
	} {
		// What was left out has a default that a coarser table rounds up.
		if !c.given(span.key) {
			continue
		}
		if err := c.whole(span.key, span.d); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkScheduling() error {
	retry := c.Reclaim.Retry
	if retry.Max < retry.Initial {
		return c.refuse("reclaim.retry.max", "it must be at least initial",
			"%s is less than initial, %s", formatSpan(retry.Max), formatSpan(retry.Initial))
	}
	if err := c.inRange("reclaim.parallel", c.Reclaim.Parallel, 1, 1024); err != nil {
		return err
	}
	return c.inRange("drain_budget", c.DrainBudget, 1, 1<<24)
}

func (c *Config) checkRule(r *SubjectRule) error {
	key := func(name string) string { return ruleKey(r.Index, name) }
	for _, name := range []string{"match", "reclaim"} {
		if !c.given(key(name)) {
			return c.refuse(key(name), map[string]string{
				"match":   "write the subject, or a pattern such as /srv/shared/*",
				"reclaim": "write the procedure as a list of words, as in [hooks/free-dir], or none",
			}[name], "is missing")
		}
	}
	if err := c.checkPatterns(r, key); err != nil {
		return err
	}
	if err := c.checkSpans(r, key); err != nil {
		return err
	}
	if err := c.inRange(key("slots"), r.Slots, 0, 1<<20); err != nil {
		return err
	}
	return c.inRange(key("limit"), r.Limit, 0, 1<<20)
}

func (c *Config) checkPatterns(r *SubjectRule, key func(string) string) (err error) {
	if r.subject, err = compileGlob(r.Match); err != nil {
		return c.refuse(key("match"), "quote a special character with a backslash", "%v", err)
	}
	if len(r.Holders) == 0 {
		return c.refuse(key("holders"), `write names or patterns, as in ["*"]`, "is an empty list, so nobody could be granted")
	}
	r.holders = make([]glob, len(r.Holders))
	for i, pattern := range r.Holders {
		if r.holders[i], err = compileGlob(pattern); err != nil {
			return c.refuse(key("holders"), "", "%v", err)
		}
	}
	return nil
}

func (c *Config) checkSpans(r *SubjectRule, key func(string) string) error {
	for _, span := range []struct {
		name string
		d    time.Duration
	}{{"duration", r.Duration}, {"longest", r.Longest}, {"timeout", r.Timeout}, {"max", r.Max}} {
		if span.name == "max" && !c.given(key("max")) {
			continue
		}
		if err := c.positive(key(span.name), span.d); err != nil {
			return err
		}
		// A timeout is waited for, not compared with readings.
		if span.name == "timeout" {
			continue
		}
		if err := c.whole(key(span.name), span.d); err != nil {
			return err
		}
	}
	if r.Duration > r.Longest {
		return c.refuse(key("duration"), "raise longest, or lower duration",
			"%s is above longest, %s", formatSpan(r.Duration), formatSpan(r.Longest))
	}
	return nil
}
