package judge

import (
	"fmt"
	"iter"
	"slices"

	"github.com/daolease/daolease/pkg/lease"
	"github.com/daolease/daolease/pkg/stream"
)

// Outcome is what a pass came to (SPEC 9, Report).
type Outcome string

// The outcomes. A pass is completed when its outcome is OK.
const (
	OK      Outcome = "ok"
	Idle    Outcome = "idle"    // before a first tick: nothing was done
	Cut     Outcome = "cut"     // the drain of the grantor's stream, or of the ticks, was cut short: the next pass follows at once
	Aborted Outcome = "aborted" // the machine failed: see Abort
)

// Report is what one pass did (SPEC 9). Lists are never nil, and those of leases that were granted or heard of are in
// the order in which that happened. Spans and readings are durations in the base unit.
type Report struct {
	Pass        uint64          `json:"pass"`
	Incarnation uint64          `json:"incarnation"`
	Now         *lease.Duration `json:"now"`
	Outcome     Outcome         `json:"outcome"`
	Abort       string          `json:"abort,omitempty"`
	Unwatched   *lease.Duration `json:"unwatched"` // how long nobody watched before this pass, less the cadence
	Granted     []string        `json:"granted"`
	Refused     []string        `json:"refused"` // proposals
	Renewed     []string        `json:"renewed"`
	Released    []string        `json:"released"`
	Unknown     []string        `json:"unknown"`
	Gaps        []string        `json:"gaps"`
	Truncated   []string        `json:"truncated"`
	Failed      []Failure       `json:"failed"` // media that could not be read for an error of the machine
	Dropped     int             `json:"dropped"`
	Drops       []Drop          `json:"drops"`
	Reclaims    []Reclaim       `json:"reclaims"`
	Lapsed      []Ended         `json:"lapsed"`
	Pending     []Waiting       `json:"pending"`
	NextDue     *lease.Duration `json:"next_due"` // first reading at which anything can be due
	Ledger      []Row           `json:"ledger,omitempty"`

	// Err is set when this judge must stop: another has written to its ledger (stream.ErrMoved).
	Err error `json:"-"`
	// All says that every medium was to be read, and not only those with hints (Config.Hinted).
	All bool `json:"-"`
	// Refusals are the facts of Refused, with whose they are and why; for people.
	Refusals []lease.Fact `json:"-"`
	// Causes says why each gap is one, by medium; for people.
	Causes map[string]string `json:"causes,omitempty"`
}

// The rows of a Report.
type (
	// Failure is a medium that could not be read.
	Failure struct {
		Medium string `json:"medium"`
		Error  string `json:"error"`
	}
	// Drop is a line that is defective, undecodable or inadmissible.
	Drop struct {
		Medium   string          `json:"medium"`
		Position stream.Position `json:"position"`
		Reason   string          `json:"reason"`
	}
	// Reclaim is a procedure that reported.
	Reclaim struct {
		Lease   string      `json:"lease"`
		Subject string      `json:"subject"`
		Cause   lease.Cause `json:"cause"`
		OK      bool        `json:"ok"`
		Error   string      `json:"error,omitempty"`
		Attempt int         `json:"attempt"`
	}
	// Ended is a lease whose lapsed this pass recorded.
	Ended struct {
		Lease string      `json:"lease"`
		Cause lease.Cause `json:"cause"`
	}
	// Waiting is a lease that is due and not recorded yet.
	Waiting struct {
		Lease     string      `json:"lease"`
		Cause     lease.Cause `json:"cause"`
		Reclaimed bool        `json:"reclaimed"`
	}
	// Row is a live lease in the ledger (SPEC 9, Ledger rows).
	Row struct {
		Lease           string          `json:"lease"`
		Subject         lease.Subject   `json:"subject"`
		Holder          string          `json:"holder"`
		Duration        lease.Duration  `json:"duration"`
		Max             *lease.Duration `json:"max"`
		Token           *int64          `json:"token"`
		TenureStart     lease.Duration  `json:"tenure_start"`
		LastObservation lease.Duration  `json:"last_observation"`
		Evidence        string          `json:"evidence"`
		Resumed         *lease.Duration `json:"resumed"`
		Unwatched       lease.Duration  `json:"unwatched"`
		Released        bool            `json:"released"`
		Reclaim         ReclaimState    `json:"reclaim"`
	}
	// ReclaimState is how far taking a lease back has come.
	ReclaimState struct {
		State    string      `json:"state"` // live or pending
		Cause    lease.Cause `json:"cause,omitempty"`
		OK       bool        `json:"ok"`
		Attempts int         `json:"attempts"`
		Error    string      `json:"error,omitempty"`
	}
)

// Rows are the live leases by id, readings as durations in the base unit.
func (j *Judge) Rows() []Row {
	return slices.AppendSeq(make([]Row, 0, j.ledger.count), j.EachRow())
}

// EachRow is Rows one at a time, so that the first is there before the last is made. Nothing else may be asked of
// the judge meanwhile that changes what it knows.
func (j *Judge) EachRow() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, e := range j.ledger.sorted() {
			if !yield(j.row(e)) {
				return
			}
		}
	}
}

// Row is one live lease, if there is one of that id.
func (j *Judge) Row(id string) (Row, bool) {
	if e := j.ledger.find(id); e != nil {
		return j.row(e), true
	}
	return Row{}, false
}

func (j *Judge) row(e *live) Row {
	l := j.ledger
	t := l.entry(e)
	r := Row{
		Lease: t.Lease, Subject: t.Subject, Holder: t.Holder, Duration: t.Duration,
		TenureStart: j.reading(t.TenureStart), LastObservation: j.reading(t.LastObservation),
		Evidence: "known", Released: t.Released,
		Unwatched: j.reading(l.unwatched(t.LastObservation, e.duration)),
		Reclaim:   ReclaimState{State: "live", OK: t.Reclaimed, Attempts: t.Attempts, Error: t.LastError},
	}
	if e.max > 0 {
		r.Max = &t.Max
	}
	if t.Token > 0 {
		r.Token = &t.Token
	}
	if t.Unknown {
		resumed := j.reading(t.Resumed)
		r.Evidence, r.Resumed = "unknown", &resumed
	}
	if e.Pending() {
		r.Reclaim.State, r.Reclaim.Cause = "pending", t.Cause
	}
	if next := j.handedOn(e); next != nil {
		r.Reclaim.Error = fmt.Sprintf("it waits until lease %s is over, which has the subject since a lapsed for this one was recorded", j.ledger.idOf(next))
	}
	return r
}

// reading shows base units as a duration. Zero is shown too.
func (j *Judge) reading(n int64) lease.Duration { return j.ledger.units.Of(n) }

// maxDrops bounds how many drops of one medium a report names. All are counted.
const maxDrops = 100
