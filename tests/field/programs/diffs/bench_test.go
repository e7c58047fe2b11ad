package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// BenchmarkDiff compares two texts of 600 lines.
func BenchmarkDiff(b *testing.B) {
	var before, after strings.Builder
	for i := 0; i < 600; i++ {
		fmt.Fprintf(&before, "line %d of the text\n", i)
		if i%9 != 4 {
			fmt.Fprintf(&after, "line %d of the text\n", i)
		}
		if i%31 == 3 {
			fmt.Fprintf(&after, "a new line %d\n", i)
		}
	}
	differ := diffmatchpatch.New()
	differ.DiffTimeout = 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if len(differ.DiffMain(before.String(), after.String(), true)) < 10 {
			b.Fatal("no differences")
		}
	}
}
