package cmd

import (
	"strings"
	"testing"
)

// One who cannot read the ledger is told what the media let anyone conclude, and that it is no more than that.
func TestInspectWithoutPermission(t *testing.T) {
	w := lived(t)
	reachable(t, w.dir())
	asUser(t, 1001, func() {
		w.UID = 1001
		doc := w.inspected(t)
		if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "private to its user") {
			t.Errorf("%q", doc.Warnings)
		}
		if row := doc.Leases[0]; doc.Source != fromMedia || doc.AsOf != nil || row.State != stateGranted || row.Left != nil {
			t.Errorf("%+v", doc)
		}
		if doc.Judge.Passing == nil || !*doc.Judge.Passing || doc.Judge.Lock != lockUnknown {
			t.Errorf("the ticks are for everybody: %+v", doc.Judge)
		}
		out, _ := w.must(t, 0, "inspect build")
		contains(t, out, "state     granted")
		contains(t, out, "bob wrote this release, and the lease is alice's")
		out, _ = w.must(t, 0, "check --live")
		contains(t, out, "is private to the judge's user, and was not checked")
		contains(t, out, "whether a reclaim keeps failing, only the judge's ledger says")
	})
}
