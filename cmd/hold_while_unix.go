//go:build unix

package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// inner is the lease on whose life that of ours depends (SPEC 9, hold --while). That it is live is told by its
// holder's renewals, as they come: what stood on the medium before may be of any age, and that its end is not
// recorded tells nothing.
type inner struct {
	comp     *Composition
	lease    string
	holder   string
	duration int64 // ms

	grantor, facts *stream.File
	grantorAt, at  stream.Cursor

	mu     sync.Mutex
	looked int64  // when the last look began, on the clock that counts time asleep, ms
	seen   int64  // when the newest renewal came at the earliest; 0: none was seen yet
	ended  string // how it has ended, as far as is known
}

// openInner finds a lease of a composition by its id or the beginning of one.
func openInner(ctx context.Context, app *App, dir, id string) (*inner, error) {
	at := *app
	if dir != "" {
		at.dirFlag = dir
	}
	c, err := find(&at)
	if err != nil {
		return nil, err
	}
	n := &inner{comp: c}
	if n.grantor, err = c.grantorStream(); err != nil {
		return nil, err
	}
	grants, over := map[string]lease.Fact{}, map[string]lease.Cause{}
	n.grantorAt, err = c.readGrantor(ctx, n.grantor, "", func(f lease.Fact) {
		switch {
		case f.Kind == lease.Grant && strings.HasPrefix(f.Lease, id):
			grants[f.Lease] = f
		case f.Kind == lease.Lapsed:
			over[f.Lease] = f.Cause
		}
	})
	if err != nil {
		return nil, err
	}
	if exact, whole := grants[id]; whole {
		grants = map[string]lease.Fact{id: exact}
	}
	switch ids := slices.Sorted(maps.Keys(grants)); {
	case len(ids) == 0:
		return nil, fail(exitHoldFailed, "--while-dir names its composition", "no lease %q was granted in %s", id, c.Dir)
	case len(ids) > 1:
		return nil, severalBegin(id, ids)
	default:
		n.lease = ids[0]
	}
	if cause, is := over[n.lease]; is {
		return nil, fail(exitHoldFailed, "", "lease %s, on which this one is to depend, has lapsed (%s)", n.lease, cause)
	}
	return n, n.follow(ctx, grants[n.lease])
}

// follow begins to read its holder's medium, from here on.
func (n *inner) follow(ctx context.Context, grant lease.Fact) (err error) {
	n.holder = grant.Holder
	count, err := n.comp.Config.Units.Count(grant.Duration)
	if err != nil {
		return err
	}
	n.duration, n.looked = n.comp.Config.span(count).Milliseconds(), n.comp.app.Clock.Boot()
	if n.facts, err = n.comp.holderStream(n.holder); err != nil {
		return err
	}
	n.at, err = n.facts.Mint(ctx, stream.Newest)
	return err
}

// look reads on. A renewal that has come since the last look is taken to have come right after that.
func (n *inner) look(ctx context.Context) {
	now, renewed, ended := n.comp.app.Clock.Boot(), false, ""
	var unread, unheard error
	n.grantorAt, unread = n.comp.readGrantor(ctx, n.grantor, n.grantorAt, func(f lease.Fact) {
		if f.Kind == lease.Lapsed && f.Lease == n.lease {
			ended = fmt.Sprintf("has lapsed (%s)", f.Cause)
		}
	})
	n.at, unheard = n.comp.readFacts(ctx, n.facts, n.holder, n.at, func(author string, f lease.Fact) {
		if author != n.holder || f.Lease != n.lease {
			return
		}
		renewed = renewed || f.Kind == lease.Renewal
		if f.Kind == lease.Release && ended == "" {
			ended = "was released"
		}
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended == "" {
		n.ended = ended
	}
	if renewed {
		n.seen = n.looked
	}
	if unread == nil && unheard == nil {
		n.looked = now
	}
}

// watch looks often enough for its duration.
func (n *inner) watch(ctx context.Context) {
	for pause(ctx, max(20*time.Millisecond, time.Duration(n.duration)*time.Millisecond/12)) == nil {
		n.look(ctx)
	}
}

// fresh is nil while it is known that the lease was renewed within its duration.
func (n *inner) fresh() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.comp.app.Clock.Boot()
	switch {
	case n.ended != "":
		return fmt.Errorf("lease %s, on which it depends, %s", n.lease, n.ended)
	case n.seen == 0:
		return fmt.Errorf("lease %s, on which it depends, has not been renewed since this began", n.lease)
	case now-n.seen > n.duration:
		return fmt.Errorf("lease %s, on which it depends, has not been renewed within its duration", n.lease)
	}
	return nil
}

// await waits for the first renewal, which a live holder writes within half of the duration.
func (n *inner) await(ctx context.Context) error {
	over, cancel := context.WithTimeoutCause(ctx, time.Duration(n.duration)*time.Millisecond, errWaited)
	defer cancel()
	for n.fresh() != nil && n.over() == "" {
		if pause(over, 20*time.Millisecond) != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return orSignal(ctx, context.Cause(ctx))
	}
	if err := n.fresh(); err != nil {
		return fail(exitHoldFailed, "its holder has to renew it: daolease renew, or daolease hold", "nothing is asked for: %w", err)
	}
	return nil
}

func (n *inner) over() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ended
}

// depend opens what --while names, and waits until it shows that it is live.
func (h *holdRun) depend(ctx context.Context) error {
	if h.o.while == "" {
		return nil
	}
	ctx, over := h.ears.waiting(ctx)
	defer over()
	n, err := openInner(ctx, h.app, h.o.whileDir, h.o.while)
	if err != nil {
		return asHoldFailure(err)
	}
	h.inner = n
	go n.watch(h.life)
	return n.await(ctx)
}
