package program

import (
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"
)

// BenchmarkSum hashes a module of 60 files, as go.sum has it.
func BenchmarkSum(b *testing.B) {
	files, names := map[string]string{}, []string{}
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 60; i++ {
		text := make([]byte, 8000)
		random.Read(text)
		name := fmt.Sprintf("example.com/mod@v1.0.0/file%d.go", i)
		files[name], names = string(text), append(names, name)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		_, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(files[name])), nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
