package hooks

// Group is the process group that a leader began, for whoever starts one without a claim (SPEC 9, hold).
type Group struct{ note note }

// GroupOf names the group of a leader that has just been started with a group of its own.
func GroupOf(leader int) Group {
	n := note{Leader: leader}
	n.Start, n.Session = identify(leader)
	return Group{n}
}

// Members are the living processes of the group, dead ones that nobody has reaped not among them. A group that
// exists but cannot be looked at counts as alive: the answer is then its leader, with the error.
func (g Group) Members() ([]int, error) { return members(g.note) }
