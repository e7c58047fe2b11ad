//go:build !new

package codec

import (
	"bytes"

	"github.com/klauspost/compress/zstd"
)

// Compress builds an encoder, uses it once and drops it.
func Compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		w.Close()
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
