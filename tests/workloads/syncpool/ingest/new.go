//go:build new

package ingest

import (
	"io"
	"net/http"
	"sync"
)

var bodies = sync.Pool{New: func() any { return new([]byte) }}

// readBody reads a request into memory that an earlier request has given back.
func readBody(r *http.Request) ([]byte, error) {
	body := *bodies.Get().(*[]byte)
	if int64(cap(body)) < r.ContentLength {
		body = make([]byte, r.ContentLength)
	}
	body = body[:r.ContentLength]
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func releaseBody(body []byte) {
	bodies.Put(&body)
}

// keepSource copies: the body is about to be used by another request.
func keepSource(source []byte) []byte {
	return append([]byte(nil), source...)
}
