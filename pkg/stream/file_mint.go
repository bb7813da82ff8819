package stream

import (
	"bytes"
	"context"
	"errors"
)

// Mint implements Medium. What its writer did to the medium is no error here either: a cursor minted then meets
// its gap when it is read.
func (f *File) Mint(ctx context.Context, at Edge) (Cursor, error) {
	err := errChanged
	for range racesMost {
		if ctx.Err() != nil {
			return "", f.transport(context.Cause(ctx))
		}
		var c Cursor
		c, err = f.mint(at)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, errChanged) && !isStale(err) {
			break
		}
	}
	if errors.Is(err, errChanged) || isStale(err) || asCondition(err) != nil {
		return (&view{file: f}).unborn().cursor(), nil
	}
	return "", f.transport(err)
}

func (f *File) mint(at Edge) (Cursor, error) {
	v, err := f.look()
	if err != nil {
		return "", err
	}
	defer v.close()
	if v.cond != nil && !v.cond.missing {
		return v.unborn().cursor(), nil
	}
	edge := v.oldest
	if at == Newest {
		edge = v.newest
	}
	p, err := edge()
	return p.cursor(), err
}

// MintNear is a cursor before the newest values, about so many bytes of them. Where none are so near the end, or it
// cannot be told, it is one at the oldest retained.
func (f *File) MintNear(ctx context.Context, most int64) (Cursor, error) {
	if err := ctx.Err(); err != nil {
		return "", f.transport(context.Cause(ctx))
	}
	if at, ok := f.near(most); ok {
		return at.cursor(), nil
	}
	return f.Mint(ctx, Oldest)
}

func (f *File) near(most int64) (place, bool) {
	v, err := f.look()
	if err != nil {
		return place{}, false
	}
	defer v.close()
	p := v.now
	if v.cond != nil || p.blank {
		return place{}, false
	}
	off, err := nextLine(p, max(p.start, p.limit-most))
	if err != nil || off < 0 {
		return place{}, false
	}
	if end, err := lineBefore(p, p.limit); err != nil || end <= off {
		return place{}, false
	}
	at, err := v.placeAt(p, off)
	return at, err == nil
}

// newest is the place behind the last whole line, and before the closing mark.
func (v *view) newest() (place, error) {
	p := v.now
	if p.blank {
		old, err := v.older()
		if err != nil || old == nil {
			return v.unborn(), err
		}
		return v.placeAt(p, p.start)
	}
	off, err := lineBefore(p, p.limit)
	if err != nil {
		return place{}, err
	}
	if off < 0 {
		// What is unfinished at the end is too long to be a value already.
		at, err := v.placeAt(p, p.limit)
		at.skip = p.position(max(p.start, p.limit-MaxValue-1))
		return at, err
	}
	before, err := closingBefore(p, off)
	if err != nil {
		return place{}, err
	}
	return v.placeAt(p, before)
}

// lineBefore is the last offset up to end at which a line begins, or -1 when the line there is too long anyway.
func lineBefore(p *part, end int64) (int64, error) {
	least := max(p.start, end-MaxValue-1)
	buf := make([]byte, 4096)
	for hi := end; hi > least; {
		lo := max(least, hi-int64(len(buf)))
		b := buf[:hi-lo]
		if _, err := p.ReadAt(b, lo); err != nil {
			return 0, cutShort(err)
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return lo + int64(i) + 1, nil
		}
		hi = lo
		if len(buf) < 64<<10 {
			buf = make([]byte, 64<<10)
		}
	}
	if least > p.start {
		return -1, nil
	}
	return p.start, nil
}

// closingBefore is the offset at which the line that ends at off begins, if that line closes the medium; else off.
func closingBefore(p *part, off int64) (int64, error) {
	lo := max(p.start, off-closingMost-2)
	b := make([]byte, off-lo)
	if len(b) == 0 {
		return off, nil
	}
	if _, err := p.ReadAt(b, lo); err != nil {
		return 0, cutShort(err)
	}
	begin := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	if begin == 0 && lo > p.start || !isClosing(b[begin:len(b)-1]) {
		return off, nil
	}
	return lo + int64(begin), nil
}
