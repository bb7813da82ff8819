// Package stream says what a medium promises, and carries two: JSON lines in a file, and memory.
//
// A medium is an append-only sequence of values. Whoever may write to it appends; whoever may read it mints a
// Cursor at one end and reads on from there. Reading consumes nothing, so any number of readers may follow.
// A cursor is a text that another process can go on with.
//
// What it promises: an append that answered ok is in the medium as one whole line. A reader is handed every
// value after its cursor once and in order, or it is told of a Gap. A line that its writer did not finish never
// becomes a value. What the writer of a medium does to it (truncation, replacement, a symlink, a FIFO, junk
// without end) is a gap or a damaged line for the reader, never an error and never a wait.
//
// What it does not promise: that an append which answered a transport error has not taken effect; that the
// author of a value is who the value says (see the lease package's Resolver); that values are retained for
// ever, unless the medium was declared complete; that a wake of the Watcher follows every append. A Watcher
// makes a pass prompt. Only reading makes it correct.
//
// Nothing here knows what a lease is, and nothing here reads a clock.
package stream
