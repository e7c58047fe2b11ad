package program

import (
	"math/rand"
	"testing"
)

// BenchmarkRoute finds the shortest ways through a grid of 80 by 80 cells.
func BenchmarkRoute(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	price := make([]int, 80*80)
	for i := range price {
		price[i] = 1000 + random.Intn(9000)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if shortest(price, 80) == 0 {
			b.Fatal("no way")
		}
	}
}

func around(cell, width int, visit func(int)) {
	if cell%width > 0 {
		visit(cell - 1)
	}
	if cell%width < width-1 {
		visit(cell + 1)
	}
	if cell >= width {
		visit(cell - width)
	}
	if cell < width*(width-1) {
		visit(cell + width)
	}
}
