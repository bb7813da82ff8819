package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// look reads on in the grantor's stream, from an edge of it where there is no cursor. It is complete when it
// has come to the end of a stream that can be read: what could not be read may hold a grant, and a basis taken
// from such a look would be too late.
func (t *turn) look(ctx context.Context, from stream.Edge) error {
	t.h.BeginLook(t.reading)
	cursor, err := t.h.State.Cursor, error(nil)
	if cursor == "" {
		if cursor, err = t.grantor.Mint(ctx, from); err != nil {
			return fail(exitFailure, "", "%w", err)
		}
	}
	for checked := false; ; {
		var stuck error
		answer := t.grantor.Read(ctx, cursor, stream.Budget{}, func(v stream.Value) bool {
			stuck = t.observe(ctx, v)
			return stuck == nil
		})
		if answer.Cursor != "" {
			cursor = answer.Cursor
		}
		err := stuck
		switch answer.State {
		case stream.OK:
		case stream.Blocked, stream.End:
			readable := t.comp.grantorReadable()
			if checked || readable != nil {
				t.h.EndLook(cursor, readable == nil)
				t.unreadable(readable)
				return nil
			}
			checked = true // once more: the cursor may be one of when it could not be read
		case stream.Gap:
			t.h.Gap()
			checked = false
		case stream.Mismatch, stream.Invalid:
			t.h.Gap()
			checked = false
			cursor, err = t.grantor.Mint(ctx, stream.Oldest)
		default:
			err = answer.Err
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			t.h.EndLook(cursor, false)
			return fail(exitFailure, "", "looking at the grantor's stream: %w", err)
		}
	}
}

// observe takes in one value. An error means that its author cannot be told now.
func (t *turn) observe(ctx context.Context, v stream.Value) error {
	if v.Damage != "" {
		return nil
	}
	fact, err := lease.Decode(v.Bytes, t.comp.Config.Units)
	if err != nil {
		return nil // what is no good fact establishes nothing
	}
	author, err := t.comp.attribution.Author(ctx, mediumGrantor, v)
	if err != nil {
		return err
	}
	if o := t.h.Observe(author, fact); o.What != lease.Nothing {
		t.news = append(t.news, o)
	}
	return nil
}

func (t *turn) unreadable(why error) {
	if why != nil && !errors.Is(why, fs.ErrNotExist) {
		t.sayOnce("the grantor's stream cannot be read: %v", why)
	}
}

// grantorReadable is nil when the file of the grantor's stream can be read, and is one that is.
func (c *Composition) grantorReadable() error {
	path := c.path("grantor", "facts.jsonl")
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if fi, err = f.Stat(); err != nil {
		return err
	}
	return c.attribution.admit(mediumGrantor)(path, fi)
}

// readGrantor hands out every fact of the grantor's own that follows a cursor, up to the end, and answers the
// cursor there. What is lost in a gap is passed over.
func (c *Composition) readGrantor(ctx context.Context, m stream.Medium, from stream.Cursor, take func(lease.Fact)) (stream.Cursor, error) {
	return c.readFacts(ctx, m, mediumGrantor, from, func(author string, f lease.Fact) {
		if author == c.Config.Grantor {
			take(f)
		}
	})
}

// readFacts hands out every good fact of a medium that follows a cursor, with its author. An empty cursor stands
// for the oldest retained.
func (c *Composition) readFacts(ctx context.Context, m stream.Medium, name string, from stream.Cursor, take func(author string, f lease.Fact)) (stream.Cursor, error) {
	var err error
	if from == "" {
		if from, err = m.Mint(ctx, stream.Oldest); err != nil {
			return "", fail(exitFailure, "", "%w", err)
		}
	}
	for {
		answer := m.Read(ctx, from, stream.Budget{}, func(v stream.Value) bool {
			fact, bad := lease.Decode(v.Bytes, c.Config.Units)
			if v.Damage != "" || bad != nil {
				return true
			}
			author, unknown := c.attribution.Author(ctx, name, v)
			if unknown != nil {
				err = unknown
				return false
			}
			take(author, fact)
			return true
		})
		if answer.Cursor != "" {
			from = answer.Cursor
		}
		switch answer.State {
		case stream.Blocked, stream.End:
			return from, nil
		case stream.OK, stream.Gap:
		default:
			err = answer.Err
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return from, fail(exitFailure, "", "reading %s: %w", name, err)
		}
	}
}
