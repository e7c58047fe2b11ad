package counters

import (
	"sync/atomic"
	"testing"
)

var total atomic.Uint64

func BenchmarkCount(b *testing.B) {
	all := &stats{}
	text := []byte("a short line of a log, as it is hashed before it is counted")
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		worker := int(next.Add(1)-1) % 2
		sum := uint64(0)
		for pb.Next() {
			sum += all.work(worker, text)
		}
		total.Add(sum)
	})
}
