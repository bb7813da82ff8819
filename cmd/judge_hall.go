package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daolease/daolease/pkg/judge"
	"github.com/daolease/daolease/pkg/stream"
)

// hall is whom a judge listens to: the holders' folders as they come and go, and hints of what changed in
// them. Hints make a pass prompt; what is read is decided by the judge.
type hall struct {
	comp    *Composition
	set     *stream.Set
	watcher *stream.Watcher
	teller  *teller
	wake    chan struct{} // holds one when there is a reason to pass

	// What others write in grantor/: grants, revocations and, where they are not the judge's own, ticks.
	foreign      []string // files
	grantorMedia map[string]stream.Medium

	nextCheck int64 // running clock, ms

	watched map[string]bool
	junk    map[string]string
	crowd   crowd
	told    *told // nil: whoever wants to know is to ask each file

	mu      sync.Mutex
	stale   bool                // holders/ has changed since it was last listed
	heard   map[string]struct{} // the media that were hinted at since the last pass began
	writes  map[string]int      // by medium, the events for which that was, or will be
	grantor []os.FileInfo       // of what others write there, when all of it had been read
}

// newHall begins to listen. A judge whose passes come from elsewhere hears of nothing, and looks at each pass.
func newHall(c *Composition, cfg *judge.Config, t *teller, o *judgeOptions) *hall {
	set := cfg.Media
	h := &hall{
		comp: c, set: set, teller: t, wake: make(chan struct{}, 1), stale: true,
		watched: map[string]bool{}, junk: map[string]string{}, heard: map[string]struct{}{},
		writes: map[string]int{}, crowd: crowd{unwatched: map[string]struct{}{}},
		foreign:      []string{"facts.jsonl", "policy.jsonl"},
		grantorMedia: map[string]stream.Medium{mediumGrantor: cfg.Facts, "policy": cfg.Policy},
	}
	if c.Config.external() {
		h.foreign = append(h.foreign, "ticks.jsonl")
		h.grantorMedia[mediumTicks] = cfg.Ticks
	}
	options := []stream.WatcherOption{stream.WatcherMinding(h.minds)}
	if o.poll || !o.loops() {
		options = append(options, stream.WatcherPolling())
	}
	h.watcher = stream.NewWatcher(h.hint, func(reason string) {
		if o.loops() {
			t.say("polling, which costs latency and nothing else: %s", reason)
		}
	}, options...)
	if o.loops() && !o.poll {
		h.told = newTold(set, c.holderDir, "facts.jsonl")
	}
	h.watcher.Add(c.holdersDir())
	h.watcher.Add(c.grantorDir())
	for _, name := range set.Names() {
		h.watch(name)
	}
	return h
}

// ask has the system asked, before this judge reads all media, in which something has happened.
func (h *hall) ask(j *judge.Judge) {
	if h.told != nil {
		h.set.AskFirst(func() { h.told.gather(j) })
	}
}

func (h *hall) watch(name string) {
	h.watched[name] = true
	h.watcher.Add(h.comp.holderDir(name))
}

// minds says what is worth a hint: holders as they come and go, what they write for the judge, and what others
// write in grantor/. It is asked of each event, and counts them.
func (h *hall) minds(dir, name string) bool {
	switch dir {
	case h.comp.holdersDir():
		return true
	case h.comp.grantorDir():
		return slices.Contains(h.foreign, name)
	}
	if name != "facts.jsonl" {
		return false
	}
	h.mu.Lock()
	h.writes[filepath.Base(dir)]++
	h.mu.Unlock()
	return true
}

// hint is called by the watcher, from a goroutine of its own.
func (h *hall) hint(dir string) {
	if dir == h.comp.grantorDir() {
		if !h.grantorChanged(h.grantorFacts()) {
			return // our own ticks and our own ledger
		}
	} else {
		h.heardOf(dir)
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hall) heardOf(dir string) {
	if dir == h.comp.holdersDir() {
		h.mu.Lock()
		h.stale = true
		h.mu.Unlock()
		return
	}
	name := filepath.Base(dir)
	h.set.Touch(name)
	h.mu.Lock()
	h.heard[name] = struct{}{} // after the hint, which a pass that takes this has taken then
	h.mu.Unlock()
}

// grantorFacts stats what others write in grantor/.
func (h *hall) grantorFacts() []os.FileInfo {
	var stats []os.FileInfo
	for _, name := range h.foreign {
		fi, err := os.Lstat(h.comp.path("grantor", name))
		if err != nil {
			fi = nil
		}
		stats = append(stats, fi)
	}
	return stats
}

// grantorChanged says that these files are not as they were when all of them had been read.
func (h *hall) grantorChanged(now []os.FileInfo) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.EqualFunc(now, h.grantor, sameState)
}

func sameState(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// attend is called before each pass: it attaches the media of new folders, and looks after the watches. sure
// has the folders listed although nothing hints at a new one: silence may be concluded in this pass.
func (h *hall) attend(j *judge.Judge, sure bool) {
	stats := h.grantorFacts()
	h.mu.Lock()
	h.grantor = stats
	stale := h.stale
	h.stale = false
	clear(h.heard)
	h.mu.Unlock()
	if now := h.comp.app.Clock.Running(); stale || now >= h.nextCheck {
		h.watcher.Check() // it stats every folder
		h.nextCheck = now + checkGap.Milliseconds()
	}
	if sure || stale || h.watcher.Polling(h.comp.holdersDir()) {
		h.enlist(j)
	}
}

// checkGap is the time between two looks after the watches while nothing hints at a reason. A folder whose watch
// is lost meanwhile is read at the cadence.
const checkGap = 5 * time.Second

// enlist brings the media in line with the folders there are. A holder that still has a lease stays, so that
// the loss of its folder is the gap that it is.
func (h *hall) enlist(j *judge.Judge) {
	names, junk, err := h.comp.holderNames()
	if err != nil {
		h.teller.once("holders", "listing %s: %v", h.comp.holdersDir(), err)
		h.mu.Lock()
		h.stale = true
		h.mu.Unlock()
		return
	}
	h.teller.over("holders", "holders/ can be listed again")
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
		h.enter(j, name)
	}
	for _, name := range j.Attached() {
		if !there[name] && !j.Holds(name) {
			j.Detach(name)
			h.told.forget(name)
			h.watcher.Remove(h.comp.holderDir(name))
			delete(h.watched, name)
			delete(h.crowd.unwatched, name)
		}
	}
	h.sayJunk(junk)
}

func (h *hall) enter(j *judge.Judge, name string) {
	if h.set.Get(name) == nil {
		m, err := h.comp.holderStream(name)
		if err != nil {
			h.teller.once("holder "+name, "holder %s: %v", name, err)
			return
		}
		j.Attach(name, m)
	}
	if !h.watched[name] {
		h.watch(name)
	}
}

// sayJunk names what lies in holders/ and is no holder's folder, once.
func (h *hall) sayJunk(junk []junkEntry) {
	const most = 8
	var fresh []string
	for _, e := range junk {
		if _, said := h.junk[e.Name]; !said && len(h.junk) < maxJunkSaid {
			h.junk[e.Name] = e.Why
			fresh = append(fresh, e.Name+" ("+e.Why+")")
		}
	}
	if len(fresh) > most {
		fresh = append(fresh[:most], "and more")
	}
	if len(fresh) > 0 {
		h.teller.seldom("no holder's folder", strings.Join(fresh, ", "))
	}
}

// maxJunkSaid bounds what is remembered of what was said.
const maxJunkSaid = 1000

func (h *hall) close() {
	h.told.end()
	_ = h.watcher.Close()
}
