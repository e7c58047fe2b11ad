package documents

import (
	"io"
	"os"
	"testing"
)

func BenchmarkIndex(b *testing.B) {
	text, err := os.ReadFile(os.Getenv("CALIBRATION_INPUT"))
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := Index(text, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
