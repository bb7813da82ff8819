package lease

import "bytes"

// What this tool writes itself is read again far more often than anything else, so it is recognized without a
// JSON parser: plain is a line without white space whose keys are all known and in the order in which they are
// encoded, hence none twice, and whose values are strings of ASCII without escapes, durations, numbers and true.
// Such a line is valid JSON whatever stands in it, and what it says is then judged as that of any other line.
// Everything else is left to the strict decoder; a fuzz target holds that the two agree.

// renewalHead and renewalTail are what stands around the lease in every renewal that this tool writes.
const (
	renewalHead = `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"`
	renewalTail = `"}`
)

// PlainRenewal recognizes a renewal in exactly the bytes that Encode writes for most ids, and answers the lease
// as a part of the line's memory. For such a line Decode gives a Renewal of that lease. False says nothing: ask
// Decode.
func PlainRenewal(line []byte) (lease []byte, ok bool) {
	const head, tail = len(renewalHead), len(renewalTail)
	if len(line) <= head+tail || string(line[:head]) != renewalHead || string(line[len(line)-tail:]) != renewalTail {
		return nil, false
	}
	lease = line[head : len(line)-tail]
	for _, c := range lease {
		if !plainByte[c] {
			return nil, false
		}
	}
	return lease, true
}

// plainByte are the bytes that stand for themselves in a JSON string.
var plainByte = func() (plain [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// plain takes a plain line apart. False: it is none, and what was noted is void.
func (r *raw) plain(line []byte) bool {
	next := keyStatus
	for i := 0; i < len(line); {
		if line[i] != '{' && i == 0 || line[i] != ',' && i > 0 {
			return false
		}
		end := plainString(line, i+1)
		if end < 0 || end >= len(line) || line[end] != ':' {
			return false
		}
		k, known := keyOf(line[i+2 : end-1])
		if !known || k < next {
			return false
		}
		next, i = k+1, end+1
		if end = plainValue(line, i); end < 0 {
			return false
		}
		r.values[k] = line[i:end]
		if i = end; i == len(line)-1 {
			return line[i] == '}' && (r.values[keyStatus] != nil || r.values[keyEvent] != nil)
		}
	}
	return false
}

// plainValue is the index after the plain value that begins at i, or -1.
func plainValue(line []byte, i int) int {
	switch {
	case i >= len(line):
		return -1
	case line[i] == '"':
		return plainString(line, i)
	case line[i] == '{':
		end := plainString(line, i+1)
		if end < 0 || end >= len(line) || line[end] != ':' {
			return -1
		}
		if end = plainNumber(line, end+1); end < 0 || end >= len(line) || line[end] != '}' {
			return -1
		}
		return end + 1
	case bytes.HasPrefix(line[i:], []byte("true")):
		return i + len("true")
	}
	return plainNumber(line, i)
}

// plainString is the index after the plain string that begins at i, or -1.
func plainString(line []byte, i int) int {
	if i >= len(line) || line[i] != '"' {
		return -1
	}
	for i++; i < len(line) && plainByte[line[i]]; i++ {
	}
	if i == len(line) || line[i] != '"' {
		return -1
	}
	return i + 1
}

// plainNumber is the index after the digits that begin at i, or -1. A zero begins no other number.
func plainNumber(line []byte, i int) int {
	from := i
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == from || line[from] == '0' && i > from+1 {
		return -1
	}
	return i
}
