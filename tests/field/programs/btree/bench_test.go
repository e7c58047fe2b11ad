package program

import (
	"math/rand"
	"testing"
)

// BenchmarkIndex adds 20 000 keys to an index, and looks every one up.
func BenchmarkIndex(b *testing.B) {
	keys := rand.New(rand.NewSource(1)).Perm(20000)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if index(keys) != len(keys) {
			b.Fatal("a key is missing")
		}
	}
}
