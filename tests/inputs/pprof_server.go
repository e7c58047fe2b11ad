// Pprof_server serves net/http/pprof on a free loopback port, which it prints, until
// its standard input closes. It keeps a little garbage, contention and CPU going.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	kept [][]byte
)

func work() {
	for {
		mu.Lock()
		kept = append(kept, make([]byte, 64<<10))
		if len(kept) > 64 {
			kept = nil
		}
		mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

func heapDump(w http.ResponseWriter, _ *http.Request) {
	f, err := os.CreateTemp("", "heapdump")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	debug.WriteHeapDump(f.Fd())
	f.Seek(0, io.SeekStart)
	io.Copy(w, f)
}

func main() {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	go work()
	go work()
	http.HandleFunc("/heapdump", heapDump)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(listener, nil)
	runtime.GC()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}
