package program

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// BenchmarkTable lays out a table of 200 rows by the width of its cells.
func BenchmarkTable(b *testing.B) {
	words := strings.Fields("naïve café 東京都 build passed (12 ms) données Straße ok warning: 3 файла deploy/frontend-7f9c")
	rows := make([][]string, 200)
	for i := range rows {
		for j := 0; j < 6; j++ {
			rows[i] = append(rows[i], words[(i*7+j*3)%len(words)])
		}
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		widths := make([]int, 6)
		for _, row := range rows {
			for j, cell := range row {
				if w := runewidth.StringWidth(cell); w > widths[j] {
					widths[j] = w
				}
			}
		}
		var out strings.Builder
		for _, row := range rows {
			for j, cell := range row {
				out.WriteString(cell)
				for n := runewidth.StringWidth(cell); n < widths[j]; n++ {
					out.WriteByte(' ')
				}
			}
			out.WriteByte('\n')
		}
	}
}
