// Package judge concludes when a lease is over, takes its resource back, and records that it has ended (SPEC 6).
//
// A Judge runs inside the process that possesses the resource. It is a step function: the caller appends a tick,
// calls Pass, and is told what happened. Nothing in here starts a goroutine, reads a clock or writes a log; time
// is what the tick stream says, and one goroutine calls a Judge's methods. Appends to the media may come from any.
//
// What it promises: a lease that was renewed in time, by readings that the judge has drained, is not concluded
// silent. Weaker evidence (a gap, a drain cut short, a pause of the judge itself) delays a conclusion and never
// hastens one. A procedure starts only when its lease's pending state is on disk; its success is on disk before
// lapsed is appended; and a judge that is killed at any instant loses no live lease, runs no procedure again
// whose success was on disk, and writes no second lapsed.
//
// What it does not promise: that a holder has stopped. It does not fence; the resource does, by the token. That a
// procedure runs once: one that was killed with its judge runs again, and must be idempotent. That silence is
// noticed soon: a pass that nobody calls concludes nothing. And the absence of a lapsed is no evidence of tenure.
//
// What lies on disk, step by step, and what the next judge makes of it:
//
//	New              the start of an incarnation, synced. Torn: the tail is discarded, all evidence is unknown.
//	steps 1 to 3     grants and refusals on the grantor's stream. They are read again from the old cursor.
//	before step 5    one group: cursors, what they established, pending. Procedures run again until they succeed.
//	a success        a group of its own, synced. What is left to do is to record it.
//	step 6           lapsed on the grantor's stream. It is read again, and found: no second one is written.
//	the end          one group, not synced: what left, how far was read. Without it, the line above.
//	a compaction     the old ledger or the new one, never a part.
package judge
