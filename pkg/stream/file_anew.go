package stream

import "runtime"

// anewLooks is how often a file that seems to have been written anew is looked at again. An append in progress
// can show its time before its size.
const anewLooks = 64

// anew finds that a file without a header was written anew since this cursor was answered, although it begins
// with the very bytes that were read: it is another file, or it has another time and has not grown. A header
// would show that by its identity; without one the same line again, after a loss, would pass for the one that
// was read before, and its evidence would be lost with it.
func (r *reading) anew(v *view) error {
	f := r.file
	f.mu.Lock()
	last := f.idle
	f.mu.Unlock()
	if last.text == "" || last.text != r.text || r.at.pos == 0 || v.now.header.identity != "" || v.now.f == nil || v.remote() {
		return nil
	}
	now, was := v.stamp, last.stamp
	switch {
	case now.ino != was.ino || now.btime != was.btime:
		return lostf("%s was replaced by a file that begins alike", f.path)
	case now.size != was.size || now.mtime == was.mtime:
		return nil
	}
	for range anewLooks {
		runtime.Gosched()
		again, err := pathStamp(f.path, f.terminated)
		if err != nil || again.size != now.size {
			return err
		}
	}
	return lostf("%s was written anew with what it held before", f.path)
}
