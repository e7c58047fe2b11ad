package program

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/sahilm/fuzzy"
)

// BenchmarkSearch answers as many queries an operation as QUERIES says.
func BenchmarkSearch(b *testing.B) {
	queries, err := strconv.Atoi(os.Getenv("QUERIES"))
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for i := 0; i < 3000; i++ {
		names = append(names, fmt.Sprintf("internal/service%d/handler_%d.go", i%70, i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for n := 0; n < queries; n++ {
			if len(fuzzy.Find(fmt.Sprint("servhand", n%2), names)) == 0 {
				b.Fatal("no name")
			}
		}
	}
}
