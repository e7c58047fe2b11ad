// Service answers HTTP requests to three endpoints, each under a label of the profile
// and as a user task of that name; the response is written in a user region. A flight
// recorder runs all the time, and /debug/flight writes its snapshot.
//
// Built with -tags new, it has three regressions:
//
//   - /search compiles its pattern for each request: main.pattern, search_new.go.
//   - /cart encodes JSON while it holds the lock of all carts: (*carts).render, cart_new.go.
//   - /orders starts a goroutine that waits for ever to send its answer when the request
//     does not wait for it, every twentieth: main.price.func1, orders_new.go.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	_ "net/http/pprof"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

// handle serves an endpoint with what answer returns.
func handle(endpoint string, answer func(*http.Request) []byte) {
	http.HandleFunc(endpoint, func(w http.ResponseWriter, r *http.Request) {
		pprof.Do(r.Context(), pprof.Labels("endpoint", endpoint), func(ctx context.Context) {
			ctx, task := trace.NewTask(ctx, endpoint)
			defer task.End()
			text := answer(r.WithContext(ctx))
			trace.WithRegion(ctx, "respond", func() {
				// A client that has gone is no failure of the service.
				_, _ = w.Write(text)
			})
		})
	})
}

func main() {
	address := flag.String("address", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	runtime.SetBlockProfileRate(100_000)
	runtime.SetMutexProfileFraction(20)
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{
		MinAge: 20 * time.Millisecond, MaxBytes: 1 << 18,
	})
	if err := recorder.Start(); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/debug/flight", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := recorder.WriteTo(w); err != nil {
			log.Print(err)
		}
	})
	handle("/search", search)
	handle("/cart", cart)
	handle("/orders", orders)
	log.Fatal(http.ListenAndServe(*address, nil))
}
