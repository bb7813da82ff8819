package hooks

import "time"

// What a procedure gets that does not say otherwise.
const (
	DefaultTimeout   = 30 * time.Second // SPEC 8: timeout
	DefaultGrace     = 2 * time.Second
	DefaultMaxOutput = 64 << 10
)

// How long is waited for what should take no time at all.
const (
	// deathBound is what processes get to be gone after KILL. One in uninterruptible sleep may take longer.
	deathBound = 5 * time.Second
	// pipeBound is what a process that left the group gets to close the output that it holds.
	pipeBound = time.Second
	// pollEvery is how often a condition of other processes is looked at again.
	pollEvery = 5 * time.Millisecond
)

// Procedure is one run of a hook (SPEC 10).
type Procedure struct {
	// Argv is the program and its arguments. A program with a slash is relative to Dir; one without is looked
	// up in the fixed path.
	Argv []string
	// Dir is the working directory: the composition's folder.
	Dir string
	// Env is the complete environment, "KEY=value" each; nothing is added. See CleanEnv.
	Env []string
	// Stdin is what the procedure can read. It need not read it.
	Stdin []byte
	// Timeout is how long it may run before its group is sent TERM; 0 is DefaultTimeout.
	Timeout time.Duration
	// Grace is the time from TERM to KILL; 0 is DefaultGrace.
	Grace time.Duration
	// MaxOutput is how many bytes of what it prints are kept, the head and the tail; 0 is DefaultMaxOutput.
	MaxOutput int
}

// Result is what a run came to.
type Result struct {
	// Err is nil for success, which is exit 0 within the timeout with nothing of the group left behind. Else it
	// says in one line why the run failed.
	Err error
	// Output is what the procedure printed, stdout and stderr as they came, as valid UTF-8. Control characters
	// are left as they are. What was cut is said in its place.
	Output string
	// Escaped are the processes that left the group and still hold the run file. They bar nothing.
	Escaped []int
}

// withDefaults fills in what was left open.
func (p Procedure) withDefaults() Procedure {
	if p.Timeout <= 0 {
		p.Timeout = DefaultTimeout
	}
	if p.Grace <= 0 {
		p.Grace = DefaultGrace
	}
	if p.MaxOutput <= 0 {
		p.MaxOutput = DefaultMaxOutput
	}
	if p.Env == nil {
		p.Env = []string{} // nil would mean the environment of this process
	}
	return p
}
