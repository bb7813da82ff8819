package judge

import "strings"

// texts keeps the texts of live leases in large chunks, so that a million leases are a few thousand objects to
// the garbage collector. What was handed out stays good: chunks are never written twice.
type texts struct {
	chunks []string
	open   *strings.Builder // the last chunk
	size   int              // of everything
	dead   int              // of what nobody refers to any more
}

// textPlace is where a text begins.
type textPlace struct{ chunk, at uint32 }

// chunkSize is how large a chunk is. A text that is larger gets one of its own.
const chunkSize = 64 << 10

// add keeps some texts, one behind the other.
func (t *texts) add(parts ...string) textPlace {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if t.open == nil || t.open.Cap()-t.open.Len() < size {
		t.open = &strings.Builder{}
		t.open.Grow(max(chunkSize, size))
		t.chunks = append(t.chunks, "")
	}
	at := textPlace{uint32(len(t.chunks) - 1), uint32(t.open.Len())}
	for _, p := range parts {
		t.open.WriteString(p)
	}
	t.chunks[at.chunk] = t.open.String()
	t.size += size
	return at
}

// get is the text of a length that begins some bytes behind a place.
func (t *texts) get(p textPlace, skip, length uint32) string {
	from := p.at + skip
	return t.chunks[p.chunk][from : from+length]
}
