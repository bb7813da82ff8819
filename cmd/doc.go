// Package cmd is the composition and the commands: everything that meets the world.
//
// A composition is a folder with a configuration, the grantor's media and a folder for each holder. This
// package finds it, refuses one that is broken (exit 7, with the file, the line and what would be right),
// refuses to touch what belongs to another user (exit 4, with the line that works), says who wrote a medium,
// and turns the machine's clocks into readings. The commands stand on that: each parses its words, calls the
// packages below, and draws what came of it.
//
// What it promises: App is the only door to the world, so a command can be run whole in a test. Nothing here
// is a package variable that changes. Data goes to stdout in one write whose failure is an error; everything
// for people goes to stderr where stdout is data. Control characters in names are shown escaped. Every
// failure comes out of one place, as one line, with a remedy where there is one and a code from the list in
// errors.go.
//
// What it does not promise: that a time of day means anything. Readings count the running time of a machine;
// the time of day that is printed beside one is marked ≈ and decides nothing.
package cmd
