package program

import (
	"fmt"
	"sort"
	"testing"

	"github.com/lithammer/fuzzysearch/fuzzy"
)

type hit struct {
	name     string
	distance int
}

func names() []string {
	first := []string{"cartwheel", "twenty", "whale", "kettle", "lantern", "marble", "nettle", "orchid"}
	second := []string{"mill", "house", "bridge", "market", "harbour", "tower", "garden"}
	var out []string
	for i := 0; i < 24000; i++ {
		out = append(out, fmt.Sprintf("%s %s %d", first[i%len(first)], second[i%len(second)], i))
	}
	return out
}

// find returns the ten best of the names that a query matches.
func find(list []string, query string) []hit {
	hits := make([]hit, 0, capacity)
	for _, name := range list {
		if d := fuzzy.RankMatch(query, name); d >= 0 {
			hits = append(hits, hit{name, d})
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].distance < hits[j].distance })
	return hits[:min(10, len(hits))]
}

// BenchmarkFind answers four queries over 24000 names.
func BenchmarkFind(b *testing.B) {
	list := names()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, query := range []string{"whale tower 31", "kettle bridge 7", "orchid garden 2", "twenty mill 18"} {
			if len(find(list, query)) == 0 {
				b.Fatal(query)
			}
		}
	}
}
