package cmd

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// setDefaults are the values of SPEC 8 for keys that are left out. The environment decides nothing here: a
// composition means the same to whoever opens it.
func setDefaults(v *viper.Viper) {
	for key, value := range map[string]any{
		"grantor": "grantor", "attribution": "path", "cadence": "1s", "tolerance": "2s", "ticks": "host",
		"drain_budget":       65536,
		"retention::holders": "1MiB", "retention::ticks": "64KiB", "retention::grantor": "complete", "retention::ledger": "64MiB",
		"reclaim::parallel": 8, "reclaim::wait": "500ms", "reclaim::retry::initial": "1s", "reclaim::retry::max": "1min",
	} {
		v.SetDefault(key, value)
	}
}

// decodeConfig decodes a document that the strict walk has let through. Units stay out: viper folds the case
// of keys, and would mix the table with a default one.
func decodeConfig(root *yaml.Node) (*Config, error) {
	given := map[string]any{}
	if err := root.Decode(&given); err != nil {
		return nil, err
	}
	delete(given, "units")
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	setDefaults(v)
	if err := v.MergeConfigMap(given); err != nil {
		return nil, err
	}
	c := &Config{} // fresh: decoding merges into what is there
	err := v.UnmarshalExact(c, func(dc *mapstructure.DecoderConfig) {
		dc.TagName = "yaml"
		dc.WeaklyTypedInput = false
		dc.DecodeHook = decodeHook
	})
	return c, err
}

// decodeHook reads spans and sizes, and none for a procedure; it lets nothing be converted that loses.
func decodeHook(from, to reflect.Type, data any) (any, error) {
	text, isText := data.(string)
	switch to {
	case reflect.TypeFor[time.Duration]():
		if isText {
			return parseSpan(text)
		}
	case reflect.TypeFor[byteSize]():
		if isText {
			return parseSize(text)
		}
	case reflect.TypeFor[argv]():
		if isText && text == "none" {
			return argv{}, nil
		}
		return data, nil
	default:
		return data, nil
	}
	return nil, fmt.Errorf("%v (%v) needs a unit", data, from)
}

// given says that a key was written down.
func (c *Config) given(key string) bool {
	_, ok := c.lines[key]
	return ok
}

// fill gives the entries of subjects their defaults and reads the table of units.
func (c *Config) fill(root *yaml.Node) error {
	for i := range c.Subjects {
		c.fillRule(i)
	}
	c.table = map[string]int64{"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
	if !c.given("units") {
		return nil
	}
	clear(c.table)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "units" {
			return c.readTable(root.Content[i+1])
		}
	}
	return nil
}

func (c *Config) readTable(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, number := n.Content[i].Value, n.Content[i+1]
		if number.Kind == yaml.AliasNode {
			number = number.Alias
		}
		magnitude, err := strconv.ParseInt(number.Value, 10, 64)
		if err != nil {
			return c.refuse("units."+name, "", "%s is no number", number.Value)
		}
		c.table[name] = magnitude
	}
	return nil
}

func (c *Config) fillRule(i int) {
	r := &c.Subjects[i]
	r.Index = i
	given := func(name string) bool { return c.given(ruleKey(i, name)) }
	if !given("duration") {
		r.Duration = 30 * time.Second
	}
	if !given("longest") {
		r.Longest = r.Duration
	}
	if !given("holders") {
		r.Holders = []string{"*"}
	}
	if !given("answer") {
		r.Answer = "auto"
	}
	if !given("slots") {
		r.Slots = 1
	}
	if !given("limit") {
		r.Limit = 64
	}
	if !given("timeout") {
		r.Timeout = 30 * time.Second
	}
}

// ruleKey is the key of a value in an entry of subjects, as messages name it.
func ruleKey(i int, name string) string { return fmt.Sprintf("subjects[%d].%s", i, name) }
