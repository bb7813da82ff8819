// Package hooks runs one reclaim procedure, and finds one that outlived the judge that started it (SPEC 10, and
// SPEC 6 under "A procedure that outlives its judge").
//
// A procedure is an argv, run without a shell, in a process group of its own, with exactly the environment that
// it is given and the whole entry on its standard input. Before it starts, its subject is claimed: an exclusive
// lock on the subject's run file, whose descriptor the procedure and everything that it starts inherit. The lock
// is the evidence that somebody is still at work. The note in the file says who: boot, leader, start time of the
// leader, deadline.
//
// What it promises: two procedures on one subject never overlap, whichever judge started them, as far as their
// processes stay in the group. When Run returns, no process of the group is left, or the result says which ones
// would not die and the claim goes on barring the subject. Run returns within timeout, grace and a few seconds.
// What the procedure prints is bounded, and never blocks it.
//
// What it does not promise: to hold a process that leaves the group (setsid). Such a process is named in the
// result and bars nothing; to contain it is the business of a cgroup. Nor that a procedure runs once: one that
// was killed with its judge runs again, so procedures must be idempotent. When to run, how many at a time and
// when to try again is the caller's.
//
// Elsewhere than on Linux there is no /proc: a former group is known by its note alone, and on Windows not at all.
package hooks
