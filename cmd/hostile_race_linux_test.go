//go:build race

package cmd_test

// raced: the race detector is at work, which takes several times the memory.
const raced = true
