// Command watch is a go-chi server that refreshes a client's lease in the
// background while its request lasts, and its clients on loopback.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

var leases atomic.Int64

func refresh(ctx context.Context) {
	ticker := time.NewTicker(20 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			leases.Add(1)
		}
	}
}

func setup() (capture.Load, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	r := chi.NewRouter()
	r.Get("/leases/{name}", func(w http.ResponseWriter, r *http.Request) {
		go refresh(lasting(r))
		fmt.Fprintln(w, "leased", chi.URLParam(r, "name"), leases.Load())
	})
	go http.Serve(listener, r)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	return capture.Load{Workers: 8, Step: func(worker int) error {
		time.Sleep(2 * time.Millisecond)
		answer, err := client.Get(fmt.Sprintf("http://%s/leases/%d", listener.Addr(), worker))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
