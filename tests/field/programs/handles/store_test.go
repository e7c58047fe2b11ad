package program

import "testing"

// BenchmarkChecksums sums 100 blobs of 512 bytes.
func BenchmarkChecksums(b *testing.B) {
	s := newStore(5000)
	ids := make([]uint64, 100)
	for i := range ids {
		ids[i] = uint64(i * 7919 % 5000)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var sum uint64
	for i := 0; i < b.N; i++ {
		sum += checksums(s, ids)
	}
	if sum == 1 {
		b.Fatal("unlikely")
	}
}
