package program

import "testing"

type point struct {
	Name  string
	Lat   float64
	Lon   float64
	Visit int
}

// BenchmarkPoints writes 500 points as JSON.
func BenchmarkPoints(b *testing.B) {
	points := make([]point, 500)
	for i := range points {
		points[i] = point{"station " + string(rune('A'+i%26)), 48 + float64(i)/997, 11 - float64(i)/313, i * 13}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		text, err := encode(points)
		if err != nil || len(text) < 500 {
			b.Fatal(err)
		}
	}
}
