package program

import (
	"fmt"
	"testing"
)

// BenchmarkRules asks 20 rules about 50 paths.
func BenchmarkRules(b *testing.B) {
	var rules, paths []string
	for i := 0; i < 20; i++ {
		rules = append(rules, fmt.Sprintf("/api/v%d/{shops,items}/*/photo-?%d.jpg", i%4, i))
	}
	for i := 0; i < 50; i++ {
		paths = append(paths, fmt.Sprintf("/api/v%d/items/%d/photo-a%d.jpg", i%4, i, i%20))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		hits := 0
		for _, path := range paths {
			for _, rule := range rules {
				if match(rule, path) {
					hits++
				}
			}
		}
		if hits == 0 {
			b.Fatal("no hit")
		}
	}
}
