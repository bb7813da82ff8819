package judge_test

import (
	"bytes"
	"context"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// signed tells authors on mixed-author media by a member, which is what a test can do.
type signed []string

func (m signed) Sole(medium string) (string, bool) { return medium, !slices.Contains(m, medium) }

func (m signed) Author(_ context.Context, medium string, v stream.Value) (string, error) {
	if !slices.Contains(m, medium) {
		return medium, nil
	}
	_, rest, _ := bytes.Cut(v.Bytes, []byte(`"author":"`))
	author, _, _ := bytes.Cut(rest, []byte(`"`))
	if string(author) == "?" {
		return "", lease.ErrUnresolved
	}
	return string(author), nil
}

// onAppend tells of what is to be appended, under the lock or not.
type onAppend struct {
	stream.Medium
	tell func(values [][]byte)
}

func (o *onAppend) Append(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
	o.tell(values)
	return o.Medium.Append(ctx, how, values...)
}

func (o *onAppend) Hold(ctx context.Context) (stream.Appender, func(), error) {
	under, release, err := o.Medium.Hold(ctx)
	return appender(func(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
		o.tell(values)
		return under.Append(ctx, how, values...)
	}), release, err
}

type appender func(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error)

func (a appender) Append(ctx context.Context, how stream.How, values ...[]byte) (stream.Appended, error) {
	return a(ctx, how, values...)
}
