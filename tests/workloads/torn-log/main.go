// Command torn-log collects garbage while goroutines log as fast as they can: with
// GODEBUG=gctrace=1 their lines land within the runtime's.
package main

import (
	"flag"
	"log"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// sink keeps the last buffer of each goroutine reachable.
var sink [64][]byte

func main() {
	workers := flag.Int("workers", 4, "goroutines that log, at most 64")
	cycles := flag.Uint("cycles", 200, "collections to run for")
	rest := flag.Duration("rest", 0, "how long a goroutine rests after a line")
	flag.Parse()
	var done atomic.Bool
	var all sync.WaitGroup
	for worker := 0; worker < *workers; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			for i := 0; !done.Load(); i++ {
				log.Printf("worker %d request %d took %d us", worker, i, i%977)
				sink[worker] = make([]byte, 32<<10)
				time.Sleep(*rest)
			}
		}(worker)
	}
	var stats runtime.MemStats
	for stats.NumGC < uint32(*cycles) {
		time.Sleep(time.Millisecond)
		runtime.ReadMemStats(&stats)
	}
	runtime.GC()
	done.Store(true)
	all.Wait()
}
