package program

import (
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// BenchmarkBlocks packs 16 blocks of 64 kB of a log, and reads and checks each 60 times.
func BenchmarkBlocks(b *testing.B) {
	var blocks [][]byte
	for i := 0; i < 16; i++ {
		var block []byte
		for n := 0; len(block) < 64<<10; n++ {
			block = append(block, fmt.Sprintf("%d INFO request /orders/%d took %d us from 10.0.%d.%d\n",
				1700000000+n, n*7919%100000, n*n%9973, n%13, n*31%251)...)
		}
		blocks = append(blocks, block)
	}
	packed := make([]byte, lz4.CompressBlockBound(70<<10))
	read := make([]byte, 70<<10)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, block := range blocks {
			size, err := pack(block, packed)
			if err != nil || size == 0 {
				b.Fatal(size, err)
			}
			want := crc32.ChecksumIEEE(block)
			for n := 0; n < 60; n++ {
				got, err := lz4.UncompressBlock(packed[:size], read)
				if err != nil || crc32.ChecksumIEEE(read[:got]) != want {
					b.Fatal(err)
				}
			}
		}
	}
}
