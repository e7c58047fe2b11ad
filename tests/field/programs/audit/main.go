// Audit logs requests to a file; with -buffered, in larger writes.
package main

import (
	"flag"
	"os"
	"time"

	"example.com/field/capture"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

var buffered = flag.Bool("buffered", false, "collect lines before they are written")

func main() {
	capture.Main(func() (capture.Load, error) {
		file, err := os.CreateTemp("", "audit")
		if err != nil {
			return capture.Load{}, err
		}
		if err := os.Remove(file.Name()); err != nil {
			return capture.Load{}, err
		}
		go func() {
			for range time.Tick(50 * time.Millisecond) {
				if file.Truncate(0) != nil {
					return
				}
			}
		}()
		var out zapcore.WriteSyncer = zapcore.Lock(file)
		if *buffered {
			out = &zapcore.BufferedWriteSyncer{WS: file, Size: 64 << 10}
		}
		core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), out, zapcore.InfoLevel)
		logger := zap.New(core)
		return capture.Load{Workers: 2, Step: func(worker int) error {
			for i := 0; i < 10; i++ {
				logger.Info("request", zap.Int("worker", worker), zap.Int("item", i), zap.String("path", "/shop/items"))
			}
			return nil
		}}, nil
	})
}
