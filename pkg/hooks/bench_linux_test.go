package hooks

import (
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// atOnce runs something n times, two at a time, which is as fast as two cores spawn.
func atOnce(n int, run func(i int)) time.Duration {
	began := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				run(i)
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// BenchmarkProcedures runs the smallest procedures, each on a subject of its own, beside the same processes
// without anything around them.
func BenchmarkProcedures(b *testing.B) {
	dir, id := b.TempDir(), here()
	var bare time.Duration
	const each = 100
	for b.Loop() {
		b.StopTimer()
		bare += atOnce(each, func(int) {
			if err := exec.Command("/bin/sh", "-c", ":").Run(); err != nil {
				b.Error(err)
			}
		})
		b.StartTimer()
		atOnce(each, func(i int) {
			c, err := Take(dir, fmt.Sprint("subject-", i), id)
			if err != nil {
				b.Error(err)
				return
			}
			r := c.Run(b.Context(), Procedure{Argv: []string{"/bin/sh", "-c", ":"}, Dir: dir, Timeout: time.Minute, Grace: time.Second}, nil)
			if r.Err != nil {
				b.Error(r.Err)
			}
			c.Release(true)
		})
	}
	b.ReportMetric(float64(b.N*each)/b.Elapsed().Seconds(), "procedures/s")
	b.ReportMetric(float64(bare)/float64(b.Elapsed()), "x-spawn")
}
