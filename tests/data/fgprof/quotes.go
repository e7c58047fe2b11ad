package main

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/felixge/fgprof"
)

// held is 0, and 3 ms in new.
var held time.Duration

var (
	mu   sync.Mutex
	jobs = make(chan int)
	n    atomic.Int64
)

func worker() {
	for j := range jobs {
		work(j, 500)
	}
}

func work(j, k int) {
	s := sha256.Sum256([]byte{byte(j)})
	for i := 0; i < k; i++ {
		s = sha256.Sum256(s[:])
	}
}

func audit(r *http.Request) {
	mu.Lock()
	defer mu.Unlock()
	if held > 0 {
		time.Sleep(held)
	}
}

func quote(w http.ResponseWriter, r *http.Request) {
	audit(r)
	work(1, 300)
	jobs <- 1
	fmt.Fprint(w, "ok")
	n.Add(1)
}

func client(url string, end time.Time) {
	for time.Now().Before(end) {
		r, err := http.Get(url)
		if err != nil {
			panic(err)
		}
		r.Body.Close()
	}
}

func main() {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	http.HandleFunc("/", quote)
	go http.Serve(l, nil)
	for i := 0; i < 20; i++ {
		go worker()
	}
	f, _ := os.Create(os.Args[1])
	stop := fgprof.Start(f, fgprof.FormatPprof)
	var wg sync.WaitGroup
	end := time.Now().Add(6 * time.Second)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() { defer wg.Done(); client("http://"+l.Addr().String(), end) }()
	}
	wg.Wait()
	stop()
	f.Close()
	fmt.Println(n.Load())
}
