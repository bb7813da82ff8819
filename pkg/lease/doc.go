// Package lease is the vocabulary of leases, and the holder's side of them. It is pure: it does no I/O, reads
// no clock and starts nothing.
//
// A Fact is one line of JSON. Decode reads it, Encode writes it, and the constructors refuse to make one that
// Decode would refuse. A fact is judged here from itself alone: it is no lease fact (ErrNoFact), no decodable
// line (Undecodable), defective (Defective, which names every Defect), or good. Whether a good fact counts is
// decided from history, by whoever keeps one, and who wrote it is told by a Resolver, never by the fact.
//
// A Duration is a unit and a magnitude, not a time.Duration: readings are no wall time. Units turns durations
// into base units, in which everything is compared.
//
// A Holder concludes from what it is shown whether it holds a lease. It holds nothing until it has observed
// the grantor's grant, it stops at its bound whatever happens afterwards, and missing or void state means that
// it does not hold. Every rule errs to the side of stopping too early.
//
// What it does not promise: that a holder which holds a lease is obeyed by anything. A lease does not fence. A
// resource that must not be touched by a late holder has to compare tokens itself.
package lease
