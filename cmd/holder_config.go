package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/daolease/daolease/pkg/lease"
)

// heldConfig is what a holder needs of the configuration to keep and to give back what it holds: who grants, how
// authors are told, whose time it is, in which units, and how much of the media is kept. It is kept in the notes,
// so that a configuration that is refused costs no living holder its lease: the judge that runs goes on with what
// it had read before, and so does the holder.
type heldConfig struct {
	// Of is the fingerprint of the text that was read. While that text is in force a renewal does without reading it as
	// YAML: it was accepted then, and says the same now.
	Of          string           `json:"of,omitempty"`
	Grantor     string           `json:"grantor"`
	Attribution string           `json:"attribution"`
	Ticks       string           `json:"ticks"`
	Cadence     time.Duration    `json:"cadence"`
	Units       map[string]int64 `json:"units"`
	Kept        map[string]int64 `json:"retention"` // bytes; 0: complete
}

// maxHeld is the most bytes that notes keep of a configuration: they are bounded themselves.
const maxHeld = 8 << 10

// held is what a holder's notes keep of a configuration; nil where the table of units is too large for that.
func (c *Config) held() *heldConfig {
	h := &heldConfig{
		Of: c.of, Grantor: c.Grantor, Attribution: c.Attribution, Ticks: c.Ticks, Cadence: c.Cadence, Units: c.table,
		Kept: map[string]int64{
			"holders": int64(c.Retention.Holders), "ticks": int64(c.Retention.Ticks), "grantor": int64(c.Retention.Grantor),
		},
	}
	if text, err := json.Marshal(h); err != nil || len(text) > maxHeld {
		return nil
	}
	return h
}

// config is the configuration that was kept. It has no subjects: nothing can be proposed or judged with it.
func (h *heldConfig) config(file string) (*Config, error) {
	c := &Config{
		Grantor: h.Grantor, Attribution: h.Attribution, Ticks: h.Ticks, Cadence: h.Cadence,
		Retention: Retention{Holders: byteSize(h.Kept["holders"]), Ticks: byteSize(h.Kept["ticks"]), Grantor: byteSize(h.Kept["grantor"])},
		file:      file, of: h.Of, table: h.Units,
	}
	for _, kept := range h.Kept {
		if kept != 0 && kept < minRetention {
			return nil, fmt.Errorf("a retention of %d bytes", kept)
		}
	}
	known := (h.Attribution == "path" || h.Attribution == "owner") && (h.Ticks == "host" || h.Ticks == "external")
	if !known || h.Cadence <= 0 {
		return nil, errors.New("it is no part of a configuration")
	}
	return c, errors.Join(lease.ValidName(h.Grantor), c.checkUnits())
}

// heldAs goes into every fingerprint. It is changed whenever notes would keep something else of the same text.
const heldAs = "1 "

// fingerprint tells one text of a configuration from every other.
func fingerprint(text []byte) string {
	sum := sha256.Sum256(append([]byte(heldAs), text...))
	return hex.EncodeToString(sum[:])
}

// findHeld opens the composition for a command that keeps or gives back what a holder has. Where the configuration is
// as the holder's notes keep it, that serves. Where it is refused, this goes on with what they keep of an earlier one,
// and says so.
func findHeld(app *App, who func() (string, error)) (*Composition, error) {
	dir, err := findDir(app)
	if err != nil {
		return nil, err
	}
	var kept *Config
	holder, err := who()
	if err == nil {
		kept = keptConfig(dir, holder)
	}
	file := configFile(dir)
	text, err := readConfig(file)
	if err == nil && kept != nil && kept.of == fingerprint(text) {
		return newComposition(app, dir, kept), nil
	}
	if err == nil {
		var config *Config
		if config, err = parseConfig(file, text); err == nil {
			return newComposition(app, dir, config), nil
		}
	}
	if kept == nil {
		return nil, err
	}
	app.complain(fmt.Sprintf("%v; going on with what holder %q has read there before", err, holder),
		"no judge can start, and nothing be proposed, until it is mended")
	return newComposition(app, dir, kept), nil
}

// keptConfig is the configuration that a holder's notes keep; nil where they keep none that is sound.
func keptConfig(dir, holder string) *Config {
	n, err := readNotes(filepath.Join(dir, "holders", holder, "notes.json"))
	if err != nil || n.Config == nil {
		return nil
	}
	config, err := n.Config.config(configFile(dir))
	if err != nil {
		return nil
	}
	return config
}
