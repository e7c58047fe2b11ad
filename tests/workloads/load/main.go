// Load is a server for load generators: it prints its address, and answers well
// (/fine), with errors now and then (/mixed), late (/slow) or after hashing a page
// -times times (/hash).
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"strings"
	"sync/atomic"
	"time"
)

func digest(page []byte, times int) [sha256.Size]byte {
	var sum [sha256.Size]byte
	for i := 0; i < times; i++ {
		sum = sha256.Sum256(append(page, sum[:]...))
	}
	return sum
}

func main() {
	times := flag.Int("times", 10, "how often /hash hashes its page")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	body := strings.Repeat("x", 512)
	http.HandleFunc("/fine", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, body)
	})
	var calls atomic.Int64
	http.HandleFunc("/mixed", func(w http.ResponseWriter, r *http.Request) {
		call := calls.Add(1)
		time.Sleep(time.Millisecond)
		switch {
		case call%5 == 0:
			http.Error(w, "no", http.StatusServiceUnavailable)
		case call%97 == 0:
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, "ok")
		}
	})
	http.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(1500 * time.Millisecond)
	})
	page := make([]byte, 4096)
	http.HandleFunc("/hash", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%x", digest(page[:len(page):len(page)], *times))
	})
	log.Fatal(http.Serve(listener, nil))
}
