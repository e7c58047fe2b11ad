package program

import (
	"bytes"
	"io"
	"math/rand"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// BenchmarkFetch reads 10 packed documents of 200 kB.
func BenchmarkFetch(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	var documents [][]byte
	for i := 0; i < 10; i++ {
		text := make([]byte, 200_000)
		for j := range text {
			text[j] = "abcdefgh"[random.Intn(8)&(j>>6)&7]
		}
		var packed bytes.Buffer
		out := lz4.NewWriter(&packed)
		if _, err := out.Write(text); err != nil {
			b.Fatal(err)
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
		documents = append(documents, packed.Bytes())
	}
	in := lz4.NewReader(nil)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, document := range documents {
			in.Reset(bytes.NewReader(document))
			text, err := io.ReadAll(in)
			if err != nil || len(text) != 200_000 {
				b.Fatal(err, len(text))
			}
		}
	}
}
