package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/daolease/daolease/pkg/stream"
)

// A group is one or more lines, each
//
//	{"sum":"89abcdef","group":7,"line":0,"last":true, …delta…}
//
// where sum is the CRC-32C of everything behind it. Only a group whose last line is there counts. A write
// that failed half-way leaves a group without its last line; the next attempt bears the same number.
type journalLine struct {
	Group uint64 `json:"group"`
	Line  int    `json:"line"`
	Last  bool   `json:"last,omitempty"`
	delta
}

const (
	sumPrefix = `{"sum":"`
	sumLength = len(sumPrefix) + 8 + len(`",`)
	lineBytes = 128 << 10 // about how much one line carries, before escapes; a single lease may be more
)

// sumOf is the CRC-32C of a text. The table is made when it is first needed: most commands write no ledger.
func sumOf(text []byte) uint32 { return crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)) }

// encode writes one line. The renewed come last and by hand: they are most of what a busy judge writes.
func (g journalLine) encode() ([]byte, error) {
	renewed := g.Renewed
	g.Renewed = nil
	body, err := json.Marshal(g)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	line := make([]byte, sumLength, sumLength+len(body)+len(renewed)*24)
	line = append(line, body[1:]...)
	if len(renewed) > 0 {
		line = appendIDs(line[:len(line)-1], renewed)
	}
	copy(line, fmt.Appendf(nil, `%s%08x",`, sumPrefix, sumOf(line[sumLength:])))
	return line, nil
}

// appendIDs adds the renewed as the last member of an object.
func appendIDs(line []byte, ids []string) []byte {
	line = append(line, `,"renewed":`...)
	for i, id := range ids {
		line = append(line, `[,`[min(i, 1)])
		quoted, err := jsontext.AppendQuote(line, id)
		_ = err // says only that something was no UTF-8 and was replaced, as encoding/json does
		line = quoted
	}
	return append(line, `]}`...)
}

// decodeLine reads one line back; false means that it is damaged.
func decodeLine(line []byte) (journalLine, bool) {
	if len(line) < sumLength || !bytes.HasPrefix(line, []byte(sumPrefix)) {
		return journalLine{}, false
	}
	sum, body := line[len(sumPrefix):len(sumPrefix)+8], line[sumLength:]
	if string(sum) != fmt.Sprintf("%08x", sumOf(body)) {
		return journalLine{}, false
	}
	g, read := plainLine(body)
	if !read {
		g, read = strictLine(body)
	}
	return g, read && g.sound()
}

// strictLine reads what is behind the sum of any line.
func strictLine(body []byte) (journalLine, bool) {
	var g journalLine
	return g, json.Unmarshal(append([]byte{'{'}, body...), &g) == nil
}

// journal writes groups to the ledger's medium, which this judge alone writes.
type journal struct {
	medium  stream.Rewriter
	end     stream.Cursor // behind this judge's own last line
	group   uint64        // number of the last whole group
	carried []*delta      // what could not be written yet
	tried   [][]byte      // lines of an attempt that did not answer ok
	parts   int           // how many of the carried are in it
	rewrote []mark        // of the lines of a rewrite that did not answer ok
	owing   bool          // a sync that was asked for has not taken place
	base    string
	settled int64 // size after the last snapshot
	most    int64 // size above which it is rewritten, if also twice settled
}

// check answers stream.ErrMoved when anybody else has written to the ledger. It reads, because reading on from
// where nothing has changed is a single look at the file, and it is done before each procedure.
func (j *journal) check(ctx context.Context) error {
	if j == nil {
		return nil
	}
	if err := j.resume(ctx); err != nil {
		return err
	}
	answer := j.medium.Read(ctx, j.end, stream.Budget{Values: 1}, func(stream.Value) bool { return false })
	switch {
	case answer.State == stream.OK || answer.State == stream.Gap:
		return usurped(fmt.Errorf("%w: its end is not where this judge has written last", stream.ErrMoved))
	case answer.State == stream.End:
		return usurped(stream.ErrClosed)
	case answer.State != stream.Blocked:
		return usurped(fmt.Errorf("%v: %w", answer.State, errors.Join(answer.Err, stream.ErrTransport)))
	}
	return nil
}

// errUsurped is an append to the ledger, or a look at it, that found another writer: this judge must stop.
var errUsurped = errors.New("another judge has written to the ledger")

// usurped tells a ledger that has moved from one that cannot be written.
func usurped(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stream.ErrMoved):
		return fmt.Errorf("%w: %w", errUsurped, err)
	}
	return fmt.Errorf("the ledger: %w", err)
}

// Usurped says that an error means another judge: this one must stop.
func Usurped(err error) bool { return errors.Is(err, errUsurped) }

// write appends a group with everything that is carried and d. What cannot be written is carried on.
func (j *journal) write(ctx context.Context, d *delta, sync bool) error {
	if j == nil {
		return nil
	}
	j.carried = append(j.carried, d)
	j.owing = j.owing || sync
	if err := j.resume(ctx); err != nil {
		return err
	}
	lines, err := groupLines(j.group+1, j.carried)
	if err != nil {
		return err
	}
	done, err := j.medium.Append(ctx, stream.How{Sync: j.owing, Expect: j.end, Cursor: true}, lines...)
	if err != nil {
		if !errors.Is(err, stream.ErrMoved) {
			j.tried, j.parts = lines, len(j.carried)
		}
		return usurped(err)
	}
	j.end, j.group, j.carried, j.owing = done.Cursor, j.group+1, nil, false
	return nil
}

// behind says that something which is to be on disk may not be there.
func (j *journal) behind() bool { return j != nil && (len(j.carried) > 0 || j.owing) }

// resume looks at what became of an attempt that did not answer ok. A prefix of its own lines is no sign of
// another writer.
func (j *journal) resume(ctx context.Context) error {
	if err := j.resumeRewrite(ctx); err != nil || len(j.tried) == 0 {
		return err
	}
	landed, answer, foreign := j.landed(ctx, j.end, marksOf(j.tried))
	switch {
	case foreign || answer.State == stream.Gap:
		return fmt.Errorf("%w: it has lines that this one did not write", errUsurped)
	case answer.State != stream.Blocked:
		return fmt.Errorf("%w: reading the ledger back: %v: %v", stream.ErrTransport, answer.State, answer.Err)
	}
	if landed == len(j.tried) {
		j.group++
		j.carried = j.carried[j.parts:]
	}
	j.end, j.tried = answer.Cursor, nil
	return nil
}

// resumeRewrite looks at what became of a rewrite that did not answer ok: the old is there, or the new.
func (j *journal) resumeRewrite(ctx context.Context) error {
	if len(j.rewrote) == 0 {
		return nil
	}
	_, answer, _ := j.landed(ctx, j.end, nil)
	if answer.State == stream.Gap {
		landed, foreign, begin := 0, false, answer.Cursor
		landed, answer, foreign = j.landed(ctx, begin, j.rewrote)
		if foreign || landed < len(j.rewrote) && answer.State == stream.Blocked {
			return fmt.Errorf("%w: it was replaced", errUsurped)
		}
		if answer.State == stream.Blocked {
			return j.replaceAgain(ctx, begin, answer.Cursor)
		}
	} else if answer.State == stream.Blocked || answer.State == stream.OK {
		j.rewrote = nil
		return nil
	}
	return fmt.Errorf("%w: reading the ledger back: %v: %v", stream.ErrTransport, answer.State, answer.Err)
}

// replaceAgain has what a rewrite left, which took effect and nobody knows how durably, take its own place. Until
// that answers ok it remains to be done.
func (j *journal) replaceAgain(ctx context.Context, begin, end stream.Cursor) error {
	before, rewrote := j.end, j.rewrote
	err := j.replace(ctx, end, j.readBack(ctx, begin))
	if err != nil {
		j.end, j.rewrote = before, rewrote
	}
	return err
}

// readBack are the ledger's lines from a cursor on.
func (j *journal) readBack(ctx context.Context, from stream.Cursor) stream.Values {
	return func(yield func([]byte, error) bool) {
		wanted := true
		answer := j.medium.Read(ctx, from, stream.Budget{}, func(v stream.Value) bool {
			wanted = yield(v.Bytes, nil)
			return wanted
		})
		if wanted && answer.State != stream.Blocked {
			yield(nil, fmt.Errorf("%w: reading the ledger back: %v: %v", stream.ErrTransport, answer.State, answer.Err))
		}
	}
}

// landed counts how many of these lines follow a cursor; foreign are others that do.
func (j *journal) landed(ctx context.Context, from stream.Cursor, lines []mark) (n int, a stream.Answer, foreign bool) {
	a = j.medium.Read(ctx, from, stream.Budget{}, func(v stream.Value) bool {
		switch {
		case v.Damage != "":
		case n < len(lines) && markOf(v.Bytes) == lines[n]:
			n++
		default:
			foreign = true
		}
		return !foreign
	})
	return n, a, foreign
}

// compact replaces the ledger's file by a snapshot when it has outgrown what it holds.
func (j *journal) compact(ctx context.Context, l *ledger) error {
	if j == nil || len(j.carried) > 0 || len(j.tried) > 0 || len(j.rewrote) > 0 {
		return nil
	}
	size, err := j.medium.Size(ctx)
	if err != nil || size <= max(j.most, 2*j.settled) {
		return err
	}
	return j.rewrite(ctx, l)
}

func (j *journal) rewrite(ctx context.Context, l *ledger) error {
	if err := j.replace(ctx, j.end, l.snapshotLines(j.base)); err != nil {
		return err
	}
	size, err := j.medium.Size(ctx)
	j.settled = size
	return err
}

// replace has a snapshot take the place of everything up to a cursor.
func (j *journal) replace(ctx context.Context, until stream.Cursor, lines stream.Values) error {
	var marks []mark
	end, err := j.medium.Rewrite(ctx, until, func(yield func([]byte, error) bool) {
		for line, err := range lines {
			marks = append(marks, markOf(line))
			if !yield(line, err) {
				return
			}
		}
	})
	if err != nil {
		if !errors.Is(err, stream.ErrMoved) {
			j.end, j.rewrote = until, marks
		}
		return usurped(err)
	}
	j.end, j.group, j.owing, j.rewrote = end, 1, false, nil
	return nil
}

// mark is by which a line is known again, when it was one of this judge's own and is no longer kept.
type mark struct {
	size int
	sum  uint32
}

func markOf(line []byte) mark { return mark{len(line), sumOf(line)} }

func marksOf(lines [][]byte) (marks []mark) {
	for _, line := range lines {
		marks = append(marks, markOf(line))
	}
	return marks
}

// groupLines makes the lines of one group.
func groupLines(group uint64, deltas []*delta) ([][]byte, error) {
	var parts []*delta
	for _, d := range deltas {
		parts = append(parts, d.split()...)
	}
	lines := make([][]byte, len(parts))
	for i, d := range parts {
		line, err := journalLine{Group: group, Line: i, Last: i == len(parts)-1, delta: *d}.encode()
		if err != nil {
			return nil, err
		}
		lines[i] = line
	}
	return lines, nil
}
