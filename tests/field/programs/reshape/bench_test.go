package program

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/itchyny/gojq"
)

const query = `[.orders[] | {id, who: (.who | gsub("[aeiou]"; "_")), tags: (.tags | join("/")), total: ([.lines[] | .price * .count] | add)}] | sort_by(.total) | map(to_entries | from_entries) | .[0:5]`

func document() any {
	var orders []any
	for i := 0; i < 60; i++ {
		var lines, tags []any
		for j := 0; j < 6; j++ {
			lines = append(lines, map[string]any{"price": float64(i*j%17) + 0.5, "count": j})
			tags = append(tags, fmt.Sprintf("tag-%d", (i+j)%9))
		}
		orders = append(orders, map[string]any{"id": i, "who": fmt.Sprintf("customer number %d", i), "tags": tags, "lines": lines})
	}
	return map[string]any{"orders": orders}
}

// BenchmarkReshape turns 60 orders into a short list.
func BenchmarkReshape(b *testing.B) {
	parsed, err := gojq.Parse(query)
	if err != nil {
		b.Fatal(err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		b.Fatal(err)
	}
	input := document()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		iter := code.Run(input)
		for {
			v, ok := iter.Next()
			if !ok {
				break
			}
			if err, ok := v.(error); ok {
				b.Fatal(err)
			}
			if _, err := json.Marshal(v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
