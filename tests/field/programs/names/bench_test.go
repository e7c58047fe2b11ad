package program

import (
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
)

// BenchmarkNames names 200 documents of 700 bytes by identifiers of version 5.
func BenchmarkNames(b *testing.B) {
	documents := make([]string, 200)
	for i := range documents {
		documents[i] = strings.Repeat(string(rune('a'+i%26))+" line of a document\n", 35)
	}
	seen := map[uuid.UUID]int{}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for n, document := range documents {
			seen[uuid.NewV5(uuid.NamespaceURL, document)] = n
		}
	}
	if len(seen) != 26 {
		b.Fatal(len(seen))
	}
}
