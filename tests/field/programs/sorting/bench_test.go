package program

import (
	"math/rand"
	"testing"
)

type hit struct {
	score    float64
	document int
}

// BenchmarkHits sorts 20 000 hits by score and document.
func BenchmarkHits(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	hits := make([]hit, 20000)
	for i := range hits {
		hits[i] = hit{score: float64(random.Intn(9000)), document: i}
	}
	sorted := make([]hit, len(hits))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		copy(sorted, hits)
		rank(sorted)
	}
}
