package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/daolease/daolease/pkg/judge"
)

// holders checks who has a folder, and whether what is in it is read (SPEC 4).
func (k *checker) holders() error {
	names, junk, err := k.comp.holderNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, f := range k.comp.checkHolderSide(name) {
			k.problem(f.Path, f.Mend, "%s: nothing of holder %s is read", f.Wrong, name)
		}
	}
	for _, e := range junk {
		k.junk(e)
	}
	return nil
}

// junk is what lies in holders/ and is no holder's folder. With facts in it somebody takes it for one.
func (k *checker) junk(e junkEntry) {
	path := filepath.Join(k.comp.holdersDir(), e.Name)
	_, err := os.Lstat(filepath.Join(path, "facts.jsonl"))
	switch {
	case e.Name == k.comp.Config.Grantor:
		k.problem(path, "rename the folder: whoever holds needs another name than the grantor", "a holder's folder with the grantor's name is not read")
	case err == nil:
		k.problem(path, "rename the folder to a holder's name", "facts in a folder that is no holder's are not read: %s", e.Why)
	default:
		k.advice(path, "move it elsewhere", "is no holder's folder, and is not looked into: %s", e.Why)
	}
}

// maxNamed is how many lines of one kind on one medium check names. All are counted.
const maxNamed = 5

// tally is what was found of one kind on one medium.
type tally struct {
	count int
	named []string
}

// media reads every fact.
func (k *checker) media(ctx context.Context) error {
	found := map[[2]string]*tally{}
	var order [][2]string
	read, progress := 0, k.comp.app.startProgress()
	defer progress.clear()
	r, err := newHistoryReader(k.comp, func(m *historyMedium, l historyLine) error {
		if read++; read%1024 == 0 {
			progress.at("checking %s: %d lines read", m.name, read)
		}
		key := [2]string{m.file.Path(), l.Verdict}
		if l.Counts || l.Verdict == lineForeign || l.Verdict == lineIgnored {
			return nil
		}
		t := found[key]
		if t == nil {
			t = &tally{}
			found[key] = t
			order = append(order, key)
		}
		if t.count++; t.count <= maxNamed {
			t.named = append(t.named, lineText(&l))
		}
		return nil
	})
	if err != nil {
		return err
	}
	everything := func(string) bool { return true }
	if err := errors.Join(r.addHolders(everything), r.addTicks(everything)); err != nil {
		return err
	}
	if err := r.round(ctx); err != nil {
		return err
	}
	for _, key := range order {
		k.lines(key[0], key[1], found[key])
	}
	return nil
}

func lineText(l *historyLine) string {
	if l.Position == nil {
		return l.Why
	}
	return fmt.Sprintf("at %s: %s", l.position(), l.Why)
}

// lines reports the lines of one kind on one medium. What was left unfinished by a crash is no problem: it spoils
// itself alone. Nor is valid data by the wrong author: it says something about that author, and nothing else.
func (k *checker) lines(path, verdict string, t *tally) {
	text := fmt.Sprintf("%d %s: %s", t.count, lineKind(verdict, t.count), strings.Join(t.named, "; "))
	if t.count > len(t.named) {
		text += "; and more"
	}
	switch verdict {
	case lineGap:
		if !k.mentions(path) {
			k.problem(path, "make it a file that can be read", "it cannot be read: %s", t.named[0])
		}
	case lineUnresolved:
		k.problem(path, "see that user names can be looked up", "%s", text)
	case lineUndecodable, lineDefective:
		k.problem(path, "whoever wrote it writes it anew; what stands there establishes nothing", "%s", text)
	case lineDamaged:
		k.advice(path, "none is needed: such a line spoils only itself", "%s", text)
	case lineWrongAuthor:
		k.advice(path, "ask its author why; it establishes nothing", "%s", text)
	default:
		k.advice(path, "none is needed: it establishes nothing", "%s", text)
	}
}

func lineKind(verdict string, count int) string {
	kind := verdict
	switch verdict {
	case lineWrongAuthor:
		kind = "fact by the wrong author"
		if count != 1 {
			kind = "facts by the wrong author"
		}
		return kind
	}
	if count == 1 {
		return kind + " line"
	}
	return kind + " lines"
}

// mentions says that a medium, or its folder, has a finding already that says why it cannot be read.
func (k *checker) mentions(path string) bool {
	for _, f := range k.report.Findings {
		if f.Severity == isProblem && (f.Place == path || f.Place == filepath.Dir(path)) {
			return true
		}
	}
	return false
}

// ledger checks that the judge's ledger can be read, is whole, and fits the configuration.
func (k *checker) ledger(ctx context.Context) error {
	path := k.comp.path("grantor", "ledger.jsonl")
	view, err := k.observe(ctx)
	coded := new(exitError)
	switch {
	case errors.Is(err, os.ErrPermission):
		k.advice(path, "run check as the judge's user", "is private to the judge's user, and was not checked")
		return nil
	case errors.As(err, &coded):
		k.problem(path, coded.hint, "%v", err)
		return nil
	case err != nil:
		return err
	case view == nil:
		return nil
	}
	if view.Began() == judge.Recovered {
		k.advice(path, "none is needed: the next judge discards what is damaged, and waits for renewals before it concludes silence",
			"its end is damaged, or was written before a reboot: all evidence will be unknown after the next start")
	}
	if view.LostGrants() {
		k.problem(k.comp.path("grantor", "facts.jsonl"), "daolease recover", "had a gap: nothing is granted")
	}
	for _, row := range view.Rows() {
		terms := row.Duration
		err := k.comp.Config.carries(row.Lease, row.Subject, terms)
		if err == nil && row.Max != nil {
			err = k.comp.Config.carries(row.Lease, row.Subject, *row.Max)
		}
		if r := new(refusal); errors.As(err, &r) {
			k.problem(fmt.Sprintf("%s:%d", r.file, r.line), r.wouldBeFit, "%s: no judge starts with it", r.wrong)
		}
	}
	return nil
}

// observe reads the ledger as a judge would that starts in the boot of the newest tick; nil where none has run.
func (k *checker) observe(ctx context.Context) (*judge.Judge, error) {
	if _, err := os.Stat(k.comp.grantorDir()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	cfg, err := k.comp.judgeConfig(ctx)
	if err != nil {
		return nil, err
	}
	a, err := k.comp.judgeAdapter()
	if err != nil {
		return nil, err
	}
	// Without a tick that says its boot, this one stands for it.
	if a.catchUp(ctx) == nil && a.marked.boot != "" {
		cfg.Boot = a.marked.boot
	}
	view, err := judge.Observe(ctx, cfg)
	return view, ledgerError(err)
}
