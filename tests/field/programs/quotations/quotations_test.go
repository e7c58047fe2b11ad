package program

import (
	"testing"

	"github.com/shopspring/decimal"
)

// BenchmarkQuotations adds up 300 lines of a quotation whose prices come as floats.
func BenchmarkQuotations(b *testing.B) {
	prices := make([]float64, 300)
	for i := range prices {
		prices[i] = float64(i*7919%100000)/100 + 0.07
	}
	rate := decimal.New(119, -2)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		total := decimal.Zero
		for n, price := range prices {
			line := decimal.NewFromFloat(price).Mul(decimal.NewFromInt(int64(n%9 + 1)))
			total = total.Add(line.Mul(rate).Round(2))
		}
		if len(total.StringFixed(2)) < 7 {
			b.Fatal(total)
		}
	}
}
