package program

import (
	"encoding/csv"
	"io"
	"testing"
)

type sale struct {
	id     int
	shop   string
	amount float64
	paid   bool
}

// BenchmarkExport writes 1 000 sales as CSV.
func BenchmarkExport(b *testing.B) {
	sales := make([]sale, 1000)
	for i := range sales {
		sales[i] = sale{i, "north-" + string(rune('a'+i%20)), float64(i) * 1.37, i%3 == 0}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		out := csv.NewWriter(io.Discard)
		for j := range sales {
			if err := out.Write(row(&sales[j])); err != nil {
				b.Fatal(err)
			}
		}
		out.Flush()
	}
}
