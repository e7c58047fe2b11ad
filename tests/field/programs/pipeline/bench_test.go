package program

import (
	"fmt"
	"testing"
)

type step func(*record) bool

type record struct {
	text  string
	user  string
	total float64
	mark  uint32
}

// BenchmarkPipeline passes 500 documents through steps that are closures.
func BenchmarkPipeline(b *testing.B) {
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"user":{"id":"u-%d","country":"de"},"lines":[{"price":%d.5},{"price":7}],"note":"order number %d"}`, i%90, i, i)
	}
	run := pipeline("de", 3)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		kept := 0
		for _, text := range texts {
			r := record{text: text}
			if run(&r) {
				kept++
			}
		}
		if kept == 0 {
			b.Fatal("all were dropped")
		}
	}
}

func chain(steps ...step) step {
	return func(r *record) bool {
		for _, s := range steps {
			if !s(r) {
				return false
			}
		}
		return true
	}
}
