package program

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// BenchmarkDecode unpacks a log of 1 MB.
func BenchmarkDecode(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	var log strings.Builder
	for log.Len() < 1<<20 {
		fmt.Fprintf(&log, "2024-03-%02d level=%s user=%d path=/api/v%d/items/%x took=%dms\n",
			1+random.Intn(28), []string{"info", "warn", "error"}[random.Intn(3)],
			random.Intn(5000), random.Intn(3), random.Int63n(1<<24), random.Intn(900))
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	packed := encoder.EncodeAll([]byte(log.String()), nil)
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.SetBytes(int64(log.Len()))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if out, err = decoder.DecodeAll(packed, out[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
