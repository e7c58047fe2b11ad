// Package counters counts what two workers do, each in a counter of its own.
package counters

import (
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

type stats struct{ workers [2]counter }

func (s *stats) work(worker int, text []byte) uint64 {
	sum := uint64(0)
	for i := range 32 {
		sum += hash(text[i : i+8])
		s.count(worker)
	}
	return sum
}

//go:noinline
func hash(text []byte) uint64 { return xxhash.Sum64(text) }

//go:noinline
func (s *stats) count(worker int) { atomic.AddUint64(&s.workers[worker].done, 1) }
