package lease

// Kind is which of the seven facts a fact is (SPEC 2).
type Kind int

// The kinds of fact, each with who authors it.
const (
	Proposal Kind = iota + 1 // holder: asks for a lease
	Grant                    // grantor: accepts, names the terms
	Refusal                  // grantor: rejects a proposal
	Release                  // holder: gives a lease back
	Lapsed                   // grantor: records that a lease has ended and was taken back
	Renewal                  // holder: evidence that it is alive
	Tick                     // adapter: a reading of the clock
)

// Cause is why a lease ended (SPEC 2).
type Cause string

// The four causes, in the order in which they are tried (SPEC 6).
const (
	ByRelease Cause = "release"
	ByCap     Cause = "cap"
	ByPolicy  Cause = "policy"
	BySilence Cause = "silence"
)

// Fact is one line of negotiation or evidence. A field that its kind does not carry is zero. Facts made by the
// constructors and by Decode are never defective.
type Fact struct {
	Kind     Kind
	Lease    string   // dao.lease/lease
	Proposal string   // dao.lease/proposal
	Holder   string   // dao.lease/holder
	Subject  Subject  // dao.lease/subject
	Duration Duration // dao.lease/duration; on a proposal what is asked for
	Max      Duration // dao.lease/max, the cap
	Reading  Duration // dao.lease/reading
	Cause    Cause    // dao.lease/cause

	Token     int64  // daolease/token, 1 to 2^52; 0 when there is none
	Withdrawn bool   // daolease/withdrawn: the proposer takes the proposal back
	Note      string // daolease/note, for people
	Reason    string // daolease/reason, of a refusal or a policy
	By        string // daolease/by: the lease in the way of a refused proposal
	HeldBy    string // daolease/held-by: who holds that lease
	Boot      string // daolease/boot, on a tick: the boot and time namespace it was taken in
	Clock     int64  // daolease/clock, on a tick: the raw clock in ms
	HasClock  bool   // that daolease/clock is there
}
