package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// ledgerFormat is the version of the ledger that this program writes. An older one is read and rewritten.
const ledgerFormat = 1

// judgeConfig is what every judge of this composition is made of, the acting one as well as a view. What acts
// (reclaimer, stamps, hints) is left to the one that acts.
func (c *Composition) judgeConfig(ctx context.Context) (judge.Config, error) {
	cfg := judge.Config{
		Grantor: c.Config.Grantor, Resolver: c.attribution, Durable: true,
		Boot: c.app.Clock.BootID(), Tokens: tokenFile{c},
	}
	c.judgeSpans(&cfg)
	mark, err := c.readMark()
	if err != nil {
		return cfg, err
	}
	cfg.Expected, cfg.Reached = mark.Incarnation > 0, mark.Incarnation
	if cfg.Place, err = c.place(); err != nil {
		return cfg, err
	}
	return cfg, c.judgeMedia(ctx, &cfg)
}

// judgeSpans is what the configuration says, in the table's units. It may be set again between passes.
func (c *Composition) judgeSpans(cfg *judge.Config) {
	k := c.Config
	cfg.Units, cfg.Rules = k.Units, rules{k}
	cfg.Tolerance, cfg.Cadence = k.durationOf(k.baseUp(k.Tolerance)), k.durationOf(k.baseUp(k.Cadence))
	cfg.DrainBudget, cfg.Retention = k.DrainBudget, int64(k.Retention.Ledger)
	cfg.Parallel = k.Reclaim.Parallel
	cfg.Retry = judge.Retry{Initial: k.baseUp(k.Reclaim.Retry.Initial), Max: k.baseUp(k.Reclaim.Retry.Max)}
}

// judgeMedia opens the media. Nothing is created.
func (c *Composition) judgeMedia(ctx context.Context, cfg *judge.Config) error {
	ledger, err := c.ledger(ledgerFormat)
	if err != nil {
		return err
	}
	version, err := ledger.Format(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if version > ledgerFormat {
		return fail(exitComposition, "use the newer daolease that wrote it", "the ledger has format %d, and this daolease knows %d", version, ledgerFormat)
	}
	ticks, err := c.ticks()
	if err != nil {
		return err
	}
	facts, err := c.grantorStream()
	if err != nil {
		return err
	}
	policy, err := c.policy()
	if err != nil {
		return err
	}
	cfg.Ledger, cfg.Ticks, cfg.Facts, cfg.Policy = ledger, ticks, facts, policy
	cfg.Media = stream.NewSet(nil)
	names, _, err := c.holderNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		m, err := c.holderStream(name)
		if err != nil {
			return err
		}
		cfg.Media.Add(name, m)
	}
	return nil
}

// observe is the ledger as it was last written, with what the media have had since still to be read.
func (c *Composition) observe(ctx context.Context) (*judge.Judge, error) {
	cfg, err := c.judgeConfig(ctx)
	if err != nil {
		return nil, err
	}
	j, err := judge.Observe(ctx, cfg)
	return j, ledgerError(err)
}

// ledgerError gives an error of the ledger its exit code and remedy.
func ledgerError(err error) error {
	switch {
	case errors.Is(err, judge.ErrPlace):
		return fail(exitLost, "if the folder was moved while no judge ran: daolease judge --adopt; if it was restored from a backup: daolease recover --token-above N", "%w", err)
	case errors.Is(err, judge.ErrLost):
		return fail(exitLost, "daolease recover takes back what may still be held and begins anew; recover --print drafts its inventory", "%w", err)
	}
	return err
}

// stops is the error of a judge that found its ledger no longer as it had left it: another judge writes there, or it
// was taken away.
func (c *Composition) stops(err error) error {
	if _, gone := os.Lstat(c.path("grantor", "ledger.jsonl")); errors.Is(gone, fs.ErrNotExist) {
		return ledgerError(fmt.Errorf("this judge stops: %w: %s is gone", judge.ErrLost, c.path("grantor", "ledger.jsonl")))
	}
	return fail(exitOtherJudge, "", "this judge stops: %w", err)
}

// place names the folder by its inode: a copy has another.
func (c *Composition) place() (string, error) {
	fi, err := os.Stat(c.grantorDir())
	if errors.Is(err, fs.ErrNotExist) {
		return "", fail(exitComposition, initHint, "%s is not there", c.grantorDir())
	}
	if err != nil {
		return "", err
	}
	return inodeOf(fi), nil
}

// rules are the configuration's terms as a judge asks for them.
type rules struct{ config *Config }

// Rule is the first entry that a subject matches; false for a subject that is never granted.
func (r rules) Rule(subject lease.Subject) (judge.Rule, bool) {
	entry, found := r.config.rule(subject)
	if !found || r.config.admissible(subject) != nil {
		return judge.Rule{}, false
	}
	rule := judge.Rule{
		Name: strconv.Itoa(entry.Index), Answer: entry.Answer == "auto", Holder: entry.admitsHolder,
		Duration: r.config.durationOf(r.config.baseUp(entry.Duration)), Longest: r.config.durationOf(r.config.baseUp(entry.Longest)),
		Slots: entry.Slots, Limit: entry.Limit,
	}
	if entry.Max > 0 {
		rule.Max = r.config.durationOf(r.config.baseUp(entry.Max))
	}
	return rule, true
}

// mark is what judge.lock says: that a judge has run here, and which one runs.
type mark struct {
	Incarnation uint64 `json:"incarnation"`
	PID         int    `json:"pid"`
	Host        string `json:"host"`
	Yields      bool   `json:"yields,omitempty"` // it is a hold's, and gives way to a judge that waits
}

// readMark reads judge.lock. None, or an empty one, is the zero mark: no judge has run here.
func (c *Composition) readMark() (mark, error) {
	text, err := readAtMost(c.judgeLock(), 4096)
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return mark{}, nil // private to the judge: whoever cannot read it cannot read the ledger either
	}
	if err != nil {
		return mark{}, fail(exitComposition, "", "%w", err)
	}
	var m mark
	if len(text) > 0 {
		if err := json.Unmarshal(text, &m); err != nil {
			// It was torn by a crash: a judge has run here, whichever it was.
			m.Incarnation = 1
		}
	}
	return m, nil
}

// tokenFile keeps the highest token outside the streams (SPEC 8).
type tokenFile struct{ c *Composition }

// Highest is the highest token ever given, 0 before the first.
func (t tokenFile) Highest(context.Context) (int64, error) {
	n, err := readTokenFile(t.c.tokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// Raise answers when the new highest is on disk.
func (t tokenFile) Raise(_ context.Context, token int64) error {
	if token > lease.Limit {
		return fmt.Errorf("token %d is over the bound of 2^52", token)
	}
	return t.c.app.replaceFile(t.c.tokenFile(), tokenLine(token), 0o600)
}
