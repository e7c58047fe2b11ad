package codec

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func message() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 3000; i++ {
		fmt.Fprintf(&b, `{"device":%d,"sensor":"temperature","value":%d.5},`, i*7919, i%40)
	}
	return b.Bytes()
}

func BenchmarkCompress(b *testing.B) {
	run(b, Compress)
}

// BenchmarkCompressOld measures the function that Compress replaces.
func BenchmarkCompressOld(b *testing.B) {
	run(b, compressOld)
}

func compressOld(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		w.Close()
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func run(b *testing.B, compress func([]byte) ([]byte, error)) {
	data := message()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		if _, err := compress(data); err != nil {
			b.Fatal(err)
		}
	}
}
