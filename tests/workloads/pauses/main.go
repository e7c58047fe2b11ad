// Pauses allocates while another goroutine works in loops that call nothing, each of a
// twentieth of a second or more. Such a loop is stopped for GC by a signal; new is run with
// GODEBUG=asyncpreemptoff=1, as programs are whose C code cannot bear signals, and GC
// waits for the end of the loop.
package main

import (
	"flag"
	"runtime"
	"time"
)

// mix takes about as many nanoseconds as it has rounds.
//
//go:noinline
func mix(state uint64, rounds int) uint64 {
	for i := 0; i < rounds; i++ {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	return state
}

func main() {
	seconds := flag.Int("seconds", 2, "how long to run")
	flag.Parse()
	go func() {
		state := uint64(1)
		for {
			state = mix(state, 50_000_000)
			runtime.Gosched()
		}
	}()
	kept := make([][]byte, 4096)
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	for i := 0; time.Now().Before(end); i++ {
		kept[i%len(kept)] = make([]byte, 1024)
	}
}
