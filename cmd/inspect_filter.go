package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daolease/daolease/pkg/lease"
)

// rowFilter is which leases a listing shows, and in which order.
type rowFilter struct {
	holder, subject string
	state, sort     string
	pattern         glob // of the subject
}

// The states and orders that can be asked for. due is live, and a pass now would conclude it.
func rowStates() []string {
	return []string{stateLive, stateDue, statePending, stateGranted, stateReleased, stateLapsed}
}
func rowOrders() []string {
	return []string{"lease", "subject", "holder", "state", "lapse", "since", "renewed"}
}

const stateDue = "due"

func (f *rowFilter) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.holder, "holder", "", "only the leases of this `holder`")
	flags.StringVar(&f.subject, "subject", "", "only the leases on subjects that match this `pattern` (\"*\": all; else * not across /, ** across)")
	flags.StringVar(&f.state, "state", "", "only leases in this `state`: "+strings.Join(rowStates(), ", "))
	flags.StringVar(&f.sort, "sort", "", "order by this `column`: "+strings.Join(rowOrders(), ", "))
	// The errors are ones of registering twice.
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(rowStates(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(rowOrders(), cobra.ShellCompDirectiveNoFileComp))
}

func (f *rowFilter) any() bool { return f.narrows() || f.sort != "" }

// narrows says that it may leave rows out.
func (f *rowFilter) narrows() bool { return f.holder != "" || f.subject != "" || f.state != "" }

// check refuses what is no state, order or pattern (exit 2).
func (f *rowFilter) check() error {
	switch {
	case f.state != "" && !slices.Contains(rowStates(), f.state):
		return usagef("the states are "+strings.Join(rowStates(), ", "), "--state: %q is no state", f.state)
	case f.sort != "" && !slices.Contains(rowOrders(), f.sort):
		return usagef("the columns are "+strings.Join(rowOrders(), ", "), "--sort: %q is no column to order by", f.sort)
	case f.subject == "":
		return nil
	}
	pattern, err := compileGlob(f.subject)
	if err != nil {
		return usagef("", "--subject: %w", err)
	}
	f.pattern = pattern
	return nil
}

// onSubject says that a subject is as asked for. A lone "*" is every subject, as in the configuration.
func (f *rowFilter) onSubject(subject lease.Subject) bool {
	return f.subject == "" || f.subject == everySubject || f.pattern.match(subject.Text())
}

func (f *rowFilter) admits(row *leaseRow) bool {
	switch {
	case f.holder != "" && row.Holder != f.holder:
		return false
	case !f.onSubject(row.Subject):
		return false
	case f.state == stateDue:
		return row.Due
	}
	return f.state == "" || row.State == f.state
}

// order sorts rows. What is not known comes last, and what is alike stays in the order of its lease ids.
func (f *rowFilter) order(s *survey, rows []leaseRow) {
	by := func(text func(*leaseRow) string) func(a, b leaseRow) int {
		return func(a, b leaseRow) int { return cmp.Compare(text(&a), text(&b)) }
	}
	span := func(of func(*leaseRow) *lease.Duration) func(a, b leaseRow) int {
		return func(a, b leaseRow) int {
			x, y := of(&a), of(&b)
			if x == nil || y == nil {
				return compareNil(x == nil, y == nil)
			}
			return cmp.Compare(s.count(*x), s.count(*y))
		}
	}
	less := map[string]func(a, b leaseRow) int{
		"lease":   by(func(r *leaseRow) string { return r.Lease }),
		"subject": by(func(r *leaseRow) string { return r.Subject.Text() }),
		"holder":  by(func(r *leaseRow) string { return r.Holder }),
		"state":   by(rowState),
		"lapse":   lapseFirst(span(func(r *leaseRow) *lease.Duration { return r.Left })),
		"since":   span(func(r *leaseRow) *lease.Duration { return r.Start }),
		"renewed": span(func(r *leaseRow) *lease.Duration { return r.Last }),
	}[f.sort]
	if less != nil {
		slices.SortStableFunc(rows, less)
	}
}

// lapseFirst puts what is pending or due before what has time left.
func lapseFirst(left func(a, b leaseRow) int) func(a, b leaseRow) int {
	over := func(r *leaseRow) bool { return r.Due || r.State == statePending }
	return func(a, b leaseRow) int {
		return cmp.Or(compareNil(!over(&a), !over(&b)), left(a, b))
	}
}

// compareNil orders by a condition, what does not meet it first.
func compareNil(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// countSlots says how many slots of its subject are taken.
func (s *survey) countSlots(row *leaseRow) {
	if s.lean {
		return
	}
	text := row.Subject.Text()
	if s.slots == nil {
		s.slots = map[string]*int{}
		for i := range s.past {
			s.slotsOf(s.past[i].Subject.Text(), 1)
		}
	}
	if s.slots[text] == nil && s.view != nil {
		s.slotsOf(text, s.view.Taken(text))
	}
	row.SlotsTaken = s.slots[text]
	if rule, found := s.comp.Config.rule(row.Subject); found {
		row.Slots = &rule.Slots
	}
}

// slotsOf notes that so many more slots of a subject are taken.
func (s *survey) slotsOf(text string, more int) {
	if s.slots[text] == nil {
		s.slots[text] = new(int)
	}
	*s.slots[text] += more
}
