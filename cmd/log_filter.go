package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daolease/daolease/pkg/lease"
)

// whole makes the id of --lease whole where only its beginning was given. An id that nothing here has stays as it is:
// it may come. Several that begin so are exit 2.
func (o *logOptions) whole(ctx context.Context, c *Composition) error {
	if o.lease == "" {
		return nil
	}
	granted, named := map[string]bool{}, map[string]bool{}
	r, err := newHistoryReader(c, func(_ *historyMedium, l historyLine) error {
		for _, id := range []string{l.fact.Lease, l.fact.Proposal, l.named} {
			if id == o.lease {
				return errWhole
			}
			if !strings.HasPrefix(id, o.lease) {
				continue
			}
			named[id] = true
			if l.Counts && l.fact.Kind == lease.Grant && id == l.fact.Lease {
				granted[id] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.round(ctx); err != nil {
		return alreadyWhole(err)
	}
	if len(granted) == 0 { // then it may be a proposal's, or that of a lease whose grant is not retained
		if err := r.addHolders(func(string) bool { return true }); err != nil {
			return err
		}
		if err := r.round(ctx); err != nil {
			return alreadyWhole(err)
		}
		granted = named
	}
	switch ids := slices.Sorted(maps.Keys(granted)); len(ids) {
	case 0:
		return nil
	case 1:
		o.lease = ids[0]
		return nil
	default:
		return severalBegin(o.lease, ids)
	}
}

// errWhole ends the search: the id is whole as it was given.
var errWhole = errors.New("the id is whole")

func alreadyWhole(err error) error {
	if errors.Is(err, errWhole) {
		return nil
	}
	return err
}

// severalBegin is that a word is the beginning of more than one id.
func severalBegin(word string, ids []string) error {
	return usagef("write more of it", "%q is the beginning of several ids: %s", word, strings.Join(ids[:min(len(ids), 8)], ", "))
}

// shows says whether a line is to be shown.
func (o *logOptions) shows(m *historyMedium, l *historyLine) bool {
	switch {
	case !o.wants(m.name), !o.all && l.Verdict == lineForeign, o.idle && l.Counts:
		return false
	}
	return o.fromAuthor(l) && o.aboutLease(l) && o.ofKind(l)
}

func (o *logOptions) fromAuthor(l *historyLine) bool {
	return o.author == "" || l.Author != nil && *l.Author == o.author
}

func (o *logOptions) aboutLease(l *historyLine) bool { return o.lease == "" || l.names(o.lease) }

func (o *logOptions) ofKind(l *historyLine) bool {
	return len(o.kinds) == 0 || slices.Contains(o.kinds, l.Kind)
}

// names says that a line is about the lease or proposal of an id.
func (l *historyLine) names(id string) bool {
	return l.fact.Lease == id || l.fact.Proposal == id || l.named == id
}

// found is which of the filters anything has met, of the lines that were read.
type found struct{ shown, author, lease, kind bool }

func (f *found) note(o *logOptions, l *historyLine, shown bool) {
	f.shown = f.shown || shown
	f.author, f.lease, f.kind = f.author || o.fromAuthor(l), f.lease || o.aboutLease(l), f.kind || o.ofKind(l)
}

// nothing says why a log with filters is empty: which of them nothing here meets. It is empty where there is no
// filter, or something was shown.
func (f *found) nothing(o *logOptions) string {
	filtered := o.author != "" || o.lease != "" || len(o.kinds) > 0 || o.idle
	if f.shown || !filtered {
		return ""
	}
	var parts []string
	here := briefWords(" on ", strings.Join(o.media, " or "))
	if !f.lease && o.lease != "" {
		parts = append(parts, fmt.Sprintf("no lease and no proposal %s is known of%s", wordText(o.lease), here))
	}
	if !f.author && o.author != "" {
		parts = append(parts, fmt.Sprintf("nobody named %s has written anything%s", wordText(o.author), here))
	}
	if !f.kind && len(o.kinds) > 0 {
		parts = append(parts, "no line is of the kind "+strings.Join(o.kinds, " or ")+here)
	}
	if len(parts) == 0 {
		return "no line is as asked for"
	}
	return strings.Join(parts, "; ")
}
