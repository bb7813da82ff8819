package cmd

// deepened has the stack of its caller be as deep as a command needs it. Grown by doubling it would be copied time and
// again in the midst of a call, and to copy it Go looks up every function that is active: a command that is over in
// milliseconds would spend a good part of a millisecond, and half a megabyte, on that.
//
//go:noinline
func deepened(by int) int {
	if by == 0 {
		return 0 // the room is not used: that the function could is what counts
	}
	var room [17 << 10]byte
	for i := range room {
		room[i] = byte(by)
	}
	return int(room[by])
}
