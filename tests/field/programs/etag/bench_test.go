package program

import (
	"hash"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// BenchmarkTags names 200 pages of 6 kB by their hash.
func BenchmarkTags(b *testing.B) {
	pages := make([]string, 200)
	for i := range pages {
		pages[i] = strings.Repeat(string(rune('a'+i%26))+" line of the page\n", 340)
	}
	sum := xxhash.New()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, page := range pages {
			if tag(sum, page) == 0 {
				b.Fatal("no tag")
			}
		}
	}
}

func tag(sum hash.Hash64, page string) uint64 {
	sum.Reset()
	add(sum, page)
	return sum.Sum64()
}
