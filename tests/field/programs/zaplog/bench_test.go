package program

import (
	"io"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type call struct {
	route           string
	user, size, row int
	millis          float64
}

// BenchmarkCalls writes 400 lines about requests.
func BenchmarkCalls(b *testing.B) {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	core := zapcore.NewCore(encoder, zapcore.AddSync(io.Discard), zapcore.InfoLevel)
	logger := zap.New(core)
	calls := make([]call, 400)
	for i := range calls {
		calls[i] = call{"/shop/items", 1000 + i, 4000 + i*7, 300 + i, float64(i) / 3}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for j := range calls {
			write(logger, &calls[j])
		}
	}
}
