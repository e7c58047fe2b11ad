package program

import (
	"math/rand"
	"testing"
)

// BenchmarkChunks finds the chunks of 4 MB that were seen before.
func BenchmarkChunks(b *testing.B) {
	data := make([]byte, 4<<20)
	rand.New(rand.NewSource(1)).Read(data[:2<<20])
	copy(data[2<<20:], data[:2<<20])
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		seen, twice := map[key]int{}, 0
		for at := 0; at < len(data); at += 2048 {
			k := hash(data[at : at+2048])
			twice += seen[k]
			seen[k] = 1
		}
		if twice != 1024 {
			b.Fatal(twice)
		}
	}
}
