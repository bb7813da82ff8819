package stream

import (
	"context"
	"errors"
	"io/fs"
)

// Rewrite implements Rewriter. An empty expect expects nothing. Positions go on where the old content ended, so
// that they rise over rewritings too.
func (f *File) Rewrite(ctx context.Context, expect Cursor, values Values) (Cursor, error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	v, err := f.openChecked(expect)
	if err != nil {
		return "", err
	}
	defer v.close()
	next := header{identity: newIdentity(), format: f.o.Format}
	if end := v.now.end(); end <= MaxBase {
		next.base = end
	}
	at, err := f.replace(next, values)
	switch {
	case errors.Is(err, ErrInvalidValue):
		return "", err
	case err != nil:
		return "", f.failed(err)
	}
	return at.cursor(), nil
}

// replace exchanges the medium's content; the append lock is held.
func (f *File) replace(next header, values Values) (place, error) {
	first := next.line()
	size, err := f.prepare(f.gather(first, values))
	if err != nil {
		return place{}, err
	}
	at, err := f.endOf(next, int64(len(first)), size)
	if err != nil {
		return place{}, err
	}
	if err := f.exchange(); err != nil {
		return place{}, err
	}
	if err := f.sys.remove(f.previous()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place{}, err
	}
	return at, nil
}

// endOf is the place behind everything in the prepared file.
func (f *File) endOf(h header, start, size int64) (place, error) {
	file, err := f.sys.openRead(f.temporary())
	if err != nil {
		return place{}, err
	}
	p := &part{f: file, header: h, start: start, limit: size, size: size}
	defer p.close()
	return (&view{file: f, now: p}).placeAt(p, size)
}

// gather makes lines of values, in chunks of which each is one write. A chunk is valid until the next one.
func (f *File) gather(first []byte, values Values) Values {
	return func(yield func([]byte, error) bool) {
		b := append(make([]byte, 0, 2*chunk), first...)
		for v, err := range values {
			if err == nil {
				err = checkValues(f.path, v)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(b) > 0 && len(b)+len(v) >= cap(b) {
				if !yield(b, nil) {
					return
				}
				b = b[:0]
			}
			b = append(append(b, v...), '\n')
		}
		if len(b) > 0 {
			yield(b, nil)
		}
	}
}
