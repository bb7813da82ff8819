package cmd

import (
	"context"
	"errors"
	"fmt"
)

// live checks what is going on now: whether a judge is passing, whether a reclaim keeps failing, and what waits
// for an answer.
func (k *checker) live(ctx context.Context) error {
	s, err := k.comp.survey(ctx)
	if coded := new(exitError); errors.As(err, &coded) {
		// What is wrong with the ledger was found before.
		k.advice(k.comp.grantorDir(), coded.hint, "what is live cannot be told: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	k.passing(s)
	if s.view != nil {
		k.reclaims(s)
	} else if s.private {
		k.advice(k.comp.path("grantor", "ledger.jsonl"), "run check --live as the judge's user", "whether a reclaim keeps failing, only the judge's ledger says")
	}
	return k.unanswered(ctx, s)
}

// passing checks the newest tick against three cadences, and who has the judge's lock.
func (k *checker) passing(s *survey) {
	place, j := k.comp.grantorDir(), s.doc.Judge
	disk, full := k.comp.fullWords()
	if full != "" {
		k.problem(disk, madeRoom(disk), "%s", full)
	}
	switch {
	case j.Passing == nil:
		k.advice(place, "run check --live on the judge's machine, as its user", "%s", j.Text)
	case *j.Passing:
	case j.Lock == lockHeld && full != "":
		k.problem(place, madeRoom(disk), "%s, for want of room", j.Text)
	case j.Lock == lockHeld:
		k.problem(place, "see what the process that has judge.lock waits for, or start it anew", "%s", j.Text)
	default:
		k.problem(place, noJudgeRemedy, "%s: nothing is granted or taken back", j.Text)
	}
}

// reclaims checks for procedures that failed.
func (k *checker) reclaims(s *survey) {
	for _, row := range s.view.Rows() {
		if row.Reclaim.Attempts == 0 || row.Reclaim.OK || row.Reclaim.Error == "" || s.revoked[row.Lease].Reclaimed {
			continue // or it was taken back by hand, which is still to be recorded
		}
		k.problem("lease "+row.Lease,
			fmt.Sprintf("mend the procedure; or take %s back by hand and say so: daolease revoke %s --reclaimed --reason T", shortened(subjectText(row.Subject)), shellQuote(row.Lease)),
			"its reclaim (%s) of %s failed %s, the last with: %s", row.Reclaim.Cause, subjectText(row.Subject), times(row.Reclaim.Attempts), row.Reclaim.Error)
	}
}

// maxWaiting is how many open proposals check names. All are counted.
const maxWaiting = 10

func (k *checker) unanswered(ctx context.Context, s *survey) error {
	if err := s.addProposals(ctx); err != nil {
		return err
	}
	rows := *s.doc.Proposals
	for i, p := range rows {
		if i == maxWaiting {
			k.advice(k.comp.holdersDir(), "daolease inspect --proposals shows them all", "more that wait for an answer: %s", counted(len(rows)-i, "proposal"))
			break
		}
		remedy := "the judge answers it at one of its next passes"
		if p.Answer != "auto" {
			remedy = fmt.Sprintf("daolease grant --proposal %s %s, or daolease refuse %[1]s %[2]s", shellQuote(p.Proposal), shellQuote(p.Holder))
		}
		k.advice("proposal "+p.Proposal, remedy, "%s waits for an answer on %s", p.Holder, shortened(subjectText(p.Subject)))
	}
	return nil
}
