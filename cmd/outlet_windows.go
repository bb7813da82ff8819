package cmd

import "os"

// outlet is the file itself: here no signal comes of a write that nobody reads.
func outlet(f *os.File) *os.File { return f }
