//go:build !race

package judge_test

// lives is how many of so many random lives are told.
func lives(n uint64) uint64 { return n }
