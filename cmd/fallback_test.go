package cmd

import (
	"context"
	"testing"
	"time"
)

// A grantor that does not answer leaves those after it their share of the wait, and never gets more than an answer takes.
func TestWhatIsLeftOfAWaitIsShared(t *testing.T) {
	if got := share(context.Background(), 3); got != answerWithin {
		t.Errorf("of a wait without end one gets %v", got)
	}
	for _, c := range []struct {
		left, most time.Duration
		grantors   int
	}{
		{time.Hour, answerWithin, 3}, {9 * time.Second, 3 * time.Second, 3}, {9 * time.Second, 9 * time.Second, 1},
	} {
		began := time.Now()
		ctx, cancel := context.WithDeadline(context.Background(), began.Add(c.left))
		got := share(ctx, c.grantors)
		cancel()
		if least := c.most - time.Since(began); got > c.most || got < least {
			t.Errorf("of %v one of %d gets %v, want %v to %v", c.left, c.grantors, got, least, c.most)
		}
	}
}
