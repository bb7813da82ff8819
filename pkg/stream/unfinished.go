package stream

import (
	"bytes"
	"context"
	"io"
)

// Unfinished is how many bytes follow the last newline: a line that its writer did not finish. It is no value,
// and the next append closes it. Whoever alone writes a medium learns from it that a write of its own was torn,
// or that the file was cut.
func (f *File) Unfinished(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, f.transport(err)
	}
	v, err := f.look()
	if err != nil {
		return 0, f.transport(err)
	}
	defer v.close()
	if v.cond != nil {
		return 0, nil
	}
	buf := make([]byte, 64<<10)
	for end := v.now.size; end > 0; {
		from := max(0, end-int64(len(buf)))
		n, err := v.now.ReadAt(buf[:end-from], from)
		if err != nil && err != io.EOF {
			return 0, f.transport(err)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return v.now.size - (from + int64(i) + 1), nil
		}
		end = from
	}
	return v.now.size, nil
}
