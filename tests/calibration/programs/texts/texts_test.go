package texts

import (
	"os"
	"testing"
)

func BenchmarkLook(b *testing.B) {
	text, err := os.ReadFile(os.Getenv("CALIBRATION_INPUT"))
	if err != nil {
		b.Fatal(err)
	}
	source := string(text)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if len(Look(source).Frequent) == 0 {
			b.Fatal("no words")
		}
	}
}
