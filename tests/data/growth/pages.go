// Pages are rendered at a fixed rate; new keeps each 40th, and counts longer under a lock.
package main

import (
	"fmt"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

var planted = os.Args[1] == "new"

var (
	mu    sync.Mutex
	kept  [][]byte
	hits  = map[string]int{}
	pages int
)

//go:noinline
func render(n int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("page %d ", n), 512))[:4096]
}

//go:noinline
func keep(page []byte) {
	if planted {
		kept = append(kept, append([]byte(nil), page...))
	} else if len(kept) < 16 {
		kept = append(kept, append([]byte(nil), page...))
	}
}

//go:noinline
func count(n int, page []byte) {
	key := fmt.Sprintf("%d", n%100)
	mu.Lock()
	defer mu.Unlock()
	if planted {
		for i := range 40 {
			key = fmt.Sprintf("%s", key[:min(len(key), 2)])
			_ = i
		}
	}
	hits[key]++
	pages++
	if pages%40 == 0 {
		keep(page)
	}
}

func serve(n int) { count(n, render(n)) }

func main() {
	runtime.SetMutexProfileFraction(1)
	runtime.MemProfileRate = 64 << 10
	for w := range 4 {
		go func() {
			for n := w; ; n++ {
				for range 5 {
					serve(n)
				}
				time.Sleep(2 * time.Millisecond)
			}
		}()
	}
	panic(http.ListenAndServe(os.Args[2], nil))
}
