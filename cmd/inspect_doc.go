package cmd

import "github.com/daolease/daolease/pkg/lease"

// inspection is what inspect answers: one document, whatever there is to show. Readings and spans are durations,
// as facts carry them; what is not known is null.
type inspection struct {
	Composition string          `json:"composition"`
	Source      string          `json:"source"`           // ledger or media: whose conclusion this is
	AsOf        *lease.Duration `json:"as_of"`            // the reading at which the ledger was last written
	Pass        uint64          `json:"pass,omitempty"`   // with --at: the pass that left it so
	Oldest      *lease.Duration `json:"oldest,omitempty"` // with --at: the reading to which the ledger goes back
	Now         *lease.Duration `json:"now"`              // the reading at which what is left is counted
	Conclusion  string          `json:"conclusion"`
	Judge       judgeState      `json:"judge"`
	Leases      []leaseRow      `json:"leases"`
	Open        *int            `json:"open_proposals"` // null where they were not counted
	// Proposals is left out unless they were asked for.
	Proposals *[]proposalRow `json:"proposals,omitempty"`
	Warnings  []string       `json:"warnings"`
	Note      string         `json:"note"`
}

// The two sources of what inspect shows.
const (
	fromLedger = "ledger"
	fromMedia  = "media"
)

// inspectNote is said with every answer of inspect (SPEC 6, Record).
const inspectNote = "that no lapsed is recorded is never evidence that a lease is held"

// judgeState is whether a judge passes, as far as can be told from here.
type judgeState struct {
	Passing     *bool           `json:"passing"`     // null: cannot be told from here
	NewestTick  *lease.Duration `json:"newest_tick"` // its reading; null before the first
	Ago         *lease.Duration `json:"ago"`         // since the newest tick; null where that cannot be told
	Lock        string          `json:"lock"`        // of judge.lock: held, free or unknown
	Incarnation uint64          `json:"incarnation"` // of the last start that is known; 0: none
	PID         int             `json:"pid,omitempty"`
	Host        string          `json:"host,omitempty"`
	Text        string          `json:"text"` // the same in a sentence
}

// leaseRow is one lease. State is live or pending where the ledger says so; granted or released where only the
// media do; lapsed for one whose end is recorded.
type leaseRow struct {
	Lease      string          `json:"lease"`
	Subject    lease.Subject   `json:"subject"`
	Holder     string          `json:"holder"`
	State      string          `json:"state"`
	Cause      lease.Cause     `json:"cause,omitempty"` // of a pending or lapsed one, or of what is due
	Due        bool            `json:"due"`             // a pass now would conclude it
	Why        string          `json:"why,omitempty"`
	Left       *lease.Duration `json:"left"` // until it can lapse at the earliest; null when not known
	LeftBy     lease.Cause     `json:"left_by,omitempty"`
	Duration   lease.Duration  `json:"duration"`
	Max        *lease.Duration `json:"max"`
	Token      *int64          `json:"token"`
	Slots      *int            `json:"slots"`        // of its subject; 0: any number; null: no entry matches
	SlotsTaken *int            `json:"slots_taken"`  // null where only the media speak
	Start      *lease.Duration `json:"tenure_start"` // null where no judge has read the grant yet
	StartAgo   *lease.Duration `json:"tenure_ago"`
	StartTime  string          `json:"tenure_start_about,omitempty"` // time of day, for people
	Last       *lease.Duration `json:"last_observation"`             // null where no judge has read it yet
	LastAgo    *lease.Duration `json:"last_ago"`
	Unread     *lease.Duration `json:"unread,omitempty"` // no judge has read its grant or newest renewal, which came at or after this
	Evidence   string          `json:"evidence"`         // known, unknown, or empty where only the media speak
	Resumed    *lease.Duration `json:"resumed"`
	ResumedAgo *lease.Duration `json:"resumed_ago"`
	Unwatched  *lease.Duration `json:"unwatched"`
	Released   bool            `json:"released"`
	Reclaimed  bool            `json:"reclaimed"`
	ByHand     bool            `json:"by_hand,omitempty"` // its subject was taken back by hand, as far as that is retained
	Attempts   int             `json:"attempts"`
	Error      string          `json:"error,omitempty"`
	Facts      []historyLine   `json:"facts,omitempty"` // the history, when one lease was asked for

	fromNext bool // what is left is counted from the judge's next pass
}

// The states of a leaseRow.
const (
	stateLive     = "live"
	statePending  = "pending"
	stateGranted  = "granted"
	stateReleased = "released"
	stateLapsed   = "lapsed"
)

// proposalRow is a proposal that waits for an answer.
type proposalRow struct {
	Proposal string          `json:"proposal"`
	Holder   string          `json:"holder"`
	Subject  lease.Subject   `json:"subject"`
	Ask      *lease.Duration `json:"ask"`
	Answer   string          `json:"answer"` // auto: by the judge; never: by hand; none: no entry matches
	Note     string          `json:"note,omitempty"`
}
