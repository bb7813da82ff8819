package judge

// Which leases are due is found by lower bounds: one a lease, and one a block of leases below which none of the
// block's lies. They may be too low, never too high, so that a renewal costs nothing here; looking at one that
// has been reached mends it. A pass in which nothing is due looks at one number a block (SPEC 6, the cost of a pass).

// await says that a lease can become due by itself, and not before a reading has passed.
func (s *slab) await(e *live, bound int64) {
	b := e.slot / blockSize
	s.blocks[b].bounds[e.slot%blockSize] = bound
	s.least[b] = min(s.least[b], bound)
}

// forgo says that a lease does not become due by itself any more.
func (s *slab) forgo(e *live) { s.blocks[e.slot/blockSize].bounds[e.slot%blockSize] = never }

func (s *slab) awaited(e *live) bool {
	return s.blocks[e.slot/blockSize].bounds[e.slot%blockSize] != never
}

// overdue are the live leases that are past their cap or silent at a reading, as things stand.
func (l *ledger) overdue(now int64) []*live {
	var past []*live
	for n, least := range l.least {
		if least < now {
			past = l.overdueIn(n, now, past)
		}
	}
	return past
}

// overdueIn adds those of one block, and mends its bounds.
func (l *ledger) overdueIn(n int, now int64, past []*live) []*live {
	b, least := l.blocks[n], int64(never)
	for i, bound := range b.bounds {
		if bound < now {
			e := &b.lives[i]
			bound = l.passes(e)
			b.bounds[i] = bound
			if bound < now {
				past = append(past, e)
			}
		}
		least = min(least, bound)
	}
	l.least[n] = least
	return past
}

// firstBound is the least reading past which a live lease is due by itself; never when there is none.
func (l *ledger) firstBound() int64 {
	first := 0
	for n, least := range l.least {
		if least < l.least[first] {
			first = n
		}
	}
	best := int64(never)
	if len(l.least) > 0 {
		best = l.mended(first)
	}
	for n, least := range l.least {
		if least < best {
			best = min(best, l.mended(n))
		}
	}
	return best
}

// mended is the least exact bound in a block, which is mended as far as that needs.
func (l *ledger) mended(n int) int64 {
	b, best := l.blocks[n], int64(never)
	for i, bound := range b.bounds {
		if bound < best {
			bound = l.passes(&b.lives[i])
			b.bounds[i] = bound
			best = min(best, bound)
		}
	}
	l.least[n] = best
	return best
}
