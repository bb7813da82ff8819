package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"

	"github.com/daolease/daolease/pkg/stream"
)

// The exit codes (SPEC 9).
const (
	exitFailure      = 1  // the machine failed
	exitUsage        = 2  // the command line is wrong
	exitNothingHeld  = 3  // no grant observed, past the bound, lapsed, stale token, id not live
	exitRefused      = 4  // refused
	exitTimeout      = 5  // timed out waiting
	exitNotAppended  = 6  // an append did not answer ok
	exitComposition  = 7  // the composition is refused
	exitOtherJudge   = 8  // another judge runs
	exitLost         = 9  // the ledger is lost
	exitFound        = 10 // check found something
	exitNotReclaimed = 11 // a reclaim has not succeeded

	exitPipe = 128 + 13 // nobody reads stdout any more: what a shell shows of such an end
)

// exitError is an error that knows its exit code, and a remedy where there is one. Without an err nothing is
// printed: the code says it all.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// fail is an error with a code and a remedy ("" when there is none).
func fail(code int, hint, format string, args ...any) error {
	return &exitError{code: code, hint: hint, err: fmt.Errorf(format, args...)}
}

// usagef is a command line that is wrong (exit 2).
func usagef(hint, format string, args ...any) error { return fail(exitUsage, hint, format, args...) }

// exitWith ends with a code and says nothing.
func exitWith(code int) error { return &exitError{code: code} }

// codeOf is the exit code of an error. The outermost exitError decides; an append that did not answer ok is
// 6 wherever it comes from; anything else is the machine's failure.
func codeOf(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.code
	case isNotAppended(err):
		return exitNotAppended
	}
	return exitFailure
}

func isNotAppended(err error) bool {
	for _, answer := range []error{
		stream.ErrFull, stream.ErrInvalidValue, stream.ErrClosed, stream.ErrMoved, stream.ErrTransport,
	} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// unwritable says that nothing can be written for want of room, or of leave to write at all. Where that befalls
// what goes before an append (a lock, a token), the append has not answered ok.
func unwritable(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}

// whileReading gives an error of a command that appends nothing its exit code: what cannot be read by this user is
// refused with the line that works, and what cannot be read at all is a failure of the machine.
func (c *Composition) whileReading(err error) error {
	var coded *exitError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		if refused := c.callerIsGrantor(); refused != nil {
			return refused
		}
	}
	if isNotAppended(err) {
		return fail(exitFailure, "", "%w", err)
	}
	return err
}

// report prints an error, once, and answers the exit code. It is the one place that does either.
func (a *App) report(err error) int {
	var out *stdoutError
	if errors.As(err, &out) && out.gone() {
		return exitPipe
	}
	code := codeOf(err)
	var coded *exitError
	hint := ""
	if errors.As(err, &coded) {
		if coded.err == nil {
			return code
		}
		hint = coded.hint
	}
	if err != nil {
		if hint == "" {
			hint = remedyOf(err)
		}
		a.complain(err.Error(), hint)
	}
	return code
}

// complain writes a line for people, and a remedy as a second one. A failing stderr is nobody's concern:
// there is no place left to say it.
func (a *App) complain(message, hint string) {
	message = a.withoutLongWords(message)
	if a.log != nil {
		var attrs []slog.Attr
		if hint != "" {
			attrs = append(attrs, slog.String("hint", hint))
		}
		a.record(slog.LevelError, message, attrs...)
		return
	}
	a.progress.clear()
	text := "daolease: " + oneLine(message) + "\n"
	if hint != "" {
		text += "hint: " + oneLine(hint) + "\n"
	}
	_, _ = a.Err.Write([]byte(text))
}

// longWord is how long a word of the command line may be that a message quotes whole: a path, above all.
const longWord = 256

// withoutLongWords quotes by their beginning what the command line was given and nobody can read.
func (a *App) withoutLongWords(message string) string {
	if len(message) <= longWord {
		return message
	}
	for _, word := range a.args {
		if _, value, isFlag := strings.Cut(word, "="); isFlag && strings.HasPrefix(word, "-") {
			word = value
		}
		if len(word) > longWord {
			message = strings.ReplaceAll(message, word, shortened(word))
		}
	}
	return message
}

// say writes a line for people to stderr, marked as this program's.
func (a *App) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.log != nil {
		a.record(slog.LevelInfo, strings.TrimPrefix(text, "judge: "))
		return
	}
	a.complain(text, "")
}

// oneLine makes a text fit for one line of a terminal. Lines of joined errors are joined by semicolons.
func oneLine(s string) string {
	return escape(strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "; "))
}
