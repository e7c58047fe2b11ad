//go:build !new

package ingest

import (
	"io"
	"net/http"
)

// readBody reads a request into memory of its own.
func readBody(r *http.Request) ([]byte, error) {
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func releaseBody([]byte) {}

// keepSource shares the memory of the body, so a waiting batch keeps all of it.
func keepSource(source []byte) []byte {
	return source
}
