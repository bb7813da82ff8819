package lease

import (
	"context"
	"errors"

	"github.com/daolease/daolease/pkg/stream"
)

// ErrUnresolved is a resolver's answer when it cannot tell the author now but may later: the fact stays
// unread, as when a drain is cut short (SPEC 4).
var ErrUnresolved = errors.New("the author cannot be told now")

// Nobody is the author of a fact that nobody is known to have written. Such a fact establishes nothing.
const Nobody = ""

// Resolver answers who wrote what, from the medium and never from the fact (SPEC 4).
type Resolver interface {
	// Sole is the one author that a medium can have. It answers false for a medium that several can write.
	Sole(medium string) (author string, sole bool)
	// Author is who wrote a value that was read on a medium: a name, Nobody, or an error that wraps
	// ErrUnresolved when that cannot be told now.
	Author(ctx context.Context, medium string, v stream.Value) (string, error)
}
