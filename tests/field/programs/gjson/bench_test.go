package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// BenchmarkEvents sums a field of 300 events, each a document of its own.
func BenchmarkEvents(b *testing.B) {
	events := make([]string, 300)
	for i := range events {
		events[i] = fmt.Sprintf(`{"id":%d,"user":{"name":"user-%d","roles":["admin","dev"]},"note":%q,"metrics":{"cpu":%d.5,"mem":%d}}`,
			i, i%40, strings.Repeat("lorem ipsum ", 20), i%100, i*3)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		total := 0.0
		for _, event := range events {
			total += cost(event)
		}
		if total == 0 {
			b.Fatal("nothing was read")
		}
	}
}

func cost(event string) float64 {
	if gjson.Get(event, "user.name").Exists() && len(gjson.Get(event, "user.roles").Array()) > 0 {
		return gjson.Get(event, "metrics.cpu").Float()
	}
	return 0
}
