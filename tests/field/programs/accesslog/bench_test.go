package program

import (
	"fmt"
	"testing"
)

type request struct {
	host, method, path string
	status, size       int
}

// BenchmarkLog counts the bytes sent by 500 lines of an access log.
func BenchmarkLog(b *testing.B) {
	lines := make([]string, 500)
	for i := range lines {
		lines[i] = fmt.Sprintf(`10.0.%d.%d - - [12/Mar/2024:10:%02d:00 +0000] "GET /shop/item/%d HTTP/1.1" %d %d`,
			i%7, i%250, i%60, i*37, 200+i%5, 1000+i*3)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		bytes := 0
		for _, line := range lines {
			read, ok := parse(line)
			if !ok {
				b.Fatal(line)
			}
			bytes += read.size
		}
	}
}
