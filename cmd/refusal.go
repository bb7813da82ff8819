package cmd

import (
	"fmt"
	"strings"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/lease"
)

// retriable says that the same proposal may be answered differently later.
func retriable(reason string) bool {
	return reason == judge.RefusedBusy || reason == judge.RefusedLimit || reason == judge.RefusedStale
}

// refusedError is a proposal that was refused (exit 4), with why that was.
func (c *Composition) refusedError(id string, p *lease.Proposed, name, why string) error {
	hint := ""
	switch {
	case p.Reason == judge.RefusedSubject:
		hint = c.subjectsGranted(p.Subject)
	case p.Reason == judge.RefusedHolder:
		hint = "the entry of " + shellQuote(configFile(c.Dir)) + " that matches it names its holders; --as NAME says who you are"
	case p.Reason == judge.RefusedBusy && p.HeldBy == name:
		hint = fmt.Sprintf("you hold it yourself: daolease renew %s, or daolease release %s; once released, --wait D proposes again when that is recorded", p.By, p.By)
	case p.Reason == judge.RefusedBusy:
		hint = "--wait D proposes again until it is granted; daolease why " + wordsFor(p) + " says who has it"
	case p.Reason == judge.RefusedLimit:
		hint = "daolease inspect --holder " + name + " shows them: release one; or --wait D proposes again until it is granted"
	case retriable(p.Reason):
		hint = "--wait D proposes again until it is granted"
	case p.Reason == judge.RefusedShort:
		hint = "ask for more with --duration"
	default:
		hint = "whether it is worth to propose anew, the grantor knows"
	}
	return fail(exitRefused, hint, "proposal %s was refused: %s", id, why)
}

// wordsFor are words for why that name what a proposal was about: the subject, or, where that is too long to be typed,
// the lease in the way.
func wordsFor(p *lease.Proposed) string {
	if p.By != "" && len(p.Subject.Text()) > quotedMost {
		return shellQuote(p.By)
	}
	return subjectWords(p.Subject)
}

// maxPatterns is how many patterns a hint names.
const maxPatterns = 6

// subjectsGranted is a hint for who asked for a subject that is not granted: what is wrong with it, or which are.
func (c *Composition) subjectsGranted(subject lease.Subject) string {
	// What a holder's notes keep of a configuration has no subjects.
	config, err := loadConfig(configFile(c.Dir))
	if err != nil {
		return "daolease check says what is wrong with " + shellQuote(configFile(c.Dir))
	}
	if err := config.admissible(subject); err != nil {
		return "write it otherwise: " + err.Error()
	}
	var patterns []string
	for i := range config.Subjects {
		if i == maxPatterns {
			patterns = append(patterns, "...")
			break
		}
		patterns = append(patterns, config.Subjects[i].Match)
	}
	text := fmt.Sprintf("%s grants %s", shellQuote(configFile(c.Dir)), strings.Join(patterns, ", "))
	if strings.Contains(subject.Text(), "/") && strings.Contains(text, "*") {
		text += " (* is anything without a slash, ** anything)"
	}
	return text
}

// refusalText is why a proposal was refused, for people.
func refusalText(p *lease.Proposed, name string) string {
	switch p.Reason {
	case judge.RefusedBusy:
		who := escape(p.HeldBy)
		if who == "" {
			who = "another holder"
		}
		if p.By == "" {
			return fmt.Sprintf("busy: %s holds %s", who, shortened(subjectText(p.Subject)))
		}
		return fmt.Sprintf("busy: %s holds lease %s on %s", who, p.By, shortened(subjectText(p.Subject)))
	case judge.RefusedSubject:
		return fmt.Sprintf("subject: nothing is granted on %s here", shortened(subjectText(p.Subject)))
	case judge.RefusedHolder:
		return fmt.Sprintf("holder: nothing is granted to %s on %s", name, shortened(subjectText(p.Subject)))
	case judge.RefusedShort:
		return "short: so short a duration cannot be judged; it must be at least twice the cadence plus the tolerance"
	case judge.RefusedLimit:
		return fmt.Sprintf("limit: %s has as many leases as it may have", name)
	case judge.RefusedStale:
		return "stale: it was read after a gap, and may have been an old one"
	case "":
		return "the grantor gave no reason"
	}
	return escape(p.Reason)
}
